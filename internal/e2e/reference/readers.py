"""Opens exported files with the readers that people use, and compares types and values with the driver's rows."""

import pyarrow as pa
import pyarrow.parquet as pq

import arrowfiles
import canonical
import datasets
import textfiles

# ---- the stated types ----------------------------------------------------------------------------------------------------------------

DUCKDB = {
    "ascii": "VARCHAR", "text": "VARCHAR", "varint": "VARCHAR", "decimal": "VARCHAR", "uuid": "VARCHAR", "timeuuid": "VARCHAR",
    "inet": "VARCHAR", "blob": "BLOB", "boolean": "BOOLEAN", "tinyint": "TINYINT", "smallint": "SMALLINT", "int": "INTEGER",
    "bigint": "BIGINT", "counter": "BIGINT", "float": "FLOAT", "double": "DOUBLE", "timestamp": "TIMESTAMP WITH TIME ZONE", "date": "DATE",
    "time": "VARCHAR", "duration": 'STRUCT("months" INTEGER, "days" INTEGER, "nanoseconds" BIGINT)',
}
POLARS = {
    "ascii": "String", "text": "String", "varint": "String", "decimal": "String", "uuid": "String", "timeuuid": "String", "inet": "String",
    "blob": "Binary", "boolean": "Boolean", "tinyint": "Int8", "smallint": "Int16", "int": "Int32", "bigint": "Int64", "counter": "Int64",
    "float": "Float32", "double": "Float64", "timestamp": "Datetime(time_unit='us', time_zone='UTC')", "date": "Date", "time": "String",
    "duration": "Struct({'months': Int32, 'days': Int32, 'nanoseconds': Int64})",
}
# What pandas makes of a column without NULL, by default; with NULL, numbers become float64 and booleans object.
PANDAS = {
    "ascii": "str", "text": "str", "varint": "str", "decimal": "str", "uuid": "str", "timeuuid": "str", "inet": "str", "boolean": "bool",
    "tinyint": "int8", "smallint": "int16", "int": "int32", "bigint": "int64", "counter": "int64", "float": "float32", "double": "float64",
    "timestamp": "datetime64[us, UTC]", "time": "str",
}


def fields_of(t):
    return list(zip(t.fields or map(str, range(len(t.elements))), t.elements))


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def duckdb_type(t):
    if t.kind in DUCKDB:
        return DUCKDB[t.kind]
    if t.kind in ("list", "set", "vector"):
        return duckdb_type(t.elements[0]) + "[]"
    if t.kind == "map":
        return f'STRUCT("key" {duckdb_type(t.elements[0])}, "value" {duckdb_type(t.elements[1])})[]'
    return "STRUCT(" + ", ".join(f"{quoted(n)} {duckdb_type(e)}" for n, e in fields_of(t)) + ")"


def polars_type(t):
    if t.kind in POLARS:
        return POLARS[t.kind]
    if t.kind in ("list", "set", "vector"):
        return f"List({polars_type(t.elements[0])})"
    if t.kind == "map":
        return f"List(Struct({{'key': {polars_type(t.elements[0])}, 'value': {polars_type(t.elements[1])}}}))"
    return "Struct({" + ", ".join(f"{n!r}: {polars_type(e)}" for n, e in fields_of(t)) + "})"


# ---- readers -------------------------------------------------------------------------------------------------------------------------


def read_duckdb(paths, names, types, problems):
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    relation = connection.read_parquet(paths)
    # DuckDB knows no two names that differ in case alone, and numbers them.
    seen = set()
    for name, got in zip(names, relation.columns):
        if got != name and not (name.lower() in seen and got.startswith(name + "_")):
            problems.append(f"DuckDB: column {got}, want {name}")
        seen.add(name.lower())
    for name, t, got in zip(names, types, relation.types):
        want = connection.execute(f"SELECT typeof(NULL::{duckdb_type(t)})").fetchall()[0][0]
        if str(got) != want:
            problems.append(f"DuckDB: column {name} of CQL type {t} is {got}, want {want}")
    return relation.to_arrow_table()


def read_polars(paths, names, types, problems):
    import polars

    frame = polars.concat([polars.read_parquet(path) for path in paths])
    for name, t in zip(names, types):
        if str(frame.schema[name]) != polars_type(t):
            problems.append(f"Polars: column {name} of CQL type {t} is {frame.schema[name]}, want {polars_type(t)}")
    return frame.to_arrow()


