"""What peerbench has Spark do: spark_job.py JOB HOST PORT JARS OUT

JOB is manifest (one tag from a day on, four columns), table (all of image_metadata) or sizes (images of each width and height). It prints
"job SECONDS": the time without that of starting Spark.
"""

import sys
import time

from pyspark import SparkContext
from pyspark.sql import SparkSession

job, host, port, jars, out = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[*]")
    .config("spark.jars", jars)
    .config("spark.driver.memory", "3g")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.cassandra.connection.host", host)
    .config("spark.cassandra.connection.port", port)
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")


def rows(table):
    return spark.read.format("org.apache.spark.sql.cassandra").options(keyspace="image_keyspace", table=table).load()


started = time.monotonic()
if job == "manifest":
    result = (
        rows("tag_image_index")
        .where("tag = 'leaf_spot' AND day_bucket >= '2025-06-01'")
        .select("image_id", "object_key", "device_id", "capture_time")
        .limit(500000)
    )
elif job == "table":
    result = rows("image_metadata")
else:
    result = rows("image_metadata").groupBy("width", "height").count()
result.write.parquet(out)
print("job", time.monotonic() - started)

# The JVM is a child. It is ended and waited for, so that what it cost is part of what this process cost.
spark.stop()
gateway = SparkContext._gateway
gateway.shutdown()
gateway.proc.stdin.close()
gateway.proc.wait()
