"""Rows with a value and without it are told side by side where that says the same, and as two groups elsewhere."""

from __future__ import annotations

from math import inf, nan

import pytest

from adomnia.engines.check import check_statement
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.render import render
from adomnia.engines.render.presence import presence_key
from adomnia.privacy.aggregates import DistinctValues, NonNull, People, Rows, Total
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column, call
from adomnia.privacy.keys import Bucket
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.matrices import Combination, Matrix
from adomnia.privacy.queries import Clip, Query
from adomnia.privacy.vectors import Variable, Vector
from engines.databases import answer, applied, catalog, category, constant, evaluate, loaded, number, people, relation
from kit.polynomials import bernstein

CITY = category("city", "Oslo", "Bergen")
X = number("x", -10, 10)
FREE = Column("free", Quantity())
TABLE = people(CITY, X, FREE, rows_per_person=3)
UNGUARDED = applied("-", applied("*", FREE, constant(10**308)), applied("*", FREE, constant(10**308)))
TOTAL = Total(X, X.domain, centre=3)
SMALL = Numbers.integers(-5, 5)
ENDS = Vector((Variable(X, SMALL),), tuple(bernstein(1, SMALL.width, 0, 1)))
VALUES = [None, nan, inf, -inf, 0.0, -10.0, 2.5, 1e300]
ROWS = [
    {"person_id": at // 2, "city": (None, "Oslo", "Bergen", "Voss")[at % 4], "x": x, "free": free}
    for at, (x, free) in enumerate((x, free) for x in VALUES for free in VALUES)
]


def by(*keys, aggregate=None, clip=None):
    return Query(relation(TABLE), keys, aggregate or Rows(), clip)


def missing(value, shown="presence"):
    condition = call("is null", value)
    return Bucket(condition, None, condition, shown)


def test_both_halves_of_a_count_stand_beside_the_sum_in_one_statement():
    statement = render((by(CITY, missing(X)), by(CITY, missing(X), aggregate=TOTAL)), DUCKDB)
    assert statement.text == (
        'SELECT "city" AS k0, COUNT("x grid") AS m0, COUNT(*) - COUNT("x grid") AS n0, '
        'CAST(SUM("x grid") - CAST(3 AS HUGEINT) * COUNT("x grid") AS DECIMAL(38, 0)) AS m1 '
        'FROM "people" WHERE "rank" <= 3 GROUP BY 1'
    )
    alone = render((by(missing(X)),), DUCKDB)
    assert alone.text == (
        'SELECT COUNT("x grid") AS m0, COUNT(*) - COUNT("x grid") AS n0 FROM "people" WHERE "rank" <= 3'
    )


@pytest.mark.parametrize(
    "queries",
    [
        (by(CITY),),
        (by(),),
        (by(missing(X), CITY),),
        (by(CITY, missing(X), aggregate=TOTAL),),
        (by(missing(X)), by(missing(X), aggregate=Total(call("+", X, X), X.domain))),
        (by(missing(X)), by(missing(X), aggregate=NonNull(X))),
        (by(missing(X)), by(missing(X), aggregate=People())),
        (by(missing(X)), by(missing(X), aggregate=DistinctValues(X))),
        (by(missing(X)), by(missing(X), aggregate=ENDS)),
        (by(missing(X)), by(missing(X), aggregate=Combination(((Matrix.identity(2),),)))),
        (by(missing(X), clip=Clip(2)),),
        (by(Bucket(call(">", X, constant(0)), None, X)),),
    ],
    ids=[
        "no such key",
        "no key",
        "another key behind it",
        "nothing that shows two halves",
        "a sum of something else",
        "a count of values",
        "people",
        "different values",
        "a vector",
        "combinations",
        "shortened",
        "another condition",
    ],
)
def test_what_cannot_be_told_side_by_side_is_told_as_groups(queries):
    assert presence_key(queries) is None
    assert "COUNT(*) - " not in render(queries, DUCKDB).text


def expected(value, rows):
    """The rows with a value and without it, and the sums of both from -5 on."""
    known = [evaluate(value, row) for row in rows]
    halves = [[each for each in known if each is not None], [each for each in known if each is None]]
    sums = [sum(SMALL.grid(each) + 5 for each in half if SMALL.grid(each) is not None) for half in halves]
    return [len(half) for half in halves], sums


@pytest.mark.parametrize("value", [X, FREE, UNGUARDED, call("/", X, FREE)], ids=["x", "free", "nan", "quotient"])
def test_the_halves_are_the_groups_that_they_stand_for(value):
    """Even of NaN that no guard took away: it is no NULL, and adds nothing to a sum."""
    total = Total(value, SMALL, centre=-5)
    alone = by(missing(value)), by(missing(value), aggregate=total)
    grouped = by(CITY, missing(value)), by(CITY, missing(value), aggregate=total)
    assert presence_key(alone) == presence_key(grouped) == value
    with loaded(catalog(TABLE), people=ROWS) as engine:
        assert answer(engine, *alone) == [*expected(value, ROWS)]
        cities = [expected(value, [row for row in ROWS if row["city"] == city]) for city in CITY.kind.values]
        assert answer(engine, *grouped) == [list(each) for each in zip(*cities, strict=True)]


@pytest.mark.parametrize("keys", [(), (CITY,)], ids=["alone", "by city"])
def test_a_vector_of_the_same_groups_shares_a_statement_with_counts_that_are_told_as_groups(keys):
    asked = by(*keys, missing(X)), by(*keys, missing(X), aggregate=ENDS), by(*keys, missing(X), aggregate=TOTAL)
    statement, columns = render(asked, DUCKDB), tuple(query.columns for query in asked)
    found = check_statement(statement, catalog(TABLE), DUCKDB, asked[0].provable, columns)
    assert found == tuple(query.sensitivity() for query in asked)
    with loaded(catalog(TABLE), people=ROWS) as engine:
        counts, ends, sums = answer(engine, *asked)
        assert [counts, sums] == answer(engine, asked[0], asked[2])  # the same two, told side by side
    for cell, both in zip(*([counts, ends] if keys else [[counts], [ends]]), strict=True):
        # A value adds the width to both ends together, and a row without one adds nothing to either.
        assert [sum(each) for each in both] == [cell[0] * SMALL.width, 0]


@pytest.mark.parametrize("keys", [(), (CITY,)], ids=["alone", "by city"])
def test_the_second_look_finds_what_was_planned(keys):
    queries = (by(*keys, missing(X)), by(*keys, missing(X), aggregate=TOTAL))
    found = check_statement(render(queries, DUCKDB), catalog(TABLE), DUCKDB, queries[0].provable)
    assert found == tuple(query.sensitivity() for query in queries)
    assert found[0].l1 == 3
