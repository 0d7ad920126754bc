from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.render import render
from adomnia.privacy.aggregates import DistinctValues, NonNull, People, Rows, Total
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column, Literal
from adomnia.privacy.keys import Bucket
from adomnia.privacy.kinds import Boolean, Quantity
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Where
from engines.databases import answer, applied, catalog, category, constant, loaded, number, people, relation, whole
from kit.searches import examples

FARE = number("fare", 0, 100)
AGE = whole("age", 0, 120)
CITY = category("city", "Oslo", "Bergen")
MEMBER = Column("member", Boolean())
TRIPS = people(FARE, AGE, CITY, MEMBER)
CAPPED = relation(TRIPS, cap=10)


@pytest.mark.parametrize(
    ("queries", "sql"),
    [
        ([Query(CAPPED, (), Rows())], 'SELECT COUNT(*) AS m0 FROM "people" WHERE "rank" <= 10'),
        ([Query(CAPPED, (), People())], 'SELECT COUNT(DISTINCT "person") AS m0 FROM "people"'),
        (
            [
                Query(CAPPED, (), DistinctValues(CITY)),
                Query(CAPPED, (), DistinctValues(applied("+", AGE, constant(1)))),
            ],
            (
                'SELECT COUNT(DISTINCT "city") AS m0, COUNT(DISTINCT (CAST("age" AS DOUBLE) + 1.0e0)) AS m1 '
                'FROM "people" WHERE "rank" <= 10'
            ),
        ),
        (
            [Query(CAPPED, (CITY,), People())],
            'SELECT "city" AS k0, COUNT(DISTINCT "person") AS m0 FROM "people" WHERE "rank" <= 10 GROUP BY 1',
        ),
        (
            [Query(CAPPED, (CITY, MEMBER), Rows()), Query(CAPPED, (CITY, MEMBER), NonNull(AGE))],
            (
                'SELECT "city" AS k0, "member" AS k1, COUNT(*) AS m0, COUNT("age") AS m1 FROM "people" '
                'WHERE "rank" <= 10 GROUP BY 1, 2'
            ),
        ),
        (
            [Query(CAPPED, (), Total(AGE, AGE.domain)), Query(CAPPED, (), Total(AGE, AGE.domain, 60))],
            (
                'SELECT CAST(SUM("age") AS BIGINT) AS m0, '
                'CAST(SUM("age") - CAST(60 AS HUGEINT) * COUNT("age") AS BIGINT) AS m1 FROM "people" WHERE "rank" <= 10'
            ),
        ),
        (
            [Query(CAPPED, (), Total(FARE, FARE.domain))],
            'SELECT CAST(SUM("fare grid") AS DECIMAL(38, 0)) AS m0 FROM "people" WHERE "rank" <= 10',
        ),
        (
            [Query(Where(Where(CAPPED, MEMBER), applied(">", AGE, constant(30))), (), Rows())],
            (
                'SELECT COUNT(*) AS m0 FROM "people" '
                'WHERE "rank" <= 10 AND ("member") AND ((CAST("age" AS DOUBLE) > 30.0e0))'
            ),
        ),
        (
            [Query(Where(CAPPED, MEMBER), (), People())],
            'SELECT COUNT(DISTINCT "person") AS m0 FROM "people" WHERE ("member")',
        ),
        (
            [Query(CAPPED, (), Total(applied("+", FARE, AGE), Numbers.integers(0, 220)))],
            (
                'SELECT CAST(SUM(CASE WHEN (CAST("fare" AS DOUBLE) + CAST("age" AS DOUBLE)) < 0.0e0 THEN 0 '
                'WHEN (CAST("fare" AS DOUBLE) + CAST("age" AS DOUBLE)) > 220.0e0 THEN 220 '
                'ELSE TRY_CAST(FLOOR((CAST("fare" AS DOUBLE) + CAST("age" AS DOUBLE)) / 1.0e0 + 0.5e0) AS BIGINT) END) '
                'AS BIGINT) AS m0 FROM "people" WHERE "rank" <= 10'
            ),
        ),
    ],
)
def test_queries_are_rendered_as_one_statement(queries, sql):
    statement = render(tuple(queries), DUCKDB)
    assert (statement.text, statement.parameters) == (sql, ())


@pytest.mark.parametrize(
    "other",
    [
        Query(relation(TRIPS, cap=9), (), Rows()),
        Query(Where(CAPPED, MEMBER), (), Rows()),
        Query(CAPPED, (CITY,), Rows()),
        Query(CAPPED, (), People()),
    ],
)
def test_queries_over_different_rows_are_not_one_statement(other):
    with pytest.raises(ValueError, match="must share the rows they read and their keys"):
        render((Query(CAPPED, (), Rows()), other), DUCKDB)


