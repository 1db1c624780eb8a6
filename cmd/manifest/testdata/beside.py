"""Checks what stands beside the data of a dataset against the data, as other
programs read both.

    python3 beside.py DIR
"""
import collections
import glob
import json
import os
import re
import sys
import tempfile

import datasets
import mlcroissant
import numpy
import pyarrow.parquet
import webdataset

directory = sys.argv[1]
failures = []


def check(what, got, want):
    if got != want:
        if isinstance(got, list) and len(got) == len(want):
            got, want = next((g, w) for g, w in zip(got, want) if g != w)
        failures.append(f"{what}\n  got  {str(got)[:500]}\n  want {str(want)[:500]}")


splits = collections.defaultdict(list)
for path in sorted(glob.glob(os.path.join(directory, "data", "*.parquet"))):
    splits[re.match(r"(.+)-\d{5}-of-", os.path.basename(path))[1]].extend(pyarrow.parquet.read_table(path).to_pylist())
rows = [row for split in splits.values() for row in split]
if not rows:
    sys.exit("no rows")

# ids, as DataComp reads them
ids = sorted(row["image_id"].replace("-", "") for row in rows)
uids = numpy.load(os.path.join(directory, "index", "uids.npy"))
check("type of uids", uids.dtype, numpy.dtype("u8,u8"))
check("uids", uids.tolist(), [(int(i[:16], 16), int(i[16:], 16)) for i in ids])
wanted = numpy.array([(int(ids[0][:16], 16), int(ids[0][16:], 16))], numpy.dtype("u8,u8"))
check("search for the first uid", int(numpy.searchsorted(uids, wanted[0])), 0)

# COCO
seen = set()
for split, of_split in splits.items():
    with open(os.path.join(directory, "coco", split + ".json"), encoding="utf-8") as f:
        coco = json.load(f)
    check(f"keys of COCO, {split}", sorted(coco), ["annotations", "categories", "images", "info", "licenses"])
    named = [row for row in of_split if row["object_key"] is not None]
    got = [(i["file_name"], i.get("width"), i.get("height"), i.get("coco_url"), i["image_id"], i.get("date_captured")) for i in coco["images"]]
    stamp = lambda t: None if t is None else t.strftime("%Y-%m-%dT%H:%M:%S.") + f"{t.microsecond // 1000:03}Z"
    check(f"COCO, {split}", got, [(r["object_key"], r["width"], r["height"], r["uri"], r["image_id"], stamp(r["capture_time"])) for r in named])
    check(f"ids of COCO, {split}, are new", seen & {i["id"] for i in coco["images"]}, set())
    seen |= {i["id"] for i in coco["images"]}

# WebDataset: samples of two files each come back under the keys that they were written with.
keys = [row["__key__"] for row in rows[:200] if row["__key__"] is not None]
check("keys differ", len(set(keys)), len(keys))
with tempfile.TemporaryDirectory() as work:
    tar = os.path.join(work, "shard.tar")
    with webdataset.TarWriter(tar) as sink:
        for key in keys:
            sink.write({"__key__": key, "jpg": b"picture", "cls": b"1"})
    got = [(s["__key__"], s["jpg"], s["cls"]) for s in webdataset.WebDataset(tar, shardshuffle=False)]
    check("number of samples of WebDataset", (len(got), [k for k in keys if k not in {g[0] for g in got}][:3]), (len(keys), []))
    check("samples of WebDataset", got, [(key, b"picture", b"1") for key in keys])

# derived columns
for row in rows:
    if row["object_key"] is not None and row["object_store"] is not None:
        store = row["object_store"] if "://" in row["object_store"] else "s3://" + row["object_store"]
        check("uri", row["uri"], f"{store}/{row['object_key']}")
    if "attributes" in row:
        attributes = {e["key"]: e["value"] for e in row["attributes"] or []}
        check("value of a map", row["weather"], attributes.get("weather"))

# card and Croissant
datasets.disable_progress_bars()
names = {"train" if n == "part" else n: len(r) for n, r in splits.items()}
check("load_dataset", {n: d.num_rows for n, d in datasets.load_dataset(directory).items()}, names)
croissant = mlcroissant.Dataset(jsonld=os.path.join(directory, "croissant.json"))
check("errors of Croissant", list(croissant.metadata.ctx.issues.errors), [])

if failures:
    sys.exit("\n".join(failures[:20]))
