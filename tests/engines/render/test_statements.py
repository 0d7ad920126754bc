"""Shortened vectors as SQL: the same integers as in plain Python, and one person never moves them past the bound."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from math import isqrt
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.engines.check import check_statement
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.render import render
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column, Literal
from adomnia.privacy.keys import Bucket
from adomnia.privacy.kinds import Boolean, Quantity
from adomnia.privacy.queries import CLIPPED_PARTS, Clip, Query
from adomnia.privacy.relations import Where
from adomnia.privacy.scans import DistinctValues, Histogram, NonNull, People, Rows, Total
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


CITY_OF_CLIPPED = category("city", "Oslo", "Bergen", "Hamar")
DEBT = whole("debt", -1000, 1000)
OTHER = 7  # whose rows come and go
CAP = 400


def table(column=DEBT, cap=CAP):
    return people(CITY_OF_CLIPPED, column, rows_per_person=cap)


def rows_of(person, column, *counted):
    """Rows of one person: (city, value) as often as said."""
    return [
        {"person_id": person, "city": city, column.name: value} for city, value, times in counted for _ in range(times)
    ]


def asked(declared, column, bound):
    """Counts, counts of values, and sums from two centres, shortened by their own length and by that of rows."""
    source = relation(declared)
    totals = (Total(column, column.domain), Total(column, column.domain, centre=column.domain.middle - 3))
    return [
        Query(source, keys, aggregate, Clip(bound, counted))
        for keys in ((), (CITY_OF_CLIPPED,))
        for aggregate in (Rows(), NonNull(column), *totals)
        for counted in (False, True)
    ]


def lengths(query, one, other):
    """How far apart two answers are: L1, squared L2 and Linf."""
    moves = [abs(a - b) for a, b in zip(flat(one), flat(other), strict=True)]
    return sum(moves), sum(move**2 for move in moves), max(moves)


def flat(answer):
    return answer if isinstance(answer, list) else [answer]


def both(declared, rows, queries):
    """The answers with everybody, and without one person."""
    found = []
    for some in (rows, [row for row in rows if row["person_id"] != OTHER]):
        with loaded(catalog(declared), people=some) as engine:
            found.append(answer(engine, *queries[:8]) + answer(engine, *queries[8:]))
    return found


def test_queries_are_rendered_as_three_selects():
    declared = table(cap=10)
    query = Query(relation(declared), (CITY_OF_CLIPPED,), Total(DEBT, DEBT.domain, centre=5), Clip(3, counted=True))
    shortened = (
        "CASE WHEN n1 <= 9 THEN v0 * 1024 ELSE TRY_CAST(TRUNC(CAST(v0 AS DOUBLE) * "
        "(3071.999999997206e0 / SQRT(CAST(n1 AS DOUBLE)))) AS BIGINT) END"
    )
    entries = 'CAST(SUM("debt") - CAST(5 AS HUGEINT) * COUNT("debt") AS BIGINT) AS v0, CAST(COUNT(*) AS BIGINT) AS v1'
    squares = 'SUM(CAST(v1 AS HUGEINT) * CAST(v1 AS HUGEINT)) OVER (PARTITION BY "person") AS n1'
    inner = f'SELECT "person" AS "person", "city" AS k0, {entries} FROM "people" WHERE "rank" <= 10 GROUP BY 1, 2'
    middle = f'SELECT k0, v0, v1, {squares} FROM ({inner}) AS "rows" WHERE k0 IS NOT NULL'
    text = f'SELECT k0, CAST(SUM({shortened}) AS DECIMAL(38, 0)) AS m0 FROM ({middle}) AS "rows" GROUP BY 1'
    assert render((query,), DUCKDB).text == text


def test_what_is_shortened_and_what_is_not_are_two_statements():
    declared = table()
    with pytest.raises(ValueError, match="must share"):
        render((Query(relation(declared), (), Rows()), Query(relation(declared), (), Rows(), Clip(3))), DUCKDB)


def test_one_statement_computes_each_entry_once():
    queries = tuple(asked(table(), DEBT, 5)[8:])
    text = render(queries, DUCKDB).text
    assert text.count(" OVER ") == 4
    assert [text.count(f"AS v{place},") + text.count(f"AS v{place} FROM") for place in range(5)] == [1, 1, 1, 1, 0]


def test_a_vector_that_fits_is_left_as_it_is_and_one_that_does_not_keeps_its_direction():
    declared = table()
    some = rows_of(1, DEBT, ("Oslo", 1.0, 3), ("Bergen", 1.0, 4))
    counts = [Query(relation(declared), (CITY_OF_CLIPPED,), Rows(), Clip(bound)) for bound in (6, 5, 4, 1)]
    with loaded(catalog(declared), people=some) as engine:
        found = [answer(engine, query)[0] for query in counts]
    parts = CLIPPED_PARTS
    assert found[:2] == [[3 * parts, 4 * parts, 0]] * 2
    # Shortened by a little more than needed, and rounded towards zero: 3 * 4/5 of 1,024 parts is 2457.6.
    assert found[2:] == [[2457, 3276, 0], [614, 819, 0]]


def test_entries_of_one_row_each_do_not_all_vanish_by_rounding():
    """In whole rows, 3 cities with one row each, shortened from a length of 1.73 to 1, would all be 0."""
    declared = table()
    some = rows_of(1, DEBT, ("Oslo", 1.0, 1), ("Bergen", 1.0, 1), ("Hamar", 1.0, 1))
    with loaded(catalog(declared), people=some) as engine:
        (found,) = answer(engine, Query(relation(declared), (CITY_OF_CLIPPED,), Rows(), Clip(1)))
    assert found == [591, 591, 591]  # 1,024 / sqrt(3) is 591.2


def test_rows_without_a_cell_shorten_nothing():
    declared = table()
    some = rows_of(1, DEBT, ("Oslo", 1.0, 3), (None, 1.0, 50), ("Atlantis", 1.0, 50))
    with loaded(catalog(declared), people=some) as engine:
        (found,) = answer(engine, Query(relation(declared), (CITY_OF_CLIPPED,), Rows(), Clip(3)))
    assert found == [3 * CLIPPED_PARTS, 0, 0]


def test_an_empty_table_has_zeros():
    declared = table()
    with loaded(catalog(declared), people=[]) as engine:
        assert [answer(engine, query)[0] for query in asked(declared, DEBT, 2)] == [0] * 8 + [[0, 0, 0]] * 8


def test_keys_may_be_expressions():
    declared = table()
    negative = applied("<", DEBT, constant(0))
    key = Bucket(negative, None, negative)
    some = rows_of(1, DEBT, ("Oslo", -5.0, 3), ("Oslo", 5.0, 4), ("Oslo", None, 9))
    query = Query(relation(declared), (key,), Rows(), Clip(5))
    with loaded(catalog(declared), people=some) as engine:
        assert answer(engine, query) == [[4 * CLIPPED_PARTS, 3 * CLIPPED_PARTS]]
    assert check_statement(render((query,), DUCKDB), catalog(declared), DUCKDB, query.cells) == (query.sensitivity(),)


values = st.none() | st.sampled_from([0.0, 1.0, -1.0, 3.0, 1000.0, -1000.0, 1e9, -1e9, 17.0, float("nan")])
rows = st.lists(
    st.tuples(
        st.sampled_from([1, 2, OTHER, OTHER, OTHER]),
        st.sampled_from([None, "Oslo", "Bergen", "Hamar", "Atlantis"]),
        values,
        st.sampled_from([1, 2, 5, 90]),
    ),
    max_size=8,
)


@settings(max_examples=examples(16), deadline=None)
@given(rows=rows, bound=st.sampled_from([1, 2, 3, 7, 50, 120, 400]))
def test_one_person_moves_shortened_vectors_by_their_sensitivity_at_most(rows, bound):
    declared = table()
    some = [row for person, *counted in rows for row in rows_of(person, DEBT, tuple(counted))]
    queries = asked(declared, DEBT, bound)
    for query, one, other in zip(queries, *both(declared, some, queries), strict=True):
        sensitivity, (l1, l2_squared, linf) = query.sensitivity(), lengths(query, one, other)
        assert l1 <= sensitivity.l1
        assert l2_squared <= sensitivity.l2_squared
        assert linf <= sensitivity.linf
        if sensitivity.monotone:
            assert all(a >= b for a, b in zip(flat(one), flat(other), strict=True))


@pytest.mark.parametrize("bound", [1, 3, 120, 400])
def test_the_second_look_finds_the_same_sensitivities(bound):
    queries = asked(table(), DEBT, bound)
    for together in (tuple(queries[:8]), tuple(queries[8:])):
        found = check_statement(render(together, DUCKDB), catalog(table()), DUCKDB, together[0].cells)
        assert found == tuple(query.sensitivity() for query in together)


@settings(max_examples=examples(16), deadline=None)
@given(rows=rows, bound=st.sampled_from([1, 2, 3, 7, 50, 120, 400]))
def test_shortened_vectors_are_those_of_exact_arithmetic(rows, bound):
    """Within one part for each person: doubles and the shrunken factor may lose one, and never add one."""
    declared = table()
    some = [row for person, *counted in rows for row in rows_of(person, DEBT, tuple(counted))][:CAP]
    query = Query(relation(declared), (CITY_OF_CLIPPED,), Total(DEBT, DEBT.domain), Clip(bound))
    with loaded(catalog(declared), people=some) as engine:
        (found,) = answer(engine, query)
    entries = defaultdict(lambda: [0, 0, 0])
    for row in some:
        if row["city"] in CITY_OF_CLIPPED.kind.values:
            entries[row["person_id"]][CITY_OF_CLIPPED.kind.values.index(row["city"])] += (
                DEBT.domain.grid(row["debt"]) or 0
            )
    for place in range(3):
        wanted = sum(shortened(own, place, bound) for own in entries.values())
        assert abs(found[place] - wanted) <= len(entries)


def shortened(entries, place, bound):
    squares = sum(entry**2 for entry in entries)
    if squares <= bound**2:
        return entries[place] * CLIPPED_PARTS
    # floor(parts * |v| * bound / sqrt(n)), exactly: the root of the square of it, rounded down.
    size = isqrt((CLIPPED_PARTS * abs(entries[place]) * bound) ** 2 // squares)
    return size if entries[place] >= 0 else -size


LARGE = 2**52
ATTACKS = [
    (bound, entries)
    for bound in (1, 3, 2**20 + 1, 2**51 + 1, LARGE - 1)
    for entries in (
        (bound, 1, 0),
        (bound, bound, bound),
        (-bound, 1, -1),
        (LARGE - 2, 1, 1),
        (1, 1, 1),
        ((LARGE - 2) // 3,) * 3,
        (-(LARGE - 2) // 3, (LARGE - 2) // 3, (LARGE - 2) // 5),
    )
    if sum(map(abs, entries)) <= LARGE
]


@pytest.mark.parametrize(("bound", "entries"), ATTACKS)
@pytest.mark.no_cover
def test_rounding_never_adds_to_a_length(bound, entries):
    """Squares just above the bound, and integers so large that a double holds them by a hair."""
    domain = Numbers.integers(-LARGE // 4, LARGE // 4)
    column = whole("debt", -LARGE // 4, LARGE // 4)
    declared = table(column, cap=4)
    query = Query(relation(declared), (CITY_OF_CLIPPED,), Total(column, domain), Clip(min(bound, LARGE)))
    some = []
    for city, entry in zip(CITY_OF_CLIPPED.kind.values, entries, strict=True):
        reach = max(-domain.grid_upper, min(domain.grid_upper, entry))
        some += rows_of(OTHER, column, (city, float(reach), 1))
    with loaded(catalog(declared), people=some) as engine:
        (found,) = answer(engine, query)
    assert sum(value**2 for value in found) <= (CLIPPED_PARTS * bound) ** 2
    assert check_statement(render((query,), DUCKDB), catalog(declared), DUCKDB, query.cells) == (query.sensitivity(),)


def test_the_factor_stays_below_the_bound_for_every_rounding():
    """A factor that is not shrunken can round up: then a part too many appears, which this test would see."""
    for bound in range(1, 400):
        text = render((Query(relation(table()), (CITY_OF_CLIPPED,), Rows(), Clip(bound)),), DUCKDB).text
        numerator = Fraction(float(text.split("* (")[1].split(" /")[0]))
        assert CLIPPED_PARTS * bound * (1 - Fraction(1, 2**39)) < numerator
        assert numerator <= CLIPPED_PARTS * bound * (1 - Fraction(1, 2**40))


FARE_OF_HISTOGRAMS = number("fare", -10, 90, Fraction(1, 64))
TRIPS_OF_HISTOGRAMS = people(FARE_OF_HISTOGRAMS, AGE, CITY)
SHARES = ((Fraction(1, 2),), Fraction(19, 20))


def query(value, domain, *keys, buckets=None):
    return Query(relation(TRIPS_OF_HISTOGRAMS, cap=10), keys, Histogram(value, domain, *SHARES, buckets))


def test_a_value_or_its_bucket_is_one_more_key():
    assert render((query(FARE_OF_HISTOGRAMS, FARE_OF_HISTOGRAMS.domain, CITY),), DUCKDB).text == (
        'SELECT "city" AS k0, (CAST("fare grid" AS BIGINT) - (-640)) >> 3 AS k1, COUNT(*) AS m0 '
        'FROM "people" WHERE "rank" <= 10 GROUP BY 1, 2'
    )
    assert render((query(AGE, AGE.domain),), DUCKDB).text == (
        'SELECT (CAST("age" AS BIGINT) - 0) >> 0 AS k0, COUNT(*) AS m0 FROM "people" WHERE "rank" <= 10 GROUP BY 1'
    )
    assert render((query(FARE_OF_HISTOGRAMS, FARE_OF_HISTOGRAMS.domain, buckets=(3, 4)),), DUCKDB).text == (
        'SELECT CAST("fare grid" AS BIGINT) - (-640) AS k0, COUNT(*) AS m0 FROM "people" WHERE "rank" <= 10 '
        'AND (((CAST("fare grid" AS BIGINT) - (-640)) >> 3) IN (3, 4)) GROUP BY 1'
    )


def test_a_histogram_stands_alone():
    counted = replace(query(FARE_OF_HISTOGRAMS, FARE_OF_HISTOGRAMS.domain), aggregate=Rows())
    with pytest.raises(ValueError, match="share"):
        render((counted, query(FARE_OF_HISTOGRAMS, FARE_OF_HISTOGRAMS.domain)), DUCKDB)


def test_the_counts_are_those_of_the_rows():
    fares = [-10.0, -9.9, None, 0.0, 0.0, 0.01, 89.99, 500.0, float("nan")]
    rows = [
        {"person_id": who, "fare": fare, "age": who, "city": ("Oslo", "Bergen", None)[who % 3]}
        for who, fare in enumerate(fares)
    ]
    double = applied("*", FARE_OF_HISTOGRAMS, constant(2))
    wide = number("fare", -20, 180, Fraction(1, 64)).domain
    with loaded(catalog(TRIPS_OF_HISTOGRAMS), people=rows) as engine:
        for value, domain, factor in ((FARE_OF_HISTOGRAMS, FARE_OF_HISTOGRAMS.domain, 1), (double, wide, 2)):
            for buckets in (None, (0, 80, 799, 100)):
                asked = query(value, domain, CITY, buckets=buckets)
                shift = asked.aggregate.shift
                expected = {}
                for row in rows:
                    place = None if row["fare"] is None else domain.grid(factor * min(max(row["fare"], -10), 90))
                    if place is None or row["city"] is None or row["fare"] != row["fare"]:
                        continue
                    at = place - domain.grid_lower
                    if buckets is None or at >> shift in buckets:
                        cell = (("Oslo", "Bergen").index(row["city"]), at >> shift if buckets is None else at)
                        expected[cell] = expected.get(cell, 0) + 1
                (found,) = answer(engine, asked)
                found = np.asarray(found)
                assert {(cell, at): count for cell, at, count in found.T.tolist()} == expected
