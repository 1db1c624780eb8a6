"""Checks that the list of tags in training manifests has no nulls by its type, and
that readers which mind that read what is there.

    python3 tags.py PARQUET ARROW JSONL

are directories of the same manifest in three formats.
"""
import glob
import json
import os
import sys

import duckdb
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.ipc
import pyarrow.parquet

parquet, arrow, jsonl = ([p for p in sorted(glob.glob(os.path.join(d, "data", "*")))] for d in sys.argv[1:])
want = {}
for path in jsonl:
    with open(path, encoding="utf-8") as f:
        for line in f:
            row = json.loads(line)
            want[row["image_id"]] = row["tags"]
if not any(want.values()):
    sys.exit("no tags")
failures = []


def check(what, got, want):
    if got != want:
        failures.append(f"{what}\n  got  {str(got)[:500]}\n  want {str(want)[:500]}")


tags = pyarrow.field("tags", pyarrow.list_(pyarrow.field("element", pyarrow.string(), nullable=False)), nullable=False)
tables = {"Parquet": [pyarrow.parquet.read_table(p) for p in parquet], "Arrow": [pyarrow.ipc.open_file(p).read_all() for p in arrow]}
for name, of_format in tables.items():
    for table in of_format:
        check(f"tags of {name}", table.schema.field("tags").remove_metadata(), tags)
        table.validate(full=True)
    rows = pyarrow.concat_tables(of_format).select(["image_id", "tags"]).to_pylist()
    check(f"{name} by pyarrow", {r["image_id"]: r["tags"] for r in rows}, want)
column = pyarrow.parquet.ParquetFile(parquet[0]).schema
leaf = next(column.column(i) for i in range(len(column)) if column.column(i).path == "tags.list.element")
check("levels of Parquet", (leaf.max_definition_level, leaf.max_repetition_level), (1, 1))
check("a dataset", {r["image_id"]: r["tags"] for r in pyarrow.dataset.dataset(parquet).to_table(columns=["image_id", "tags"]).to_pylist()}, want)
check("DuckDB", dict(duckdb.sql("SELECT image_id, tags FROM read_parquet($files)", params={"files": parquet}).fetchall()), want)
check("DuckDB's count", duckdb.sql("SELECT count(*) FROM (SELECT unnest(tags) FROM read_parquet($files))", params={"files": parquet}).fetchall()[0][0], sum(map(len, want.values())))
check("Polars", dict(polars.read_parquet(parquet).select("image_id", "tags").rows()), want)
check("Polars of Arrow", dict(polars.concat([polars.read_ipc(p) for p in arrow]).select("image_id", "tags").rows()), want)
if failures:
    sys.exit("\n".join(failures))
