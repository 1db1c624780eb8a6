"""One form for a value, whichever way it came: from the driver, from JSON, CSV, Parquet or Arrow files.

A cell becomes something that json.dumps writes without loss, so that rows compare as lines of text:

    ascii, text, varchar, varint, decimal, uuid, timeuuid, inet    text
    tinyint ... bigint, counter                                     whole number
    boolean                                                         true, false
    float, double                                                   text: the eight or sixteen hex digits of its bits, "nan"
    blob                                                            text: hex digits
    timestamp, date, time           whole milliseconds and days since 1970-01-01 UTC, nanoseconds since midnight
    duration                                                        [months, days, nanoseconds]
    list, tuple, vector, user-defined type                          list of cells
    set                                                             list of cells, sorted
    map                                                             list of [key, value], sorted
    NULL                                                            null

decimal and varint are written as Java's BigDecimal.toString and BigInteger.toString do; Python's Decimal follows the same rule.
"""

import json
import struct
import uuid
from decimal import Decimal

TEXTS = {"ascii", "text", "varchar"}
WHOLE = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64, "counter": 64}
# Kinds whose value without a byte means nothing: such a value counts as NULL, in the driver and in the files.
SIMPLE = TEXTS | set(WHOLE) | {
    "varint", "decimal", "float", "double", "boolean", "blob", "timestamp", "date", "time", "uuid", "timeuuid", "inet", "duration",
}


class Type:
    """A CQL type: kind is the simple type's name, or list, set, map, tuple, udt, vector."""

    def __init__(self, kind, elements=(), fields=(), size=0):
        self.kind = kind
        self.elements = list(elements)
        self.fields = list(fields)
        self.size = size

    def __repr__(self):
        inner = ", ".join(map(repr, self.elements))
        return f"{self.kind}<{inner}>" if inner else self.kind


def row(cells):
    """The line of text that stands for a row."""
    return json.dumps(cells, ensure_ascii=False, separators=(",", ":"))


def key(cell):
    """A sort key for cells of one type."""
    return json.dumps(cell, ensure_ascii=False)


def whole(value, kind):
    bits = WHOLE[kind]
    if type(value) is not int or not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise ValueError(f"{value!r} is no {kind}")
    return value


def float_bits(value, kind):
    if value != value:
        return "nan"
    code = ">f" if kind == "float" else ">d"
    packed = struct.pack(code, value)
    if struct.unpack(code, packed)[0] != value:
        raise ValueError(f"{value!r} is no {kind}")
    return packed.hex()


def decimal_text(value):
    if not isinstance(value, Decimal):
        raise ValueError(f"{value!r} is no Decimal")
    return str(value)


def blob_text(value):
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise ValueError(f"{value!r} is no blob")
    return bytes(value).hex()


def text(value):
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is no text")
    return value


def uuid_text(value):
    if not isinstance(value, uuid.UUID):
        raise ValueError(f"{value!r} is no UUID")
    return str(value)


def set_of(cells):
    return sorted(cells, key=key)


def map_of(pairs):
    return sorted(([k, v] for k, v in pairs), key=key)


def check_names(path, got, want, problems):
    """The server sorts names that are not ASCII in a way of its own; of the others the order must be the server's."""
    ordered = got == want if all(map(str.isascii, want)) else sorted(got) == sorted(want)
    if not ordered:
        problems.append(f"{path}: columns {got}, want {want}")
