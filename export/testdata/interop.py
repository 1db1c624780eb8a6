"""Reads what the tests of package export wrote with other readers, and compares.

    python3 interop.py DIR

DIR/case.json says what is there. Values are those that a scan gave, so that what
a file should hold is worked out here once more, from docs/format/dataset.md.
"""
import json
import os
import struct
import sys
import uuid

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet

failures = []


def check(what, got, want):
    if got != want:
        failures.append(f"{what}\n  got  {got!r}\n  want {want!r}")


# --- what a file should hold ------------------------------------------------

def expected(t, v, shape):
    """The value v of CQL type t, as read from a file of that shape."""
    kind = t["kind"]
    if v is None:
        return None
    if kind in ("uuid", "timeuuid"):
        return v if shape["uuid"] == "binary" else str(uuid.UUID(hex=v))
    if kind == "timestamp":
        return v * 1000
    if kind == "time":
        if shape["time"] == "nanos":
            return v
        if shape["time"] == "micros":
            return v
        s, ns = divmod(v, 10**9)
        return f"{s // 3600:02}:{s // 60 % 60:02}:{s % 60:02}.{ns:09}"
    if kind in ("list", "set", "vector"):
        return [expected(t["elems"][0], e, shape) for e in v]
    if kind == "map":
        return [[expected(t["elems"][0], k, shape), expected(t["elems"][1], e, shape)] for k, e in v]
    if kind in ("tuple", "udt"):
        return [expected(e, f, shape) for e, f in zip(t["elems"], v)]
    return v


# --- what was read ----------------------------------------------------------

def values(arr):
    """The values of an Arrow array: numbers of days, microseconds or nanoseconds,
    floats as their bits, bytes in hex, lists for lists, structs and maps."""
    if isinstance(arr, pyarrow.ChunkedArray):
        return [v for chunk in arr.chunks for v in values(chunk)]
    t = arr.type
    null = arr.is_null().to_pylist()
    if isinstance(t, pyarrow.BaseExtensionType):
        return values(arr.storage)
    if pyarrow.types.is_dictionary(t):
        return values(arr.dictionary_decode())
    if pyarrow.types.is_map(t):
        pairs = [[k, v] for k, v in zip(values(arr.keys), values(arr.items))]
        o = arr.offsets.to_pylist()
        base = o[0] if o else 0
        return [None if n else pairs[o[i] - base:o[i + 1] - base] for i, n in enumerate(null)]
    if pyarrow.types.is_fixed_size_list(t):
        flat = [None if n else values(arr.slice(i, 1).flatten()) for i, n in enumerate(null)]
        return flat
    if pyarrow.types.is_list(t) or pyarrow.types.is_large_list(t):
        o = arr.offsets.to_pylist()
        flat = values(arr.values)
        return [None if n else flat[o[i]:o[i + 1]] for i, n in enumerate(null)]
    if pyarrow.types.is_struct(t):
        fields = [values(f) for f in arr.flatten()] if len(arr) else []
        return [None if n else [f[i] for f in fields] for i, n in enumerate(null)]
    if pyarrow.types.is_timestamp(t):
        unit = {"s": 10**6, "ms": 1000, "us": 1}[t.unit]
        return [None if v is None else v * unit for v in arr.cast(pyarrow.int64()).to_pylist()]
    if pyarrow.types.is_date32(t):
        return arr.cast(pyarrow.int32()).to_pylist()
    if pyarrow.types.is_time64(t):
        unit = {"us": 1000, "ns": 1}[t.unit]
        return [None if v is None else v * unit for v in arr.cast(pyarrow.int64()).to_pylist()]
    if pyarrow.types.is_float32(t):
        return [None if v is None else bits("<f", "<I", v) for v in arr.to_pylist()]
    if pyarrow.types.is_float64(t):
        return [None if v is None else bits("<d", "<Q", v) for v in arr.to_pylist()]
    if (pyarrow.types.is_binary(t) or pyarrow.types.is_large_binary(t) or pyarrow.types.is_fixed_size_binary(t)
            or pyarrow.types.is_binary_view(t)):
        return [None if v is None else v.hex() for v in arr.to_pylist()]
    return arr.to_pylist()


def bits(f, i, v):
    return "nan" if v != v else struct.unpack(i, struct.pack(f, v))[0]


def to_arrow(relation):
    t = relation.to_arrow_table() if hasattr(relation, "to_arrow_table") else relation.arrow()
    return t.read_all() if hasattr(t, "read_all") else t


def check_table(what, table, case, shape):
    check(f"{what}: columns", table.column_names, [c["name"] for c in case["columns"]])
    for i, c in enumerate(case["columns"]):
        want = [expected(c["type"], row[i], shape) for row in case["rows"]]
        check(f"{what}: column {c['name']}", values(table.column(i)), want)


def types(pairs):
    return dict(pairs)


# --- cases ------------------------------------------------------------------