def test_a_sum_that_no_integer_of_the_engine_could_hold_is_refused_before_it_runs():
    domain = Numbers.integers(0, 2**78)
    render((Query(CAPPED, (), Total(AGE, domain)),), DUCKDB)
    with pytest.raises(ValueError, match=r"Total must stay below 10\*\*38"):
        render((Query(CAPPED, (), Total(AGE, domain, centre=-(2**78))),), DUCKDB)


DOMAINS = [
    Numbers.integers(0, 120),
    Numbers.integers(-(2**62), 2**62),
    Numbers.integers(-(2**77), 2**77),
    Numbers.integers(2**77, 2**78),
    Numbers.bounded(-1, 1, Fraction(1, 2**70)),
    Numbers(Fraction("0.3"), Fraction("9.7"), Fraction("0.1")),
]


@settings(max_examples=examples(24), deadline=None)
@given(
    domain=st.sampled_from(DOMAINS),
    values=st.lists(st.none() | st.floats() | st.integers(-(2**80), 2**80).map(float), max_size=40),
    data=st.data(),
)
def test_sums_are_the_sums_of_python_integers(domain, values, data):
    centre = data.draw(st.sampled_from([0, domain.grid_lower, domain.middle, domain.grid_upper]))
    column = Column("x", Quantity(domain.lower, domain.upper, whole=domain.step == 1), domain)
    table = people(column)
    rows = [{"person_id": person, "x": value} for person, value in enumerate(values)]
    total, count = (
        Query(relation(table), (), Total(column, domain, centre)),
        Query(relation(table), (), NonNull(column)),
    )
    with loaded(catalog(table), people=rows) as engine:
        found = answer(engine, total, count)
    grid = [domain.grid(value) for value in values]
    assert found == [sum(cell - centre for cell in grid if cell is not None), sum(cell is not None for cell in grid)]


@pytest.mark.no_cover
@pytest.mark.parametrize("bits", [20, 62, 77])
def test_ten_thousand_sums_are_the_sums_of_python_integers(bits):
    draw = Random(bits)
    domain = Numbers.integers(-(2**bits), 2**bits)
    column = Column("x", Quantity(domain.lower, domain.upper, whole=True), domain)
    cell = category("cell", *(f"c{place}" for place in range(10_000)))
    table = people(column, cell)
    expected = [0] * 10_000
    rows = []
    for person in range(30_000):
        value, place = float(draw.randrange(-(2 ** (bits + 1)), 2 ** (bits + 1))), draw.randrange(10_000)
        rows.append({"person_id": person, "x": value, "cell": f"c{place}"})
        expected[place] += domain.grid(value)
    with loaded(catalog(table), people=rows) as engine:
        (found,) = answer(engine, Query(relation(table), (cell,), Total(column, domain)))
    assert found == expected


def test_the_largest_integers_of_64_bits_do_not_wrap():
    domain = Numbers.integers(0, 2**63 - 1)
    table = people(Column("x", Quantity(domain.lower, domain.upper, whole=True), domain))
    (column,) = table.columns[1:]
    query = Query(relation(table), (), Total(column, domain))
    with loaded(catalog(table), people=[{"person_id": 1, "x": 2.0**63}]) as one:
        (alone,) = answer(one, query)
    with loaded(catalog(table), people=[{"person_id": 1, "x": 2.0**63}, {"person_id": 2, "x": 1.0}]) as two:
        (together,) = answer(two, query)
    assert (alone, together) == (2**63 - 1, 2**63)


def test_a_centre_times_a_count_beyond_64_bits_does_not_fail():
    domain = Numbers.integers(0, 2**62)
    column = Column("x", Quantity(domain.lower, domain.upper, whole=True), domain)
    table = people(column)
    rows = [{"person_id": person, "x": float(2**62)} for person in range(5_000)]
    with loaded(catalog(table), people=rows) as engine:
        (found,) = answer(engine, Query(relation(table), (), Total(column, domain, centre=2**61)))
    assert found == 5_000 * 2**61


def test_places_of_texts_are_grouped_by_as_numbers_and_as_the_texts_would_be():
    initial = applied("coalesce", applied("substring", CITY, constant(1), constant(1)), constant("?"))
    places = applied(
        "case",
        *(applied("=", CITY, constant("Oslo")), constant(1)),
        *(applied("=", CITY, constant("Bergen")), constant(0)),
        *(applied("is null", CITY), constant(2)),
        Literal(None, Quantity()),
    )
    empty = {"fare": None, "age": None, "member": None}
    cities = ["Oslo", "Oslo", None, "Bergen", "Oslo"]
    rows = [{"person_id": who, "city": city, **empty} for who, city in enumerate(cities)]
    asked = [Query(CAPPED, (Bucket(value, ("B", "O", "?"), initial),), Rows()) for value in (initial, places)]
    with loaded(catalog(TRIPS), people=rows) as engine:
        assert [answer(engine, query)[0] for query in asked] == [[1, 3, 1]] * 2
        assert engine.render((asked[0],)).parameters != ()
        assert engine.render((asked[1],)).parameters == ()
