"""What peerbench has CQLite do: cqlite_export.py DIR SCHEMA OUT exports all of image_metadata into the folder OUT."""

import os
import sys

import cqlite

folder, schema, out = sys.argv[1:]
os.mkdir(out)
with cqlite.open(folder, schema=schema) as database:
    database.export_parquet("SELECT * FROM ks.image_metadata", os.path.join(out, "images.parquet"), compression="zstd")
