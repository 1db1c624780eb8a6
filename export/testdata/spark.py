"""Reads datasets with Spark, says what it sees, and writes them again.

    python3 spark.py DIR ...

Of DIR/data it makes DIR/spark, Parquet of one file in the order of the column
row, and DIR/spark.json: types, rows, NULLs by column, and what a filter finds.
"""
import json
import os
import sys

from pyspark.sql import SparkSession, functions

# Spark refuses dates before 1582-10-15 and timestamps before 1900 of files of other
# writers, unless it is told that they are in the calendar of today.
spark = (SparkSession.builder.master("local[2]").appName("interop")
         .config("spark.ui.enabled", "false").config("spark.sql.session.timeZone", "UTC").config("spark.sql.shuffle.partitions", "1")
         .config("spark.driver.host", "127.0.0.1").config("spark.driver.memory", "1g")
         .config("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS").config("spark.sql.parquet.datetimeRebaseModeInWrite", "CORRECTED")
         .config("spark.sql.parquet.datetimeRebaseModeInRead", "CORRECTED")
         .getOrCreate())
spark.sparkContext.setLogLevel("ERROR")


def column(name):
    return functions.col("`" + name + "`")


for directory in sys.argv[1:]:
    frame = spark.read.parquet(os.path.join(directory, "data"))
    nulls = frame.select([functions.sum(column(n).isNull().cast("int")).alias(str(i)) for i, n in enumerate(frame.columns)]).first()
    said = {
        "types": dict(frame.dtypes),
        "rows": frame.count(),
        "nulls": {n: nulls[i] for i, n in enumerate(frame.columns)},
        "found": frame.where(column("c_bigint") == 2**63 - 1).count(),
    }
    with open(os.path.join(directory, "spark.json"), "w", encoding="utf-8") as f:
        json.dump(said, f)
    frame.orderBy("row").coalesce(1).write.parquet(os.path.join(directory, "spark"))
spark.stop()
