"""Answers the questions of the tests, one JSON object per line: {"method": ..., "params": {...}} in, {"result": ...} or {"error": ...} out.

Run as a process of its own for each test, so that connections and the rows read by the driver are kept between questions.
"""

import json
import os
import sys
import traceback
from collections import Counter

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import canonical  # noqa: E402
import datasets  # noqa: E402
from client import Client  # noqa: E402

SAMPLES = 5  # differences quoted in an answer


class Worker:
    def __init__(self):
        self.client = None
        self.tables = {}  # name as quoted CQL -> Table

    def connect(self, hosts, port, user=None, password=None):
        self.client = Client(hosts, port, user, password)
        return {}

    def read(self, table, columns="*", name=None):
        """Reads a table with the driver and keeps it, under its own name unless another is given."""
        names, types, rows = self.client.select(f"SELECT {columns} FROM {table}")
        self.tables[name or table] = Table(names, types, list(rows))
        return {"rows": len(self.tables[name or table].rows)}

    def look(self, statement):
        """The rows of a statement, which are not kept."""
        return {"rows": list(self.client.select(statement)[2])}

    def compare(self, table, dirs, format, columns=None, where=None, shape=None):
        """Compares datasets that together should be the table, or its columns of the rows of which a Python expression in r is true."""
        t = self.tables[table]
        if columns or where:
            t = t.select(columns or t.names, where)
        got, problems = [], []
        for directory in dirs:
            rows, wrong = datasets.read(directory, format, t.names, t.types, shape)
            got.extend(map(canonical.row, rows))
            problems.extend(wrong)
        missing, extra = Counter(t.lines), Counter(got)
        missing.subtract(got)
        extra.subtract(t.lines)
        return {
            "rows": len(got),
            "missing": list(missing.elements())[:SAMPLES] if got != t.lines else [],
            "extra": list(extra.elements())[:SAMPLES] if got != t.lines else [],
            "in_order": got == t.lines,
            "problems": problems[:SAMPLES],
        }

    def compare_readers(self, table, parquet, csv):
        """Compares what DuckDB, Polars and pandas read from the two datasets with the table."""
        import readers

        t = self.tables[table]
        problems = readers.compare(parquet, t.names, t.types, t.rows) + readers.compare_csv(csv, t.names, t.types, t.rows)
        return {"problems": problems[:SAMPLES]}

    def compare_named(self, dir, metadata, device, tag):
        import results

        tables = (self.tables[name].dictionaries() for name in (metadata, device, tag))
        return {"problems": (results.compare_named(dir, *tables) + results.compare_views(dir))[:SAMPLES]}

    def compare_grouping(self, dir, name, table, by, aggregates, ordered):
        import results

        t = self.tables[table]
        types = dict(zip(t.names, t.types))
        problems = results.compare_grouping(dir, name, t.dictionaries(), types, by, aggregates, ordered)
        return {"problems": (problems + results.compare_views(dir))[:SAMPLES]}


class Table:
    def __init__(self, names, types, rows):
        self.names, self.types, self.rows = names, types, rows
        self.lines = list(map(canonical.row, rows))

    def select(self, columns, where):
        wanted = eval("lambda r: " + (where or "True"))  # noqa: S307: the test's own text
        rows = [[r[c] for c in columns] for r in self.dictionaries() if wanted(r)]
        return Table(columns, [self.types[self.names.index(c)] for c in columns], rows)

    def dictionaries(self):
        return [dict(zip(self.names, r)) for r in self.rows]


def main():
    # Whatever a library prints must not get between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    worker = Worker()
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = {"result": getattr(worker, question["method"])(**question["params"])}
        except Exception:
            answer = {"error": traceback.format_exc()}
        answers.write(json.dumps(answer, ensure_ascii=False) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
