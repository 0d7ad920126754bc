"""Shortened vectors as SQL: the same integers as in plain Python, and one person never moves them past the bound."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from math import isqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.engines.check import check_statement
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.render import render
from adomnia.privacy.aggregates import NonNull, Rows, Total
from adomnia.privacy.domains import Numbers
from adomnia.privacy.keys import Bucket
from adomnia.privacy.queries import CLIPPED_PARTS, Clip, Query
from engines.databases import answer, applied, catalog, category, constant, loaded, people, relation, whole
from kit.searches import examples

CITY = category("city", "Oslo", "Bergen", "Hamar")
DEBT = whole("debt", -1000, 1000)
OTHER = 7  # whose rows come and go
CAP = 400


def table(column=DEBT, cap=CAP):
    return people(CITY, column, rows_per_person=cap)


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
        for keys in ((), (CITY,))
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
    query = Query(relation(declared), (CITY,), Total(DEBT, DEBT.domain, centre=5), Clip(3, counted=True))
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
    counts = [Query(relation(declared), (CITY,), Rows(), Clip(bound)) for bound in (6, 5, 4, 1)]
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
        (found,) = answer(engine, Query(relation(declared), (CITY,), Rows(), Clip(1)))
    assert found == [591, 591, 591]  # 1,024 / sqrt(3) is 591.2


def test_rows_without_a_cell_shorten_nothing():
    declared = table()
    some = rows_of(1, DEBT, ("Oslo", 1.0, 3), (None, 1.0, 50), ("Atlantis", 1.0, 50))
    with loaded(catalog(declared), people=some) as engine:
        (found,) = answer(engine, Query(relation(declared), (CITY,), Rows(), Clip(3)))
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
    query = Query(relation(declared), (CITY,), Total(DEBT, DEBT.domain), Clip(bound))
    with loaded(catalog(declared), people=some) as engine:
        (found,) = answer(engine, query)
    entries = defaultdict(lambda: [0, 0, 0])
    for row in some:
        if row["city"] in CITY.kind.values:
            entries[row["person_id"]][CITY.kind.values.index(row["city"])] += DEBT.domain.grid(row["debt"]) or 0
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
    query = Query(relation(declared), (CITY,), Total(column, domain), Clip(min(bound, LARGE)))
    some = []
    for city, entry in zip(CITY.kind.values, entries, strict=True):
        reach = max(-domain.grid_upper, min(domain.grid_upper, entry))
        some += rows_of(OTHER, column, (city, float(reach), 1))
    with loaded(catalog(declared), people=some) as engine:
        (found,) = answer(engine, query)
    assert sum(value**2 for value in found) <= (CLIPPED_PARTS * bound) ** 2
    assert check_statement(render((query,), DUCKDB), catalog(declared), DUCKDB, query.cells) == (query.sensitivity(),)


def test_the_factor_stays_below_the_bound_for_every_rounding():
    """A factor that is not shrunken can round up: then a part too many appears, which this test would see."""
    for bound in range(1, 400):
        text = render((Query(relation(table()), (CITY,), Rows(), Clip(bound)),), DUCKDB).text
        numerator = Fraction(float(text.split("* (")[1].split(" /")[0]))
        assert CLIPPED_PARTS * bound * (1 - Fraction(1, 2**39)) < numerator
        assert numerator <= CLIPPED_PARTS * bound * (1 - Fraction(1, 2**40))