def read_pandas(paths, names, types, problems):
    import pandas

    frame = pandas.concat([pandas.read_parquet(path, dtype_backend="pyarrow") for path in paths])
    if list(frame.columns) != names:
        problems.append(f"pandas: columns {list(frame.columns)}, want {names}")
    return pa.table({name: pa.array(frame[name].array) for name in frame.columns})


def check_pandas_default(paths, names, types, rows, problems):
    """What pandas shows who asks for nothing: its own types, each NULL as missing, and no other."""
    import pandas

    frame = pandas.concat([pandas.read_parquet(path) for path in paths], ignore_index=True)
    for i, (name, t) in enumerate(zip(names, types)):
        nulls = [r[i] is None for r in rows]
        got, want = str(frame[name].dtype), PANDAS.get(t.kind, "object")
        if any(nulls):
            whole = t.kind in canonical.WHOLE
            want = {True: "float64", False: {"boolean": "object"}.get(t.kind, want)}[whole]
        if rows and got != want:
            problems.append(f"pandas: column {name} of CQL type {t} is {got}, want {want}")
        nan = [r[i] == "nan" for r in rows]  # for pandas missing too
        if [a or b for a, b in zip(nulls, nan)] != frame[name].isna().tolist():
            problems.append(f"pandas: column {name} has other missing values than the table has NULLs")


def compare(directory, names, types, rows):
    """Compares what each reader of Parquet makes of a dataset with rows of canonical cells, in their order."""
    problems = []
    paths = datasets.files(directory, "parquet")
    stored = pq.read_schema(paths[0]).names
    order = [names.index(n) for n in stored]
    names, types = [names[i] for i in order], [types[i] for i in order]
    rows = [[r[i] for i in order] for r in rows]
    want = list(map(canonical.row, rows))
    for reader in (read_duckdb, read_polars, read_pandas):
        table = reader(paths, names, types, problems)
        columns = [arrowfiles.column_cells(table.column(i), t) for i, t in enumerate(types)]
        got = list(map(canonical.row, map(list, zip(*columns))))
        if got != want:
            pairs = [(g, w) for g, w in zip(got, want) if g != w] or [(len(got), len(want))]
            problems.append(f"{reader.__name__}: {pairs[0][0]}, want {pairs[0][1]}")
    check_pandas_default(paths, names, types, rows, problems)
    return problems


# ---- CSV -----------------------------------------------------------------------------------------------------------------------------


def compare_csv(directory, names, types, rows):
    """Compares the cells of a CSV dataset as text in DuckDB and pandas."""
    import duckdb
    import pandas

    problems = []
    paths = datasets.files(directory, "csv")
    null = "\\N" if len(names) == 1 else ""
    relation = duckdb.connect().read_csv(paths, header=True, all_varchar=True, na_values=null, allow_quoted_nulls=False, quotechar='"', escapechar='"')
    frame = pandas.concat([pandas.read_csv(path, dtype=str, keep_default_na=False, na_filter=False, encoding="utf-8") for path in paths])
    stored = list(frame.columns)
    order = [names.index(n) for n in stored]
    types = [types[i] for i in order]
    want = [[r[i] for i in order] for r in rows]
    got = [[None if v is None else textfiles.csv_cell(v, t) for v, t in zip(r, types)] for r in relation.fetchall()]
    if got != want:
        pairs = [(g, w) for g, w in zip(got, want) if g != w] or [(len(got), len(want))]
        problems.append(f"DuckDB reads from CSV {pairs[0][0]}, want {pairs[0][1]}")
    # pandas does not tell NULL from empty text: both must look the same there.
    blank = lambda cell: cell in (None, "")  # noqa: E731
    for g, w in zip(frame.itertuples(index=False, name=None), want):
        cells = [None if v == null else textfiles.csv_cell(v, t) for v, t in zip(g, types)]
        if any(c != x and not (blank(c) and blank(x)) for c, x in zip(cells, w)):
            problems.append(f"pandas reads from CSV {cells}, want {w}")
    if len(frame) != len(want):
        problems.append(f"pandas reads {len(frame)} rows from CSV, want {len(want)}")
    return problems
