"""Vectors as SQL: the same integers as plain Python on every row, and no step that leaves its type."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from math import inf, nan
from operator import mul
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.engines.check import check_statement
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.render import render
from adomnia.engines.render.vectors import factor, factor_centred, render_product, render_sum
from adomnia.privacy.domains import Numbers
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Rows, Total
from adomnia.privacy.transforms.matrices import Combination, Matrix
from adomnia.privacy.vectors import Polynomial, Variable, Vector, constant, variable
from engines.databases import answer, applied, catalog, category, loaded, number, people, relation, whole
from engines.databases import constant as written
from kit.polynomials import bernstein, polynomials
from kit.searches import examples

FARE = number("fare", -10, 90, Fraction(1, 64))
AGE = whole("age", 18, 120)
CITY = category("city", "Oslo", "Bergen")
TRIPS = people(FARE, AGE, CITY, rows_per_person=3)
BOTH = (Variable(FARE, FARE.domain), Variable(AGE, AGE.domain))
NINE = Vector(BOTH, tuple(one * two for one in bernstein(2, 6400, 0, 2) for two in bernstein(2, 102, 1, 2)))
ENDS = Vector(BOTH[1:], tuple(bernstein(1, 102, 0, 1)))
ROWS = 2**48
NARROW = replace(DUCKDB, types=replace(DUCKDB.types, sum=DUCKDB.types.long))
LAST = 2**15 - 1  # what so many rows add up to in 64 bits


def query(aggregate, *keys, cap=3):
    return Query(relation(TRIPS, cap=cap), keys, aggregate)


def expected(vector, rows):
    """The sums by definition, of rows that hold a value or None for each variable."""
    sums = [0] * len(vector.entries)
    for row in rows:
        for place, entry in enumerate(vector.entries):
            added = 0
            for coefficient, exponents in entry.terms:
                named = [(value, e) for value, e in zip(row, exponents, strict=True) if e]
                added = (
                    None
                    if added is None or any(value is None for value, _ in named)
                    else added + coefficient * (_product(named))
                )
            sums[place] += added or 0
    return sums


def _product(powers):
    found = 1
    for value, exponent in powers:
        found *= value**exponent
    return found


def test_an_entry_is_put_together_from_sums_of_products():
    assert render((query(ENDS, CITY),), DUCKDB).text == (
        'SELECT "city" AS k0, CAST(CAST(102 AS HUGEINT) * COUNT("age") + '
        'CAST((-1) AS HUGEINT) * SUM((CAST("age" AS BIGINT) - 18)) AS BIGINT) AS m0, '
        'CAST(CAST(1 AS HUGEINT) * SUM((CAST("age" AS BIGINT) - 18)) AS BIGINT) AS m1 '
        'FROM "people" WHERE "rank" <= 3 GROUP BY 1'
    )


CENTRED = tuple(constant(2, 2) * variable(place, 2) - constant(width, 2) for place, width in enumerate((6400, 102)))


def test_a_product_of_distances_from_the_middles_is_written_as_that():
    text = render((query(Vector(BOTH, (constant(3, 2) * CENTRED[0] * CENTRED[1],))),), DUCKDB).text
    summed = 'SUM((CAST("fare grid" AS BIGINT) - 2560) * (CAST("age" AS BIGINT) - 69))'
    assert f"CAST(12 AS HUGEINT) * {summed}" in text
    assert "0 *" not in text


ODD = Variable(AGE, Numbers(18, 121, 1))
OFF = constant(2, 2) * variable(1, 2) - constant(103, 2)


def test_a_middle_between_two_steps_is_counted_in_halves():
    text = render((query(Vector((BOTH[0], ODD), (CENTRED[0] * OFF * OFF,))),), DUCKDB).text
    assert (
        'CAST(2 AS HUGEINT) * SUM((CAST("c0 grid" AS BIGINT) - 2560) * (2 * "v0 grid" - 139) * (2 * "v0 grid" - 139))'
        in text
    )


def test_powers_of_one_variable_from_its_middle_are_one_sum():
    from_middle = constant(2, 1) * variable(0, 1) - constant(102, 1)
    text = render((query(Vector(BOTH[1:], (from_middle * from_middle,))),), DUCKDB).text
    assert 'CAST(4 AS HUGEINT) * SUM((CAST("age" AS BIGINT) - 69) * (CAST("age" AS BIGINT) - 69))' in text


@pytest.mark.parametrize("powers", [(1, 1), (2, 1), (1, 3)])
def test_powers_of_distances_from_the_middles_are_found_and_nothing_else(powers):
    product = reduce(mul, [CENTRED[0]] * powers[0] + [CENTRED[1]] * powers[1])
    assert factor_centred(product, (6400, 102)) == (1, powers)
    assert factor_centred(product + constant(1, 2), (6400, 102)) is None
    assert factor_centred(product, (6400, 104)) is None


def test_integers_beyond_64_bits_are_multiplied_in_wide_ones():
    wide = [number("x", 0, 2**36, 1), number("y", -(2**36), 2**36, 1)]
    variables = tuple(Variable(each, each.domain) for each in wide)
    entry = reduce(
        mul, [constant(2, 2) * variable(k, 2) - constant(v.domain.width, 2) for k, v in enumerate(variables)]
    )
    one = Query(relation(people(*wide, rows_per_person=1), cap=1), (), Vector(variables, (entry,)))
    assert 'SUM((CAST("x grid" AS HUGEINT) - 34359738368) * CAST("y grid" AS HUGEINT))' in render((one,), DUCKDB).text


@pytest.mark.parametrize(
    ("exponents", "text"),
    [((2, 1), "x * x * y"), ((0, 1), "y + 0 * x"), ((0, 0), "1 + 0 * x + 0 * y"), ((3, 0), "x * x * x + 0 * y")],
)
def test_a_product_is_missing_where_a_variable_of_its_entry_is(exponents, text):
    assert render_product(exponents, {0: "x", 1: "y"}) == text


def test_a_product_of_distances_from_both_ends_is_written_as_one():
    whole = Vector(BOTH, (variable(0, 2) * (constant(102, 2) - variable(1, 2)) * constant(-3, 2),))
    assert render((query(whole),), DUCKDB).text == (
        'SELECT CAST(CAST((-3) AS HUGEINT) * SUM((CAST("fare grid" AS BIGINT) - (-640)) * '
        '(120 - CAST("age" AS BIGINT))) AS DECIMAL(38, 0)) AS m0 FROM "people" WHERE "rank" <= 3'
    )
    assert render((query(NINE),), DUCKDB).text.count("SUM(") == 9


@pytest.mark.no_cover
def test_products_are_found_again_and_no_other_polynomial_is_taken_for_them():
    chance = Random(3)
    for _ in range(2_000):
        widths = [chance.choice([1, 2, 7, 10**3]) for _ in range(2)]
        powers = tuple((chance.randint(0, 3), chance.randint(0, 3)) for _ in widths)
        scale = chance.choice([-5, -1, 1, 4])
        entry = constant(scale, 2)
        for place, (below, above) in enumerate(powers):
            ends = [variable(place, 2)] * below + [constant(widths[place], 2) - variable(place, 2)] * above
            entry = reduce(mul, ends, entry)
        assert factor(entry, widths) == (scale, powers)
        assert factor(entry + variable(0, 2) * constant(7, 2), widths) != (scale, powers)


def test_variables_that_an_entry_does_not_name_are_not_looked_at():
    text = render((query(Vector(BOTH, (variable(1, 2), constant(5, 2), constant(0, 2)))),), DUCKDB).text
    assert '"fare grid"' not in text
    assert "CAST(CAST(5 AS HUGEINT) * SUM(1) AS BIGINT) AS m1" in text
    assert "CAST(CAST(0 AS HUGEINT) * SUM(1) AS BIGINT) AS m2" in text


def test_vectors_share_a_statement_with_other_aggregates():
    asked = query(Rows(), CITY), query(ENDS, CITY), query(Total(AGE, AGE.domain), CITY)
    assert [place for place in range(9) if f" AS m{place}" in render(asked, DUCKDB).text] == [0, 1, 2, 3]
    rows = [{"person_id": who, "fare": 1.0, "age": 20.0 + who, "city": "Oslo"} for who in range(5)]
    with loaded(catalog(TRIPS), people=rows) as engine:
        assert answer(engine, *asked) == [[5, 0], [[490, 20], [0, 0]], [110, 0]]


@pytest.mark.parametrize("keys", [(), (CITY,)])
def test_what_is_computed_from_scans_is_not_rendered_itself(keys):
    counted = query(Combination(((Matrix.total(2 if keys else 1),),)), *keys)
    assert render(counted.inner, DUCKDB).text == render((query(Rows(), *keys),), DUCKDB).text
    with pytest.raises(TypeError, match="of one column, got Combination"):
        render((counted,), DUCKDB)


VALUES = [None, nan, inf, -inf, -10.0, 90.0, 0.0, 0.0078125, 0.0078124, 33.3, 500.0]


def test_sums_are_those_of_plain_python_with_whatever_values():
    rows = [
        {"person_id": who, "fare": fare, "age": age, "city": ("Oslo", "Bergen", None)[(who + place) % 3]}
        for who, fare in enumerate(VALUES)
        for place, age in enumerate([None, 18.0, 120.0])
    ]
    doubled = Variable(applied("*", FARE, written(2)), Numbers(-20, 180, Fraction(1, 8)))
    wide = Variable(applied("+", FARE, written(2**50)), Numbers(2**50 - 10, 2**50 + 90, Fraction(1, 2**20)))
    with loaded(catalog(TRIPS), people=rows) as engine:
        for vector in (
            NINE,
            ENDS,
            Vector(BOTH, (CENTRED[0] * CENTRED[1], CENTRED[0] * CENTRED[0] * CENTRED[1], CENTRED[0])),
            Vector((BOTH[0], ODD), (CENTRED[0] * OFF, CENTRED[0] * OFF * OFF, OFF, OFF * OFF)),
            Vector(
                BOTH, (variable(1, 2) - variable(1, 2), constant(5, 2), variable(0, 2), variable(0, 2) * variable(1, 2))
            ),
            Vector((doubled, BOTH[1]), (variable(0, 2) * variable(1, 2), variable(0, 2))),
            Vector((wide,), (variable(0, 1), constant(3, 1) - variable(0, 1))),
        ):
            (found,) = answer(engine, query(vector, CITY))
            for city, sums in zip(("Oslo", "Bergen"), found, strict=True):
                own = [row for row in rows if row["city"] == city]
                assert sums == expected(vector, [_stepped(row, vector) for row in own])


def _stepped(row, vector):
    """Grid integers of a row from the lower end: a column is clamped before anything is computed from it."""
    fare = row["fare"] if row["fare"] is None or row["fare"] != row["fare"] else min(max(row["fare"], -10.0), 90.0)
    found = []
    for each in vector.variables:
        value = row["age"] if each.value == AGE else fare
        if value is not None and each.value not in (FARE, AGE):
            value = value * 2 if each.value.function == "*" else value + 2**50
        g = each.domain.grid(value)
        found.append(None if g is None else g - each.domain.grid_lower)
    return found


def test_over_no_rows_every_entry_is_zero():
    with loaded(catalog(TRIPS), people=[]) as engine:
        assert answer(engine, query(NINE), query(ENDS, cap=3)) == [[0] * 9, [0, 0]]


class Watched(int):
    """An integer that remembers the largest of all that were computed."""

    largest = 0

    def _made(self, value):
        Watched.largest = max(Watched.largest, abs(value))
        return Watched(value)

    def __add__(self, other):
        return self._made(int(self) + int(other))

    def __sub__(self, other):
        return self._made(int(self) - int(other))

    def __mul__(self, other):
        return self._made(int(self) * int(other))

    def __radd__(self, other):
        return self + other

    def __rmul__(self, other):
        return self * other


@pytest.mark.no_cover
def test_no_step_of_an_entry_leaves_its_bound_in_ten_thousand_cases():
    chance = Random(12)
    for _ in range(10_000):
        variables = chance.randint(0, 3)
        names = [f"x{place}" for place in range(variables)]
        widths = [chance.choice([0, 1, 2, 7, 10**3, 2**20]) for _ in names]
        terms = {}
        for _ in range(chance.randint(0, 5)):
            size = chance.randint(1, 10 ** chance.randint(0, 9))
            terms[tuple(chance.randint(0, 3) for _ in names)] = chance.choice([-1, 1]) * size
        entry = Polynomial(tuple((terms[each], each) for each in sorted(terms)))
        point = [chance.choice([0, width, chance.randint(0, width)]) for width in widths]
        Watched.largest, value = 0, 0
        values = dict(zip(names, map(Watched, point), strict=True))
        for coefficient, exponents in entry.terms:
            value = value + eval(render_product(exponents, dict(enumerate(names))), {}, values) * Watched(coefficient)
        assert value == entry.at(point)
        assert Watched.largest <= max(1, entry.size(widths))


def edges(width):
    """The widest box whose nine sums fit, and entries at the edge of a type."""
    return Vector(
        tuple(Variable(each, each.domain) for each in (whole("a", -5, width - 5), whole("b", 1, 1 + width))),
        tuple(one * two for one in bernstein(2, width, 0, 2) for two in bernstein(2, width, 1, 2)),
    )


@pytest.mark.parametrize(("width", "wide"), [(2**14, False), (2**16, True), (2**18, True)])
def test_the_extremes_of_a_box_are_added_up_exactly(width, wide):
    vector = edges(width)
    columns = [each.value for each in vector.variables]
    table = people(*columns, rows_per_person=1)
    corners = [(a, b) for a in (-5, width // 2, width - 5) for b in (1, 1 + width // 3, 1 + width)]
    rows = [{"person_id": who, "a": float(a), "b": float(b)} for who, (a, b) in enumerate(corners * 3)]
    asked = Query(relation(table, cap=1), (), vector)
    statement = render((asked,), DUCKDB)
    assert ('CAST("b" AS HUGEINT)' in statement.text) == wide
    assert 'CAST("a" AS HUGEINT)' not in statement.text  # what is multiplied first fits less
    assert check_statement(statement, catalog(table), DUCKDB, (), (9,)) == (asked.sensitivity(),)
    with loaded(catalog(table), people=rows) as engine:
        (found,) = answer(engine, asked)
    assert found == expected(vector, [(a + 5, b - 1) for a, b in corners * 3])
    assert sum(found) == len(rows) * width**4


@pytest.mark.parametrize("far", [2**61, -(2**61), 2**77, -(2**77)])
def test_constants_at_the_edge_of_a_type_are_added_up_exactly(far):
    """DuckDB adds up SUM(x + constant) as SUM(x) + constant * COUNT(x): that must not leave 64 bits either."""
    entry = variable(0, 1) * constant(3, 1) + constant(far, 1)
    vector = Vector((Variable(AGE, AGE.domain),), (entry, constant(far, 1) - variable(0, 1)))
    rows = [{"person_id": who, "fare": None, "age": 18.0 + who, "city": "Oslo"} for who in range(30)]
    asked = query(vector, cap=1)
    assert check_statement(render((asked,), DUCKDB), catalog(TRIPS), DUCKDB, (), (2,)) == (asked.sensitivity(),)
    with loaded(catalog(TRIPS), people=rows) as engine:
        assert answer(engine, asked) == [expected(vector, [(who,) for who in range(30)])]


def test_a_grid_far_from_zero_is_computed_in_integers_that_hold_it():
    code = whole("code", 2**70, 2**70 + 2**20)
    vector = Vector((Variable(code, code.domain),), tuple(bernstein(1, 2**20, 0, 1)))
    table = people(code, rows_per_person=1)
    asked = Query(relation(table), (), vector)
    assert f'CAST("code" AS HUGEINT) - {2**70}' in render((asked,), DUCKDB).text
    assert check_statement(render((asked,), DUCKDB), catalog(table), DUCKDB, (), (2,)) == (asked.sensitivity(),)
    with loaded(catalog(table), people=[{"person_id": 1, "code": float(2**70 + 2**19)}]) as engine:
        assert answer(engine, asked) == [[2**19, 2**19]]


def test_a_grid_wider_than_its_ends_are_far_is_counted_in_integers_that_hold_its_width():
    """Both ends fit 64 bits, their distance does not: also where the variable is only multiplied by 0."""
    end = 2**62 + 2**20
    code = whole("code", -end, end)
    vector = Vector((Variable(code, code.domain), BOTH[1]), (variable(0, 2) + variable(1, 2),))
    table = people(code, AGE, rows_per_person=1)
    asked = Query(relation(table), (), vector)
    assert check_statement(render((asked,), DUCKDB), catalog(table), DUCKDB, (), (1,)) == (asked.sensitivity(),)
    rows = [{"person_id": who, "code": float(far), "age": 20.0} for who, far in enumerate((-end, end, end))]
    with loaded(catalog(table), people=rows) as engine:
        assert answer(engine, asked) == [[4 * end + 6]]


def test_sums_of_more_than_there_is_room_for_are_not_rendered():
    vector = Vector((Variable(AGE, AGE.domain),), (constant(2**78, 1),))
    with pytest.raises(ValueError, match=r"Vector must stay below 10\*\*38"):
        render((Query(relation(TRIPS, cap=2**20), (), vector),), DUCKDB)


@given(st.lists(polynomials(2), min_size=1, max_size=4))
@settings(max_examples=examples(24), deadline=None)
def test_any_polynomials_are_found_again_from_their_text(entries):
    asked = query(Vector(BOTH, tuple(entries)), CITY)
    derived = check_statement(render((asked,), DUCKDB), catalog(TRIPS), DUCKDB, asked.cells, (asked.columns,))
    assert derived == (asked.sensitivity(),)


def test_a_sum_of_the_engine_is_taken_where_it_holds_all_rows():
    assert render_sum("x", ROWS, LAST, NARROW) == "SUM(x)"
    assert render_sum("x", ROWS, 2**70, DUCKDB) == "SUM(x)"


def test_wide_integers_are_added_up_as_such():
    assert render_sum("x", ROWS, 2**64, NARROW) == "SUM(CAST(x AS HUGEINT))"
    assert render_sum("CAST(x AS HUGEINT)", ROWS, LAST + 1, NARROW) == "SUM(CAST(CAST(x AS HUGEINT) AS HUGEINT))"
    assert render_sum("x", 2**56, LAST, NARROW) == "SUM(CAST(x AS HUGEINT))"  # pieces would have few bits


def test_others_are_added_up_in_pieces_of_their_bits():
    two = "(CAST(SUM((x) & 32767) AS HUGEINT) + CAST(SUM((x) >> 15) AS HUGEINT) * 32768)"
    assert render_sum("x", ROWS, LAST + 1, NARROW) == two
    three = "CAST(SUM(((x) >> 15) & 32767) AS HUGEINT) * 32768 + CAST(SUM((x) >> 30) AS HUGEINT) * 1073741824)"
    assert render_sum("x", ROWS, 2**30, NARROW) == two.split("CAST(SUM((x) >>", maxsplit=1)[0] + three


@pytest.mark.parametrize("size", [LAST + 1, 2**20, 2**30 - 2**15, 2**30, 2**31 - 1, 2**45, 2**62, 2**63 - 1])
@pytest.mark.parametrize("rows", [ROWS, 2**40, 2**54])
def test_pieces_add_up_to_the_integer_and_none_is_too_wide(size, rows):
    draw = random.Random(size)
    text = render_sum("x", rows, size, NARROW).replace("CAST(", "(").replace(" AS HUGEINT", "").replace("SUM", "piece")
    found = []

    def piece(value):
        found.append(value)
        return value

    for x in (0, 1, -1, size, -size, *(draw.randint(-size, size) for _ in range(50))):
        assert eval(text, {"piece": piece, "x": x}) == x
    assert all(rows * abs(value) <= 2**63 - 1 for value in found)
