"""The statistics once more, the slow and obvious way: over the driver's rows, with dictionaries.

Rows are dictionaries of canonical cells: timestamps are whole milliseconds, dates whole days. Results are lists of rows in the order of the
documented columns, in the documented order.
"""

import datetime
import decimal
import math
import struct
import uuid
from collections import Counter, defaultdict
from decimal import Decimal
from fractions import Fraction

DAY_MS = 86_400_000
EPOCH = datetime.date(1970, 1, 1)

# Sums of decimals are exact: an error, not a rounding, where they are not.
decimal.setcontext(decimal.Context(prec=5000, traps=[decimal.Inexact, decimal.InvalidOperation]))


def day(ms):
    return None if ms is None else ms // DAY_MS


def entry(pairs, wanted):
    """The value of a key in a map cell."""
    return next((v for k, v in pairs or () if k == wanted), None)


def order(value):
    """A sort key: NULL first, text by its bytes in UTF-8, -0 before 0, NaN last."""
    if value is None:
        return (0,)
    if isinstance(value, float):
        return (1, 1, 0.0, 0) if math.isnan(value) else (1, 0, value, math.copysign(1, value))
    return (1, value.encode() if isinstance(value, str) else value)


def in_order(rows, keys):
    return sorted(rows, key=lambda r: [order(v) for v in r[:keys]])


def groups(rows, key):
    found = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return found


# ---- named statistics ----------------------------------------------------------------------------------------------------------------


def distinct(values):
    """How many different values there are: exact up to 2,048, beyond that what an estimate may be, five standard errors of 0.8 % wide."""
    n = len(values)
    return n if n <= 2048 else {"from": n * 0.96, "to": n * 1.04}


def device_day(rows):
    result = []
    for (of, device), images in groups(rows, lambda r: (r["day_bucket"], r["device_id"])).items():
        hashes = {r["content_hash"] for r in images} - {None}
        captures = [r["capture_time"] for r in images]
        result.append([of, device, len(images), distinct(hashes), min(captures), max(captures)])
    return {"device-day": in_order(result, 2)}


def region_day(rows):
    counts = Counter((day(r["capture_time"]), entry(r["attributes"], "region")) for r in rows)
    return {"region-day": in_order(([*key, n] for key, n in counts.items()), 2)}


def tags(rows):
    result = []
    for key, images in groups(rows, lambda r: (r["day_bucket"], r["tag"])).items():
        result.append([*key, len(images), distinct({r["device_id"] for r in images} - {None})])
    return {"tags": in_order(result, 2)}


def tag_pairs(rows, top=1000):
    result = []
    for of, of_day in groups(rows, lambda r: r["day_bucket"]).items():
        pairs = Counter()
        for images in groups(of_day, lambda r: r["image_id"]).values():
            found = sorted({r["tag"] for r in images}, key=order)
            pairs.update((a, b) for i, a in enumerate(found) for b in found[i + 1 :])
        ranked = sorted(pairs.items(), key=lambda p: (-p[1], order(p[0][0]), order(p[0][1])))
        result += [[of, rank, a, b, n, len(pairs)] for rank, ((a, b), n) in enumerate(ranked[:top], 1)]
    return {"tag-pairs": in_order(result, 2)}


def sizes(rows):
    """By day and dimension: the values, None where there is none."""
    found = defaultdict(list)
    for r in rows:
        of, w, h = day(r["capture_time"]), r["width"], r["height"]
        whole = w is not None and h is not None and w > 0 and h > 0
        found[of, "width"].append(w)
        found[of, "height"].append(h)
        found[of, "megapixels"].append(w * h / 1e6 if whole else None)
        found[of, "aspect"].append(w / h if whole else None)
    return found


def delays(rows):
    """By day and kind: the delays in milliseconds."""
    found = defaultdict(list)
    for r in rows:
        captured, uploaded = r["capture_time"], r["upload_time"]
        if captured is None or uploaded is None:
            found[day(captured), "missing"].append(None)
        else:
            delay = uploaded - captured
            found[day(captured), "negative" if delay < 0 else "delay"].append(delay)
    return found


def check_histogram(got, values, what):
    """Checks rows (lo, hi, images) against the values: every row counts right, no value is left out or counted twice."""
    problems, total, end = [], 0, None
    for lo, hi, images in got:
        if lo is None:
            want = sum(v is None for v in values)
        else:
            want = sum(v is not None and lo <= v and (hi is None or v < hi) for v in values)
            if end is not None and lo < end:
                problems.append(f"{what}: buckets overlap at {lo}")
            end = math.inf if hi is None else hi
        if images != want or images == 0:
            problems.append(f"{what}: {images} from {lo} to {hi}, want {want}")
        total += images
    if total != len(values):
        problems.append(f"{what}: {total} in all, want {len(values)}")
    return problems


