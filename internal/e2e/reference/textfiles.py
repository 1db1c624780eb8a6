"""Reads CSV and JSON lines into canonical rows. See docs/format/dataset.md for how values look."""

import base64
import datetime
import ipaddress
import json
import re
import struct
import uuid
from decimal import Decimal

import canonical

EPOCH = datetime.date(1970, 1, 1)
DAY_MS = 86_400_000


# ---- JSON lines ----------------------------------------------------------------------------------------------------------------------


class Number(str):
    """A number as its digits: neither -0 nor the last digits of an integer are lost."""


def loads(text):
    def refuse(name):
        raise ValueError(f"{name} is no JSON")

    return json.loads(text, parse_int=Number, parse_float=Number, parse_constant=refuse)


def read_jsonl(paths, names, types):
    rows, problems = [], []
    for path in paths:
        with open(path, encoding="utf-8", newline="\n") as file:
            for line in file:
                if not line.endswith("\n"):
                    problems.append(f"{path}: the last line has no end")
                value = loads(line)
                canonical.check_names(path, list(value), names, problems)
                rows.append([json_cell(value.get(n), t) for n, t in zip(names, types)])
    return rows, problems


def json_cell(v, t):
    """The canonical cell of a JSON value."""
    if v is None:
        return None
    kind = t.kind
    if kind == "boolean":
        if type(v) is not bool:
            raise ValueError(f"{v!r} is no boolean")
        return v
    if kind in canonical.WHOLE:
        if type(v) is not Number:
            raise ValueError(f"{v!r} is no number")
        return canonical.whole(int(v), kind)
    if kind in ("float", "double"):
        if type(v) is not Number and v not in ("NaN", "Infinity", "-Infinity"):
            raise ValueError(f"{v!r} is no number")
        return float_cell(v, kind)
    if kind in ("list", "vector"):
        return [json_cell(e, t.elements[0]) for e in array(v)]
    if kind == "set":
        return canonical.set_of(json_cell(e, t.elements[0]) for e in array(v))
    if kind == "map" and isinstance(v, dict):
        return object_cell(v, t)
    if kind == "map":
        for entry in array(v):
            if list(entry) != ["key", "value"]:
                raise ValueError(f"{entry!r} is no entry of a map")
        return canonical.map_of((json_cell(e["key"], t.elements[0]), json_cell(e["value"], t.elements[1])) for e in v)
    if kind in ("tuple", "udt"):
        fields = t.fields or [str(i) for i in range(len(t.elements))]
        if list(v) != fields:
            raise ValueError(f"fields {list(v)}, want {fields}")
        return [json_cell(v[n], e) for n, e in zip(fields, t.elements)]
    if kind == "duration":
        if list(v) != ["months", "days", "nanoseconds"]:
            raise ValueError(f"{v!r} is no duration")
        return [int(x) for x in v.values()]
    if type(v) is not str:
        raise ValueError(f"{v!r} is no text")
    return text_cell(v, kind)


def object_cell(v, t):
    """The canonical cell of a map that is a JSON object: its keys are plain text."""
    return canonical.map_of((csv_cell(k, t.elements[0]), json_cell(e, t.elements[1])) for k, e in v.items())


def array(v):
    if not isinstance(v, list):
        raise ValueError(f"{v!r} is no list")
    return v


def float_cell(digits, kind):
    value = float(digits)
    if kind == "float" and value == value:
        value = struct.unpack(">f", struct.pack(">f", value))[0]
    return canonical.float_bits(value, kind)


def text_cell(v, kind):
    """The canonical cell of a simple value that files hold as text."""
    if kind in canonical.TEXTS:
        return v
    if kind == "varint":
        return same(v, str(int(v)))
    if kind == "decimal":
        return same(v, str(Decimal(v)))
    if kind in ("uuid", "timeuuid"):
        return same(v, str(uuid.UUID(v)))
    if kind == "inet":
        return same(v, str(ipaddress.ip_address(v)))
    if kind == "blob":
        return base64.b64decode(v, validate=True).hex()
    if kind == "date":
        return days(v)
    if kind == "timestamp":
        return milliseconds(v)
    if kind == "time":
        return nanoseconds(v)
    raise ValueError(f"no text form of {kind}")


def same(got, want):
    if got != want:
        raise ValueError(f"{got!r} should be written {want!r}")
    return got


DATE = re.compile(r"(\d{4}|[+-]\d{6,})-(\d\d)-(\d\d)")
TIME = re.compile(r"(\d\d):(\d\d):(\d\d)\.(\d{3}|\d{9})")


def days(text):
    """Days since 1970-01-01 of a date in ISO 8601, of any year."""
    found = DATE.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is no date")
    year, month, day = map(int, found.groups())
    # The calendar repeats every 400 years, which have 146,097 days.
    cycles, year = divmod(year - 2000, 400)
    return (datetime.date(2000 + year, month, day) - EPOCH).days + cycles * 146_097


def milliseconds(text):
    if not text.endswith("Z"):
        raise ValueError(f"{text!r} is not marked as UTC")
    date, time = text[:-1].split("T")
    nanos = nanoseconds(time)
    if len(time) != 12:
        raise ValueError(f"{text!r} is not in milliseconds")
    return days(date) * DAY_MS + nanos // 1_000_000


def nanoseconds(text):
    found = TIME.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is no time of day")
    hour, minute, second, fraction = found.groups()
    return (int(hour) * 3600 + int(minute) * 60 + int(second)) * 1_000_000_000 + int(fraction.ljust(9, "0"))


# ---- CSV -----------------------------------------------------------------------------------------------------------------------------


def csv_records(text):
    """Records of RFC 4180, whose fields are (text, was it quoted): other readers do not tell "" from nothing."""
    record, at = [], 0
    while at < len(text):
        if text[at] == '"':
            parts = []
            while True:
                end = text.index('"', at + 1)
                parts.append(text[at + 1 : end])
                at = end
                if text[end + 1 : end + 2] != '"':
                    break
                at = end + 1
            record.append(('"'.join(parts), True))
            at += 1
        else:
            end = min(i for i in (text.find(",", at), text.find("\n", at), len(text)) if i >= 0)
            if '"' in text[at:end]:
                raise ValueError(f"quote in a field that is not quoted: {text[at:end]!r}")
            record.append((text[at:end], False))
            at = end
        if text[at : at + 1] == ",":
            at += 1
            if at == len(text) or text[at] == "\n":
                record.append(("", False))
        if text[at : at + 1] == "\n":
            yield record
            record, at = [], at + 1
    if record:
        raise ValueError("the last line has no end")


def read_csv(paths, names, types):
    rows, problems = [], []
    null = "\\N" if len(names) == 1 else ""
    for path in paths:
        with open(path, encoding="utf-8", newline="") as file:
            records = csv_records(file.read())
        header = [field for field, _ in next(records)]
        canonical.check_names(path, header, names, problems)
        for record in records:
            if len(record) != len(names):
                problems.append(f"{path}: {len(record)} fields, want {len(names)}: {record}")
                continue
            cells = dict(zip(header, record))
            rows.append([None if cells[n] == (null, False) else csv_cell(cells[n][0], t) for n, t in zip(names, types)])
    return rows, problems


def csv_cell(v, t):
    kind = t.kind
    if kind == "boolean":
        return {"true": True, "false": False}[v]
    if kind in canonical.WHOLE:
        return canonical.whole(int(same(v, str(int(v)))), kind)
    if kind in ("float", "double"):
        return float_cell(v, kind)
    if kind in ("list", "set", "map", "tuple", "udt", "vector", "duration"):
        return json_cell(loads(v), t)
    return text_cell(v, kind)
