"""Opens a dataset by its card and by its Croissant metadata, and compares with
what pyarrow reads of the files that manifest.json names.

    python3 check.py DIR FORMAT [DIR FORMAT ...]
"""
import collections
import json
import logging
import os
import re
import sys

import datasets
import mlcroissant
import pyarrow.csv
import pyarrow.ipc
import pyarrow.json
import pyarrow.parquet

failures = []


def check(what, got, want):
    if got != want:
        failures.append(f"{directory}, {format}: {what}\n  got  {got!r}\n  want {want!r}")


def read(directory, format, path):
    path = os.path.join(directory, path)
    if format == "parquet":
        return pyarrow.parquet.read_table(path)
    if format == "arrow":
        return pyarrow.ipc.open_file(path).read_all()
    if format == "csv":
        return pyarrow.csv.read_csv(path)
    return pyarrow.Table.from_pylist([json.loads(line) for line in open(path, encoding="utf-8")])


said = []


class Said(logging.Handler):
    def emit(self, record):
        said.append(record.getMessage())


logging.getLogger().addHandler(Said())
logging.getLogger("absl").addHandler(Said())
datasets.disable_progress_bars()
logging.getLogger("datasets").setLevel(logging.ERROR)
for directory, format in zip(sys.argv[1::2], sys.argv[2::2]):
    manifest = json.load(open(os.path.join(directory, "manifest.json"), encoding="utf-8"))
    tables = collections.defaultdict(list)
    for f in manifest["files"]:
        split = re.match(r"data/(.+)-\d{5}-of-\d{5}\.", f["path"])[1]
        tables["train" if split == "part" else split].append(read(directory, format, f["path"]))
    tables = {name: pyarrow.concat_tables(t, promote_options="permissive") for name, t in tables.items()}
    counts = {name: t.num_rows for name, t in tables.items()}

    # --- Hugging Face datasets, by the card ---------------------------------------

    code = re.search(r"```python\n(.*?)```", open(os.path.join(directory, "README.md"), encoding="utf-8").read(), re.S)[1]
    scope = {}
    os.chdir(os.path.dirname(directory))
    exec(code, scope)  # what the card says; verifies its counts
    loaded = scope["dataset"]
    check("splits and rows", {name: d.num_rows for name, d in loaded.items()}, counts)
    builder = datasets.load_dataset_builder(directory)
    check("counts of the card", {name: s.num_examples for name, s in builder.info.splits.items()}, counts)
    for name, table in tables.items():
        check(f"columns of {name}", loaded[name].column_names, table.column_names)
        if format in ("parquet", "arrow"):
            got = loaded[name].data.table
            for column in table.column_names:
                check(f"{name}: {column}", got[column].to_pylist(), table[column].to_pylist())
    if format == "parquet":  # as a stream too
        for name, table in tables.items():
            rows = list(datasets.load_dataset(directory, split=name, streaming=True))
            check(f"stream of {name}", [r["image_id"] for r in rows], table["image_id"].to_pylist())

    # A card that says another count is refused, so that the counts are known to be looked at.
    card = os.path.join(directory, "README.md")
    text = open(card, encoding="utf-8").read()
    first = next(iter(counts.values()))
    open(card, "w", encoding="utf-8").write(text.replace(f"num_examples: {first}\n", f"num_examples: {first + 1}\n"))
    try:
        exec(code, {})
        failures.append("a card with a wrong count is taken")
    except datasets.exceptions.NonMatchingSplitsSizesError:
        pass
    open(card, "w", encoding="utf-8").write(text)

    # --- Croissant -------------------------------------------------------------------

    said.clear()
    croissant = mlcroissant.Dataset(jsonld=os.path.join(directory, "croissant.json"))
    issues = croissant.metadata.ctx.issues
    check("errors of Croissant", list(issues.errors), [])
    unexpected = [w for w in issues.warnings if "recommended" not in w]
    check("warnings of Croissant", unexpected, [])
    check("what mlcroissant says of the context", [s for s in said if "@context" in s], [])
    check("version of Croissant", [str(v) for v in croissant.metadata.conforms_to], ["http://mlcommons.org/croissant/1.1"])
    check("splits of Croissant", {r["splits/name"].decode() if isinstance(r["splits/name"], bytes) else r["splits/name"]: r["splits/rows"]
                                  for r in croissant.records("splits")}, counts)
    objects = {d.id: d.sha256 for d in croissant.metadata.distribution if d.id != "files"}
    check("checksums of Croissant", objects, {f["path"]: f["sha256"] for f in manifest["files"]})

    if format == "parquet":
        wanted = collections.Counter()
        for name, table in tables.items():
            for row in table.to_pylist():
                wanted[(name if len(tables) > 1 else None, row["image_id"], row["c01 text"], row["c07 int"])] += 1
        got = collections.Counter()
        for row in croissant.records("rows"):
            plain = lambda v: None if v is None or v != v else v.decode() if isinstance(v, bytes) else v
            integer = plain(row["rows/c07%20int"])
            got[(plain(row.get("rows/split")), plain(row["rows/image_id"]), plain(row["rows/c01%20text"]), None if integer is None else int(integer))] += 1
        check("rows by Croissant", got, wanted)

if failures:
    sys.exit("\n".join(failures))
