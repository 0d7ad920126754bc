"""No row is lost: whatever text an engine makes of declared values is one of those that were listed beforehand."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from random import Random

import duckdb
import pytest

from adomnia.engines.contract import stored_name
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.render.scalars import Scalars
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column, Literal, call, number, text
from adomnia.privacy.kinds import Boolean, Day, Quantity, Text
from adomnia.sql.values.possible_texts import list_texts, number_texts

LEAP = date(2024, 2, 29)
VALUES = ("Oslo", "", "e\u0301 x ", " 12", "\U0001f600a", "ÅÿÇ\x00")
ROWS = {  # of each column: as it is declared, and what the index keeps of it
    Column("city", Text(VALUES)): range(len(VALUES)),
    Column("sex", Text(("a", "B"), others=True)): range(2),
    Column("member", Boolean()): (True, False),
    Column("age", Quantity(Fraction(-2), Fraction(3), whole=True), Numbers.integers(-2, 3)): range(-2, 4),
    Column("ends", Day(date(9999, 12, 29), date.max)): (date(9999, 12, 30), date.max),
    Column("born", Day(date.min, date(1, 1, 3))): (date.min, date(1, 1, 3)),
}
CITY, SEX, MEMBER, AGE, ENDS, BORN = ROWS
LEAVES = {
    "t": (CITY, CITY, SEX, text(""), text("a"), text("\u0301"), Literal(None, Text())),
    "b": (MEMBER, Literal(True, Boolean())),
    "n": (AGE, AGE, *map(number, (0, 1, -1, Fraction(1, 2), 10**19, 9007199254740993000))),
    "d": (ENDS, BORN, Literal(LEAP, Day(LEAP, LEAP))),
}
FUNCTIONS = {  # by the kind of what they give; a constant is one of several
    "t": [
        *((name, "t") for name in ("upper", "lower", "trim", "ltrim", "rtrim")),
        ("replace", "t", (text("O"), text("\u0301"), text(" ")), (text(""), text("xyz"))),
        ("substring", "t", (number(1), number(3)), (number(0), number(2), number(2**31 - 1))),
        ("right", "t", (number(0), number(2), number(40))),
        ("format", "d", (text("%Y"), text("%G-W%V"), text("%a %j"), text("%d%%"))),
        *((name, "t", "t") for name in ("||", "coalesce", "nullif")),
        *(("number as text", "n"), ("boolean as text", "b"), ("date as text", "d")),
        ("case", "b", "t", "b", "t", "t"),
    ],
    "b": [
        *((name, kind, kind) for name in ("=", "<>", "same", "<") for kind in "tnd"),
        *(("and", "b", "b"), ("or", "b", "b"), ("not", "b"), ("is null", "t"), ("is null", "d")),
        ("like", "t", (text("%"), text("_%"), text("O%o"), text("%\u0301%"), text(""))),
        *((name, "t", "t") for name in ("starts_with", "ends_with", "contains")),
    ],
    "n": [
        *(("position", "t", "t"), ("length", "t"), ("quarter", "d"), ("year", "d"), ("case", "b", "n", "n")),
        *((name, "n", "n") for name in ("+", "-", "*", "coalesce", "nullif", "greatest")),
        *((name, "n") for name in ("negative", "abs", "round", "floor")),
    ],
    "d": [
        *(("shift", "d", (number(-1), number(400))), ("shift months", "d", (number(-1), number(1)))),
        *(("start of week", "d"), ("case", "b", "d", "d"), ("coalesce", "d", "d"), ("nullif", "d", "d")),
    ],
}


def made(chance, kind, depth):
    """An expression by chance."""
    if isinstance(kind, tuple):
        return chance.choice(kind)
    if depth == 0 or chance.random() < 0.1:
        return chance.choice(LEAVES[kind])
    function, *parts = chance.choice(FUNCTIONS[kind])
    return call(function, *(made(chance, part, depth - 1) for part in parts))


@pytest.fixture(scope="module")
def rows():
    chance = Random(1)
    with duckdb.connect() as connection:
        connection.execute("SET ieee_floating_point_ops = true")
        types = ("UTINYINT", "TINYINT", "BOOLEAN", "TINYINT", "DATE", "DATE")
        columns = (f'"{stored_name(column)}" {kind}' for column, kind in zip(ROWS, types, strict=True))
        connection.execute(f"CREATE TABLE stored ({', '.join(columns)})")
        drawn = [[chance.choice([*kept, None]) for kept in ROWS.values()] for _ in range(300)]
        connection.executemany("INSERT INTO stored VALUES (?, ?, ?, ?, ?, ?)", drawn)
        yield connection


def test_engines_make_no_text_that_was_not_listed(rows):
    chance, listed = Random(2), 0
    for _ in range(800):
        try:
            written = made(chance, "t", chance.choice((1, 2, 3)))
        except ValueError:  # such as a fraction as text
            continue
        texts = list_texts(written, 1000)
        if texts:
            listed += 1
            scalars = Scalars(DUCKDB)
            placed = number_texts(written, texts)
            places = "NULL" if placed is None else scalars.value(placed)
            found = rows.execute(
                f"SELECT DISTINCT {scalars.value(written)}, {places} FROM stored", list(scalars.parameters)
            ).fetchall()
            assert {value for value, _ in found} <= {*texts, None}, written
            assert placed is None or all(
                value == (None if place is None else texts[int(place)]) for value, place in found
            ), written
    assert listed > 400
