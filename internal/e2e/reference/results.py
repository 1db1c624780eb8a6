"""Reads the files of statistics and compares them with naive.py."""

import glob
import os
import re
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq

import canonical
import naive

# The documented columns of each result table.
COLUMNS = {
    "device-day": "day date32[day], device_id string, images int64, content_hashes int64, first_capture timestamp[us], last_capture timestamp[us]",
    "region-day": "day date32[day], region string, images int64",
    "tags": "day date32[day], tag string, images int64, devices int64",
    "tag-pairs": "day date32[day], rank int32, tag_a string, tag_b string, images int64, pairs int64",
    "image-sizes": "day date32[day], dimension string, lo double, hi double, images int64",
    "image-size-quantiles": "day date32[day], dimension string, p double, value double, images int64",
    "uploads": "day date32[day], kind string, lo_ms int64, hi_ms int64, images int64",
    "upload-quantiles": "day date32[day], p double, delay_ms double, images int64",
}
NULL_DAY = "__HIVE_DEFAULT_PARTITION__"


def cells(column):
    """The values of a column: days and milliseconds as numbers."""
    a = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if pa.types.is_date32(a.type):
        return a.view(pa.int32()).to_pylist()
    if pa.types.is_timestamp(a.type):
        return [None if v is None else v // 1000 for v in a.view(pa.int64()).to_pylist()]
    return a.to_pylist()


def read(path):
    table = pq.ParquetFile(path).read()
    rows = list(map(list, zip(*map(cells, table.columns)))) if table.num_columns else []
    return ", ".join(f"{f.name} {f.type}" for f in table.schema), rows


def read_by_day(directory, name, problems):
    """The rows of a named statistic by day."""
    days = {}
    for path in sorted(glob.glob(os.path.join(glob.escape(directory), name, "**", "*"), recursive=True)):
        if os.path.isdir(path):
            continue
        found = re.fullmatch(r"dt=([^/]+)/part-[0-9A-Za-z-]+\.parquet", os.path.relpath(path, os.path.join(directory, name)))
        if not found:
            problems.append(f"{path} is no file of a day")
            continue
        schema, rows = read(path)
        if schema != COLUMNS[name]:
            problems.append(f"{path} has columns {schema}, want {COLUMNS[name]}")
        of = None if found[1] == NULL_DAY else (pa.scalar(found[1]).cast(pa.date32()).value)
        if of in days:
            problems.append(f"{path}: a second file of the day")
        if any(r[0] != of for r in rows) or not rows:
            problems.append(f"{path} has {len(rows)} rows, of days {set(r[0] for r in rows)}")
        days[of] = rows
    return days


def compare_rows(name, got, want, problems):
    """Compares rows by day, in order."""
    wanted = naive.groups(want, lambda r: r[0])
    for of in sorted(set(got) | set(wanted), key=naive.order):
        have, need = got.get(of, []), wanted.get(of, [])
        for h, n in zip(have, need):
            if len(h) != len(n) or not all(map(matches, h, n)):
                problems.append(f"{name} of day {of}: {h}, want {n}")
                break
        if len(have) != len(need):
            problems.append(f"{name} of day {of}: {len(have)} rows, want {len(need)}")


def compare_named(directory, metadata, device, tag):
    """Compares all named statistics with what the rows of the tables give."""
    problems = []
    for want in (naive.device_day(device), naive.region_day(metadata), naive.tags(tag), naive.tag_pairs(tag)):
        for name, rows in want.items():
            compare_rows(name, read_by_day(directory, name, problems), rows, problems)

    sizes, delays = naive.sizes(metadata), naive.delays(metadata)
    compare_parts("image-sizes", directory, {k: v for k, v in sizes.items()}, naive.check_histogram, 2, problems)
    measured = {k: v for k, v in sizes.items() if any(x is not None for x in v)}
    compare_parts("image-size-quantiles", directory, measured,
                  lambda got, values, what: naive.check_quantiles(got, values, "width" in what or "height" in what, what), 2, problems)

    by_day = read_by_day(directory, "uploads", problems)
    want_kinds = {(of, kind) for of, kind in delays}
    got_kinds = {(of, r[1]) for of, rows in by_day.items() for r in rows}
    if want_kinds != got_kinds:
        problems.append(f"uploads: days and kinds differ: {sorted(map(str, want_kinds ^ got_kinds))}")
    for of, rows in by_day.items():
        for kind in {r[1] for r in rows}:
            got = [r[2:] for r in rows if r[1] == kind]
            values = delays.get((of, kind), [])
            if kind == "delay":
                problems += naive.check_histogram(got, values, f"uploads of day {of}")
            elif len(got) != 1 or got[0][2] != len(values):
                problems.append(f"uploads of day {of}, {kind}: {got}, want {len(values)}")
    known = {}
    for (of, kind), values in delays.items():
        if kind != "missing":
            known.setdefault((of,), []).extend(values)
    compare_parts("upload-quantiles", directory, known, lambda got, values, what: naive.check_quantiles(got, values, False, what), 1, problems)

    # One ledger for each of the tables that the statistics read.
    ledgers = {f"ledger-{n}.jsonl" for n in (1, 2, 3)}
    if missing := ledgers - set(os.listdir(directory)):
        problems.append(f"missing: {missing}")
    left = set(os.listdir(directory)) - set(COLUMNS) - {"views.duckdb.sql", "run.json"} - ledgers
    if left:
        problems.append(f"not documented: {left}")
    return problems


def compare_parts(name, directory, wanted, check, keys, problems):
    """Compares rows whose first keys name a list of values, with a check of each list."""
    got = {}
    for rows in read_by_day(directory, name, problems).values():
        for r in rows:
            got.setdefault(tuple(r[:keys]), []).append(r[keys:])
    if set(got) != set(wanted):
        problems.append(f"{name}: groups differ: {sorted(map(str, set(got) ^ set(wanted)))}")
    for key in set(got) & set(wanted):
        problems += check(got[key], wanted[key], f"{name} of {key}")


def matches(got, want):
    """Whether a result is the wanted one. Exact numbers without a size (varint, decimal) are text in the files."""
    if isinstance(want, dict):
        return got is not None and want["from"] <= got <= want["to"]
    if isinstance(want, float) and isinstance(got, float):
        return canonical.float_bits(got, "double") == canonical.float_bits(want, "double")
    if isinstance(got, str) and isinstance(want, (int, Decimal)):
        return Decimal(got) == want
    return type(got) is type(want) and got == want


def compare_grouping(directory, name, rows, types, by, aggregates, ordered):
    """Compares a free grouping."""
    paths = glob.glob(os.path.join(glob.escape(directory), name, "*"))
    if len(paths) != 1 or not re.fullmatch(r"part-[0-9A-Za-z-]+\.parquet", os.path.basename(paths[0])):
        return [f"files of {name}: {paths}"]
    schema, got = read(paths[0])
    want = naive.grouping(rows, types, by, aggregates)
    problems = []
    if not ordered:  # in token order
        got = naive.in_order(got, len(by))
    for g, w in zip(got, want):
        if len(g) != len(w) or not all(map(matches, g, w)):
            problems.append(f"{name}: {g}, want {w} ({schema})")
    if len(got) != len(want):
        problems.append(f"{name}: {len(got)} groups, want {len(want)}")
    return problems


def compare_views(directory):
    """Runs views.duckdb.sql as its comment says, and compares the views with the files."""
    import duckdb

    problems = []
    here = os.getcwd()
    os.chdir(directory)
    try:
        connection = duckdb.connect()
        with open("views.duckdb.sql", encoding="utf-8") as file:
            connection.execute(file.read())
        views = {name for (name,) in connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()}
        for name in os.listdir("."):
            if not os.path.isdir(name):
                continue
            view = name.replace("-", "_")
            if view not in views:
                problems.append(f"no view of {name} among {views}")
                continue
            files = glob.glob(os.path.join(name, "**", "*.parquet"), recursive=True)
            want = sum(pq.read_metadata(path).num_rows for path in files)
            ((got,),) = connection.execute(f'SELECT count(*) FROM "{view}"').fetchall()
            if got != want:
                problems.append(f"view {view} has {got} rows, its files {want}")
    finally:
        os.chdir(here)
    return problems