def every_type(dir, case):
    for variant in case["variants"]:
        shape = variant["shape"]
        files = [os.path.join(dir, variant["dir"], f) for f in variant["files"]]
        glob = os.path.join(dir, variant["dir"], "data", "*")
        name = variant["dir"]
        if variant["format"] == "parquet":
            table = pyarrow.parquet.read_table(os.path.join(dir, variant["dir"], "data"))
            check_table(f"{name}: pyarrow", table, case, shape)
            rel = duckdb.sql(f"SELECT * FROM read_parquet('{glob}')")
            # DuckDB reads 16 bytes marked as UUID into its own type, and hands that on as text.
            check_table(f"{name}: duckdb", to_arrow(rel), case, shape | {"uuid": "string"})
            frame = polars.read_parquet(glob)
            check_table(f"{name}: polars", frame.to_arrow(), case, shape)
            if "pyarrow_types" in variant:
                check(f"{name}: types in pyarrow", types((f.name, str(f.type)) for f in table.schema), variant["pyarrow_types"])
                check(f"{name}: types in duckdb", types((r[0], r[1].replace('"', "")) for r in duckdb.sql(f"DESCRIBE SELECT * FROM read_parquet('{glob}')").fetchall()), variant["duckdb_types"])
                check(f"{name}: types in polars", types((k, str(v)) for k, v in frame.schema.items()), variant["polars_types"])
                check(f"{name}: not null", [f.name for f in table.schema if not f.nullable], ["row"])
            if shape["uuid"] != "binary":
                frame = pandas.concat([pandas.read_parquet(f, dtype_backend="pyarrow") for f in files], ignore_index=True)
                check_table(f"{name}: pandas", pyarrow.Table.from_pandas(frame, preserve_index=False), case, shape)
                frame = pandas.read_parquet(os.path.join(dir, variant["dir"], "data"))
                check(f"{name}: pandas rows", len(frame), len(case["rows"]))
                check(f"{name}: pandas text", [None if v != v else v for v in frame["c_text"].tolist()],
                      [r[[c["name"] for c in case["columns"]].index("c_text")] for r in case["rows"]])
        elif variant["format"] == "arrow":
            tables = [pyarrow.ipc.open_file(f).read_all() for f in files]
            check_table(f"{name}: pyarrow", pyarrow.concat_tables(tables), case, shape)
            check_table(f"{name}: feather", pyarrow.concat_tables([pyarrow.feather.read_table(f) for f in files]), case, shape)
            if shape["uuid"] != "binary":
                check_table(f"{name}: polars", polars.concat([polars.read_ipc(f) for f in files]).to_arrow(), case, shape)
        elif variant["format"] == "csv":
            rel = duckdb.sql(f"SELECT * FROM read_csv('{glob}', header=true, all_varchar=true, nullstr='', allow_quoted_nulls=false, quote='\"', escape='\"', new_line='\\n')")
            rows = rel.fetchall()
            check(f"{name}: columns", rel.columns, [c["name"] for c in case["columns"]])
            check(f"{name}: duckdb", [list(r) for r in rows], case["csv"])
            frame = pandas.concat([pandas.read_csv(f, dtype=str, keep_default_na=False, lineterminator="\n") for f in files])
            check(f"{name}: pandas", frame.values.tolist(), [["" if v is None else v for v in r] for r in case["csv"]])
        elif variant["format"] == "jsonl":
            got = [json.loads(line) for f in files for line in open(f, encoding="utf-8", newline="\n")]
            check(f"{name}: python", got, [json.loads(line) for line in case["jsonl"]])
            names = [c["name"] for c in case["columns"]]
            for row in got:
                check(f"{name}: names", list(row), names)
            frame = polars.concat([polars.read_ndjson(f) for f in files], how="diagonal_relaxed")
            check(f"{name}: polars rows", frame.height, len(case["rows"]))
            check(f"{name}: polars text", frame["c_text"].to_list(), [r["c_text"] for r in got])
            rel = duckdb.sql(f"SELECT count(*), count(c_text), max(c_bigint), min(c_bigint) FROM read_json('{glob}', format='newline_delimited')")
            check(f"{name}: duckdb", rel.fetchall()[0], (len(case["rows"]), len(case["rows"]) - 1, 2**63 - 1, -(2**63)))


def spark(dir, case):
    """What Spark read and wrote again, with types of its own."""
    for variant in case["variants"]:
        name = variant["dir"]
        check_table(f"{name}: spark", pyarrow.parquet.read_table(os.path.join(dir, name, "spark")), case, variant["shape"])
        with open(os.path.join(dir, name, "spark.json"), encoding="utf-8") as f:
            said = json.load(f)
        if "spark_types" in variant:
            check(f"{name}: types in spark", said["types"], variant["spark_types"])
        nulls = {c["name"]: sum(row[i] is None for row in case["rows"]) for i, c in enumerate(case["columns"])}
        check(f"{name}: NULLs in spark", said["nulls"], nulls)
        check(f"{name}: rows in spark", said["rows"], len(case["rows"]))
        check(f"{name}: rows of a filter in spark", said["found"], 1)


def extremes(dir, case):
    """The ends of what types hold, where readers still give the number."""
    file = os.path.join(dir, case["file"])
    want = {"d": [-2**31, 2**31 - 1], "t": [-9223372036854775000, 9223372036854775000]}
    for what, table in (("pyarrow", pyarrow.parquet.read_table(file)), ("polars", polars.read_parquet(file).to_arrow())):
        check(f"extremes in {what}", {c: values(table[c]) for c in ("d", "t")}, want)