def check_quantiles(got, values, exact, what):
    """Checks rows (p, value, images) against the values: each is that of its rank, exactly or within 1 %."""
    problems = []
    values = sorted(v for v in values if v is not None)
    for p, value, images in got:
        low, high = of_rank(values, p)
        slack = 0 if exact else 0.0101
        if not low - slack * abs(low) <= value <= high + slack * abs(high):
            problems.append(f"{what}: quantile {p} is {value}, want {low} to {high}")
        if exact and value not in values:
            problems.append(f"{what}: quantile {p} is {value}, which no image has")
        if images != len(values):
            problems.append(f"{what}: quantile {p} of {images} values, want {len(values)}")
    if values and not got:
        problems.append(f"{what}: no quantiles")
    if [p for p, *_ in got] != sorted({p for p, *_ in got}):
        problems.append(f"{what}: the quantiles are not in order")
    return problems


# ---- any grouping --------------------------------------------------------------------------------------------------------------------


def evaluate(expression, row, types):
    """The value of a column, [name], or of something of it: [name, "hour" or "day" or "month" or "year"], [name, "key", text],
    [name, "field", name or number]. It is a number, text, or None; a period is its first millisecond or day."""
    column, *then = expression
    cell, t = row[column], types[column]
    if cell is None:
        return None
    if then[:1] == ["key"]:
        return value(entry(cell, then[1]), t.elements[1])
    if then[:1] == ["field"]:
        place = t.fields.index(then[1]) if t.fields else int(then[1])
        return value(cell[place], t.elements[place])
    if then:
        return period(then[0], milliseconds(cell, t))
    return value(cell, t)


def value(cell, t):
    """A number or text of a cell."""
    if cell is None:
        return None
    if t.kind in ("float", "double"):
        return math.nan if cell == "nan" else struct.unpack(">f" if t.kind == "float" else ">d", bytes.fromhex(cell))[0]
    return {"decimal": Decimal, "varint": int}.get(t.kind, lambda c: c)(cell)


def milliseconds(cell, t):
    """The time of a timestamp, a date or a timeuuid."""
    if t.kind == "timestamp":
        return cell
    if t.kind == "date":
        return cell * DAY_MS
    since_1582 = uuid.UUID(cell).time  # in 100 ns
    return (since_1582 - 0x01B21DD213814000) // 10_000


def period(name, ms):
    """The first millisecond of the hour, or the first day of the day, month or year, of a time between the years 1 and 9999."""
    if name == "hour":
        return ms // 3_600_000 * 3_600_000
    of = EPOCH + datetime.timedelta(days=ms // DAY_MS)
    first = {"day": of, "month": of.replace(day=1), "year": of.replace(month=1, day=1)}[name]
    return (first - EPOCH).days


def one(v):
    """Equal values are one key: 0 and -0, 1.0 and 1.00, and all NaN."""
    if isinstance(v, float):
        return "nan" if math.isnan(v) else v + 0.0
    return v


def grouping(rows, types, by, aggregates):
    """Rows of keys and results. With no keys there is one group, also of no rows."""
    found = groups(rows, lambda r: tuple(one(evaluate(e, r, types)) for e in by))
    if not by:
        found.setdefault((), [])
    result = []
    for key, members in found.items():
        results = []
        for function, *argument in aggregates:
            results += aggregate(function, argument, members, types)
        result.append([*(math.nan if k == "nan" else k for k in key), *results])
    return in_order(result, len(by))


def aggregate(function, argument, rows, types):
    """The results of an aggregate: one, but quantiles have one for each of their ranks, as an interval that holds the right value."""
    if function == "count" and not argument:
        return [len(rows)]
    values = [evaluate(argument[0], r, types) for r in rows]
    values = [v for v in values if v is not None]
    if function == "count":
        return [len(values)]
    if function == "distinct":
        return [distinct(set(values))]
    if not values:
        return [None] * (len(argument[1]) if function == "quantiles" else 1)
    if function == "min":
        return [min(values, key=order)]
    if function == "max":
        return [max(values, key=order)]
    if function == "sum":
        return [exact_sum(values)]
    if function == "avg":
        return [average(values)]
    if function == "quantiles":
        values.sort()
        return [interval(values, p) for p in argument[1]]
    raise ValueError(f"no aggregate {function}")


def exact_sum(values):
    if isinstance(values[0], float):
        if any(map(math.isnan, values)) or {math.inf, -math.inf} <= set(values):
            return math.nan
        return math.fsum(values) + 0.0
    return sum(values)


def average(values):
    if isinstance(values[0], Decimal):
        raise ValueError("the average of decimals is not compared")
    return float(sum(map(Fraction, values)) / len(values))


def interval(values, p):
    low, high = of_rank(values, p)
    return {"from": low - 0.0101 * abs(low), "to": high + 0.0101 * abs(high)}


def of_rank(values, p):
    """The value of rank p (n-1), rounded down, of sorted values: two where it depends on the rounding of p."""
    at = p * (len(values) - 1)
    return values[max(0, math.floor(at - 1e-9))], values[math.floor(at + 1e-9)]
