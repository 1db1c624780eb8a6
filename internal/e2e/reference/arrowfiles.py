"""Reads Parquet and Arrow files with pyarrow into canonical rows, and knows which types they should have."""

import uuid

import pyarrow as pa
import pyarrow.parquet as pq

import canonical
import textfiles


def read_parquet(paths, names, types, shape):
    return from_tables((pq.ParquetFile(path).read() for path in paths), names, types, "parquet", shape)


def read_arrow(paths, names, types, shape):
    def tables():
        for path in paths:
            with pa.OSFile(path) as file:
                yield pa.ipc.open_file(file).read_all()

    return from_tables(tables(), names, types, "arrow", shape)


def from_tables(tables, names, types, form, shape):
    rows, problems = [], []
    for table in tables:
        canonical.check_names(form, table.column_names, names, problems)
        for name, t in zip(names, types):
            got, want = table.schema.field(name).type, arrow_type(t, form, shape)
            if got != want:
                problems.append(f"column {name} of CQL type {t} is {got}, want {want}")
        if problems:
            continue
        columns = [column_cells(table.column(name), t) for name, t in zip(names, types)]
        rows.extend(map(list, zip(*columns)))
    return rows, problems


def arrow_type(t, form, shape):
    """The type that the files state for a CQL type."""
    kind = t.kind
    simple = {
        "ascii": pa.string(), "text": pa.string(), "varint": pa.string(), "decimal": pa.string(), "uuid": pa.string(),
        "timeuuid": pa.string(), "inet": pa.string(), "blob": pa.binary(), "boolean": pa.bool_(), "tinyint": pa.int8(),
        "smallint": pa.int16(), "int": pa.int32(), "bigint": pa.int64(), "counter": pa.int64(), "float": pa.float32(),
        "double": pa.float64(), "timestamp": pa.timestamp("us", "UTC"), "date": pa.date32(), "time": pa.string(),
        "duration": pa.struct(
            [pa.field(name, unit, nullable=False) for name, unit in (("months", pa.int32()), ("days", pa.int32()), ("nanoseconds", pa.int64()))]
        ),
    }
    if shape.get("uuid") == "binary":
        simple["uuid"] = simple["timeuuid"] = pa.uuid()
    if shape.get("time"):
        simple["time"] = pa.time64({"nanos": "ns", "micros": "us"}[shape["time"]])
    if kind in simple:
        return simple[kind]
    elements = [arrow_type(e, form, shape) for e in t.elements]
    if kind in ("list", "set"):
        return pa.list_(pa.field("element", elements[0]))
    if kind == "vector":
        return pa.list_(pa.field("element", elements[0], nullable=False), t.size if form == "arrow" else -1)
    if kind == "map" and shape.get("map") == "json":
        return pa.string()
    if kind == "map" and shape.get("map") == "map":
        return pa.map_(elements[0], elements[1])
    if kind == "map":
        entry = pa.struct([pa.field("key", elements[0], nullable=False), ("value", elements[1])])
        return pa.list_(pa.field("element", entry, nullable=False))
    return pa.struct(list(zip(t.fields or map(str, range(len(elements))), elements)))


def column_cells(chunked, t):
    if chunked.num_chunks == 0:
        return []
    return array_cells(pa.concat_arrays(chunked.chunks), t)


def array_cells(a, t):
    """The canonical cells of an Arrow array that is no slice."""
    kind = t.kind
    if isinstance(a, pa.ExtensionArray):
        a = a.storage
    if kind == "map" and pa.types.is_string(a.type):
        return [None if v is None else textfiles.object_cell(textfiles.loads(v), t) for v in a.to_pylist()]
    if kind in ("list", "set", "map", "vector"):
        inner = None if pa.types.is_map(a.type) else a.values
        if pa.types.is_map(a.type):
            inner = list(zip(array_cells(a.keys, t.elements[0]), array_cells(a.items, t.elements[1])))
        elif kind == "map":
            keys, values = (array_cells(x, e) for x, e in zip(inner.flatten(), t.elements))
            inner = list(zip(keys, values))
        else:
            inner = array_cells(inner, t.elements[0])
        if pa.types.is_fixed_size_list(a.type):
            ends = [i * t.size for i in range(len(a) + 1)]
        else:
            ends = a.offsets.to_pylist()
        finish = {"set": canonical.set_of, "map": canonical.map_of}.get(kind, list)
        return [None if null else finish(inner[ends[i] : ends[i + 1]]) for i, null in enumerate(a.is_null().to_pylist())]
    if kind in ("tuple", "udt"):
        fields = [array_cells(x, e) for x, e in zip(a.flatten(), t.elements)]
        return [None if null else list(cells) for null, *cells in zip(a.is_null().to_pylist(), *fields)]
    if kind == "duration":
        fields = [x.to_pylist() for x in a.flatten()]
        return [None if null else list(cells) for null, *cells in zip(a.is_null().to_pylist(), *fields)]
    if kind == "timestamp":
        return [None if v is None else exact_milliseconds(v) for v in a.view(pa.int64()).to_pylist()]
    if kind == "date":
        return a.view(pa.int32()).to_pylist()
    if kind == "time" and not (pa.types.is_string(a.type) or pa.types.is_large_string(a.type)):
        unit = {"ns": 1, "us": 1000}[a.type.unit]
        return [None if v is None else v * unit for v in a.view(pa.int64()).to_pylist()]
    if kind in ("uuid", "timeuuid") and pa.types.is_fixed_size_binary(a.type):
        return [None if v is None else str(uuid.UUID(bytes=v)) for v in a.to_pylist()]
    return [None if v is None else python_cell(v, kind) for v in a.to_pylist()]


def exact_milliseconds(micros):
    whole, rest = divmod(micros, 1000)
    if rest:
        raise ValueError(f"{micros} µs is no whole millisecond")
    return whole


def python_cell(v, kind):
    """The canonical cell of a Python value as Arrow gives it for a simple type."""
    if kind in canonical.WHOLE:
        return canonical.whole(v, kind)
    if kind in ("float", "double"):
        return canonical.float_bits(v, kind)
    if kind == "blob":
        return canonical.blob_text(v)
    if kind == "boolean":
        return v
    return textfiles.text_cell(canonical.text(v), kind)