def large(dir, case):
    """Many pages and row groups, dictionaries left midway, deep nesting: the same
    rows as in Arrow files, whole and when readers skip by statistics."""
    arrow = pyarrow.concat_tables([pyarrow.ipc.open_file(os.path.join(dir, f)).read_all() for f in case["arrow"]])
    glob = os.path.join(dir, case["glob"])
    parquet = pyarrow.parquet.read_table(os.path.join(dir, os.path.dirname(case["glob"])))
    check("large: rows", parquet.num_rows, case["rows"])
    for name in arrow.column_names:
        check(f"large: pyarrow {name}", parquet[name].combine_chunks().equals(arrow[name].combine_chunks().cast(parquet[name].type)), True)
    frame = polars.read_parquet(glob)
    check("large: polars", frame.equals(polars.from_arrow(arrow), null_equal=True), True)
    duckdb.register("truth", arrow)
    for name in arrow.column_names:
        n = duckdb.sql(f"""SELECT count(*) FROM (SELECT n, "{name}" v FROM read_parquet('{glob}')) a
            JOIN (SELECT n, "{name}" v FROM truth) b USING (n) WHERE a.v IS NOT DISTINCT FROM b.v""").fetchall()[0][0]
        check(f"large: duckdb {name}", n, case["rows"])
    for n in (0, 1, 777, case["rows"] // 2, case["rows"] - 1):
        text = arrow["text"][n].as_py()
        for column, value in (("n", n), ("text", text)):
            if value is None:
                continue
            literal = value if column == "n" else "'" + value.replace("'", "''") + "'"
            want = duckdb.sql(f"SELECT count(*) FROM truth WHERE {column} = {literal}").fetchall()[0][0]
            check(f"large: duckdb where {column} = {literal}", duckdb.sql(f"SELECT count(*) FROM read_parquet('{glob}') WHERE {column} = {literal}").fetchall()[0][0], want)
            check(f"large: polars where {column} = {literal}", polars.scan_parquet(glob).filter(polars.col(column) == value).collect().height, want)
            check(f"large: pyarrow where {column} = {literal}", pyarrow.parquet.read_table(os.path.dirname(glob), filters=[(column, "=", value)]).num_rows, want)
    for f in sorted(os.listdir(os.path.dirname(glob))):
        meta = pyarrow.parquet.ParquetFile(os.path.join(os.path.dirname(glob), f)).metadata
        check(f"large: row groups of {f}", all(meta.row_group(g).num_rows <= case["row_group_rows"] for g in range(meta.num_row_groups)), True)
        for c in range(meta.num_columns):
            chunk = meta.row_group(0).column(c)
            check(f"large: compression of {chunk.path_in_schema}", chunk.compression, "ZSTD")
            check(f"large: offset index of {chunk.path_in_schema}", chunk.has_offset_index, True)


def stats(dir, case):
    os.chdir(os.path.join(dir, case["dir"]))
    con = duckdb.connect()
    con.execute(open("views.duckdb.sql").read())
    got = con.sql("SELECT dt, day, device_id, first, images FROM device_day ORDER BY images")
    check("stats: types", [str(t) for t in got.types], ["DATE", "DATE", "VARCHAR", "TIMESTAMP", "BIGINT"])
    check("stats: rows", [[None if v is None else str(v) for v in r] for r in got.fetchall()], case["want"])
    check("stats: not by day", con.sql("SELECT sum(images) FROM image_sizes").fetchall()[0][0], 5)
    table = pyarrow.parquet.read_table("device-day/dt=2025-06-01", partitioning=None)
    check("stats: pyarrow types", {f.name: str(f.type) for f in table.schema},
          {"day": "date32[day]", "device_id": "string", "first": "timestamp[us]", "images": "int64"})


def empty(dir, case):
    for f in case["files"]:
        name = os.path.join(dir, f)
        if f.endswith(".parquet"):
            check("empty: pyarrow", pyarrow.parquet.read_table(name).shape, (0, case["columns"]))
            check("empty: duckdb", duckdb.sql(f"SELECT count(*) FROM read_parquet('{name}')").fetchall()[0][0], 0)
            check("empty: polars", polars.read_parquet(name).shape, (0, case["columns"]))
        elif f.endswith(".arrow"):
            check("empty: ipc", pyarrow.ipc.open_file(name).read_all().shape, (0, case["columns"]))
        elif f.endswith(".csv"):
            check("empty: csv", pandas.read_csv(name).shape, (0, case["columns"]))


def main():
    dir = sys.argv[1]
    with open(os.path.join(dir, "case.json"), encoding="utf-8") as f:
        case = json.load(f)
    {"every_type": every_type, "spark": spark, "extremes": extremes, "large": large, "stats": stats, "empty": empty}[case["case"]](dir, case)
    if failures:
        print(f"{len(failures)} differences")
        for f in failures[:20]:
            print(f[:2000])
        sys.exit(1)


main()
