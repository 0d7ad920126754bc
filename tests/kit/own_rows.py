"""Rows of many people, full of edges, and what DuckDB makes of the rows of each: for aggregates of other engines."""

from __future__ import annotations

import math
import random
from datetime import date
from functools import cache

import duckdb
import pyarrow as pa

EDGES = [None, None, 0.0, -0.0, 5e-324, 1e308, -1e308, 1.7976931348623157e308, math.inf, -math.inf, 0.1, 0.3, 7.0, -2.5]
TEXTS = [None, "", "a", "B", "Z", "é", "\U0001f600"]
DAYS = [None, date(1, 1, 1), date(2024, 2, 29), date(9999, 12, 31)]
GROUPS = 1500
COLUMNS = {"x": pa.float64(), "y": pa.float64(), "t": pa.string(), "d": pa.date32(), "b": pa.bool_()}
BY_GROUP = "SELECT {} FROM own GROUP BY g ORDER BY g"
CHOSEN = "ARG_{}(CASE WHEN {{0}} IS NULL THEN NULL ELSE {{1}} END, ROW({{0}}, {{1}}))"
CASES = [("median", "MEDIAN({0})", "x"), ("least boolean", "MIN({0})", "b"), ("greatest boolean", "MAX({0})", "b")]
CASES += [
    (f"value of {which}", CHOSEN.format(end), *parts)
    for which, end in (("least", "MIN"), ("greatest", "MAX"))
    for parts in (("x", "y"), ("x", "t"), ("d", "x"), ("d", "b"), ("x", "x"), ("y", "d"))
]


def listed():
    source = random.Random(11)
    for group in range(GROUPS):
        for _ in range(source.randrange(1, 7)):
            x, y = (source.choice([*EDGES, source.gauss(0, 1), source.gauss(0, 1)]) for _ in "xy")
            yield group, x, y, source.choice(TEXTS), source.choice(DAYS), source.choice([None, True, False])


@cache
def own_rows():
    """The rows as an Arrow table: g is whose they are."""
    rows = list(listed())
    arrays = {
        name: pa.array([row[place] for row in rows], kind) for place, (name, kind) in enumerate(COLUMNS.items(), 1)
    }
    return pa.table({"g": [row[0] for row in rows], **arrays})


def from_duckdb(aggregate):
    """What DuckDB gives for every person."""
    with duckdb.connect() as connection:
        connection.execute("SET ieee_floating_point_ops = true")
        connection.register("own", own_rows())
        return [value for (value,) in connection.execute(BY_GROUP.format(aggregate)).fetchall()]


def wide_integers():
    """Integers of up to 126 bits, and the doubles that DuckDB makes of them."""
    source = random.Random(5)
    sizes = (source.getrandbits(source.randrange(1, 126)) for _ in range(4000))
    numbers = [source.choice([-1, 1]) * size for size in sizes] + [0, -1, -(2**64), 2**64 - 1, -(2**64) - 1, 2**53 + 1]
    with duckdb.connect() as connection:
        text = "SELECT CAST(CAST(UNNEST($1) AS HUGEINT) AS DOUBLE)"
        return numbers, [value for (value,) in connection.execute(text, [list(map(str, numbers))]).fetchall()]
