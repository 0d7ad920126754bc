"""What aggregates repeat is computed once: the same integers, the same proof, and a text that does not multiply."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan

import pytest

from adomnia.engines.check import check_statement
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.render import render
from adomnia.engines.render.computed import presence_key
from adomnia.errors import Failure
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Call, Column, Literal, call, columns_of, map_columns
from adomnia.privacy.keys import Blocks, Bucket
from adomnia.privacy.kinds import Boolean, Quantity
from adomnia.privacy.queries import Clip, Query
from adomnia.privacy.relations import Join, Named, Where
from adomnia.privacy.scans import DistinctValues, NonNull, People, Rows, Total
from adomnia.privacy.vectors import Variable, Vector
from engines.databases import (
    PERSON,
    answer,
    applied,
    catalog,
    category,
    constant,
    evaluate,
    loaded,
    number,
    people,
    relation,
    whole,
)
from engines.databases import constant as written
from kit.polynomials import bernstein

FARE = number("fare", -10, 90)
AGE = whole("age", 18, 120)
CITY = category("city", "Oslo", "Bergen")
PEOPLE = people(FARE, AGE, CITY, rows_per_person=3)
CATALOG = catalog(PEOPLE)
ROWS = [
    {"person_id": k % 7, "fare": fare, "age": age, "city": city}
    for k, (fare, age, city) in enumerate(
        [(1.5, 20, "Oslo"), (None, 30, "Bergen"), (90.0, None, "Oslo"), (nan, 18, None), (-10.0, 120, "Bergen")] * 4
    )
]

SUM = applied("+", FARE, AGE)
WIDE = Numbers.bounded(8, 210)
NARROW = Numbers.bounded(20, 60)
SUMS = (Total(SUM, WIDE), replace(Total(SUM, WIDE), centre=WIDE.middle), NonNull(SUM), Total(SUM, NARROW))
NINE = Vector(
    (Variable(SUM, NARROW), Variable(AGE, AGE.domain)),
    tuple(one * two for one in bernstein(2, NARROW.width, 0, 2) for two in bernstein(2, AGE.domain.width, 1, 2)),
)
OLD = applied(">", SUM, written(60))
CUTS = (*range(20, 120, 10), 120)
PLACED = applied(
    "case", *(part for k, cut in enumerate(CUTS) for part in (applied("<", AGE, written(cut)), written(k))), written(11)
)
LONG = Bucket(PLACED, Numbers.integers(0, 11), PLACED)
KEYS = {
    "no key": (),
    "a category": (CITY,),
    "a condition": (Bucket(OLD, None, OLD),),
    "a number": (Bucket(AGE, Numbers.integers(18, 120), AGE),),
    "a long value": (CITY, LONG),
}


def ask(*aggregates, keys=(), rows=None):
    return tuple(Query(rows or relation(PEOPLE), keys, aggregate) for aggregate in aggregates)


def joined():
    """All pairs of rows of one person."""
    return Join(Named(relation(PEOPLE), "a"), Named(relation(PEOPLE), "b"), (), outer=True)


@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
def test_together_they_are_what_each_is_alone(keys):
    """Alone, a sum from 0 and a count are written out as they are."""
    different = (DistinctValues(CITY), DistinctValues(applied("*", AGE, written(2))))
    others = (Rows(), Total(AGE, AGE.domain), *different, *([People()] if keys else []))
    wanted = ask(SUMS[0], SUMS[2], SUMS[3], *others, keys=keys)
    with loaded(CATALOG, people=ROWS) as engine:
        together = answer(engine, *wanted)
        assert "computed" in engine.render(wanted).text
        assert together == [answer(engine, each)[0] for each in wanted]


def test_a_sum_from_a_centre_and_a_vector_are_what_they_are_of_plain_numbers():
    with loaded(CATALOG, people=ROWS) as engine:
        plain, centred, counted = answer(engine, *ask(*SUMS[:3]))
        (nine,) = answer(engine, *ask(NINE))
        assert centred == plain - WIDE.middle * counted
    kept = [(NARROW.grid(row["fare"] + row["age"]), row["age"]) for row in ROWS if _has_both(row)]
    steps = [(grid - NARROW.grid_lower, age - 18) for grid, age in kept]
    assert nine == [sum(entry.at(step) for step in steps) for entry in NINE.entries]


def _has_both(row):
    return row["fare"] is not None and row["fare"] == row["fare"] and row["age"] is not None


@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
def test_the_second_look_proves_of_it_what_the_plan_says(keys):
    for rows in (relation(PEOPLE), Where(relation(PEOPLE), OLD)):
        wanted = ask(*SUMS, NINE, Rows(), keys=keys, rows=rows)
        widths = tuple(each.columns for each in wanted)
        found = check_statement(render(wanted, DUCKDB), CATALOG, DUCKDB, wanted[0].provable, widths)
        assert found == tuple(each.sensitivity() for each in wanted)


def test_the_sides_of_a_join_keep_their_columns_apart():
    rows = joined()
    mine, other = (column for column in rows.columns if column.name == "age")
    young, older, grid = applied("<", mine, written(25)), applied("-", mine, other), Numbers.integers(-102, 102)
    wanted = ask(
        Total(older, grid), NonNull(older), Total(other, other.domain), rows=rows, keys=(Bucket(young, None, young),)
    )
    with loaded(CATALOG, people=ROWS) as engine:
        assert "computed" in engine.render(wanted).text
        assert answer(engine, *wanted) == [answer(engine, each)[0] for each in wanted]
    found = check_statement(render(wanted, DUCKDB), CATALOG, DUCKDB)
    assert found == tuple(each.sensitivity() for each in wanted)


def left_out():
    """Whether a LEFT JOIN found no row of the other side, which names the person of that side."""
    return Call("is null", (replace(PERSON, source="b", optional=True),), Boolean())


@pytest.mark.parametrize(
    ("others", "keys"),
    [
        ([NonNull(replace(PERSON, source="b", optional=True))], ()),
        ([NonNull(applied("case", left_out(), written(1), Literal(None, Quantity())))], ()),
        ([], (Bucket(applied("not", left_out()), None, applied("not", left_out())),)),
    ],
    ids=["counted", "in a condition", "in a key"],
)
def test_a_person_whom_a_left_join_leaves_out_is_not_the_one_of_the_row(others, keys):
    young = Named(Where(relation(PEOPLE), applied("<", AGE, written(19))), "b")
    rows = Join(Named(relation(PEOPLE), "a"), young, (), outer=True)
    (older, _) = (applied("+", column, written(1)) for column in rows.columns if column.name == "age")
    grid = Numbers.integers(19, 121)
    wanted = ask(Total(older, grid), replace(Total(older, grid), centre=70), *others, Rows(), rows=rows, keys=keys)
    with loaded(CATALOG, people=ROWS) as engine:
        together, alone = answer(engine, *wanted), [answer(engine, each)[0] for each in wanted]
    assert together == alone
    found, everybody = (alone[2], alone[-1]) if others else (alone[-1][1], sum(alone[-1]))
    assert 0 < found < everybody  # or it would not matter whose person it is


def test_the_long_value_of_a_key_is_written_once():
    (counted,) = ask(Rows(), keys=(CITY, LONG))
    text = render((counted,), DUCKDB).text
    assert text.startswith('SELECT "c0" AS k0, "v0 grid" AS k1, COUNT(*) AS m0 FROM (SELECT ')
    assert text.count("< 70.0e0") == 1
    (short,) = ask(Rows(), keys=(Bucket(SUM, WIDE, SUM),))
    assert " FROM (SELECT" not in render((short,), DUCKDB).text


def test_blocks_of_people_are_keys_of_what_is_computed_inside_too():
    wanted = ask(*SUMS, NINE, keys=(Blocks(3),))
    with loaded(CATALOG, people=ROWS) as engine:
        assert "computed" in engine.render(wanted).text
        assert answer(engine, *wanted) == [answer(engine, each)[0] for each in wanted]


def test_a_value_is_written_once_however_many_aggregates_look_at_it():
    long = SUM
    for _ in range(40):
        long = applied("+", long, FARE)
    once = len(render(ask(Total(long, WIDE)), DUCKDB).text) / 3  # a grid alone writes its value three times
    moments = (NonNull(long), *(replace(Total(long, WIDE), centre=centre) for centre in range(8)))
    assert len(render(ask(*moments), DUCKDB).text) < 2 * once


@pytest.mark.parametrize(
    ("aggregates", "keys"),
    [
        ((Total(SUM, WIDE),), ()),
        ((Total(FARE, FARE.domain), replace(Total(FARE, FARE.domain), centre=7), NonNull(FARE)), ()),
        ((Total(SUM, WIDE), NonNull(SUM), People(PERSON)), (CITY,)),
        ((Rows(), Total(SUM, WIDE)), (Bucket(applied("is null", SUM), None, applied("is null", SUM)),)),
    ],
    ids=["written once", "stored", "another person than that of the row", "told side by side"],
)
def test_nothing_is_computed_inside_where_nothing_repeats_or_it_must_stay(aggregates, keys):
    assert "computed" not in render(ask(*aggregates, keys=keys), DUCKDB).text


def test_what_may_be_no_number_stays_where_it_is_counted():
    far = applied("*", number("far", -1e300, 1e300), number("off", -1e300, 1e300))
    table = people(*columns_of(far))
    wanted = tuple(Query(relation(table), (), each) for each in (Total(far, WIDE), NonNull(far)))
    assert "computed" not in render(wanted, DUCKDB).text


def test_columns_of_an_expression_are_exchanged_and_nothing_else_is():
    assert map_columns(SUM, lambda column: FARE if column == AGE else AGE) == applied("+", AGE, FARE)
    assert map_columns(written(3), lambda _: FARE) == written(3)
    assert isinstance(map_columns(OLD, lambda column: column).kind, Boolean)


@pytest.mark.parametrize(
    ("lie", "refused"),
    [
        (("THEN 210", "THEN 2100"), False),
        (("AS BIGINT) END", "AS INTEGER) END"), True),
        (("TRY_CAST(FLOOR(CAST", "CAST(FLOOR(CAST"), True),
        (("+ 0.5e0", "+ 7.5e0"), True),
    ],
    ids=["a higher end", "a narrow integer", "a cast that fails", "another rounding"],
)
def test_a_grid_inside_is_believed_as_far_as_its_text_proves_it(lie, refused):
    whole_numbers = Numbers.integers(8, 210)
    wanted = ask(replace(Total(SUM, whole_numbers), centre=100), Rows())
    honest = render(wanted, DUCKDB)
    changed = replace(honest, text=honest.text.replace(*lie))
    assert changed.text != honest.text
    if refused:
        with pytest.raises(Failure):
            check_statement(changed, CATALOG, DUCKDB)
    else:
        assert check_statement(changed, CATALOG, DUCKDB)[0].l1 > wanted[0].sensitivity().l1


X = number("x", -10, 10)
FREE = Column("free", Quantity())
TABLE = people(CITY, X, FREE, rows_per_person=3)
UNGUARDED = applied("-", applied("*", FREE, constant(10**308)), applied("*", FREE, constant(10**308)))
TOTAL = Total(X, X.domain, centre=3)
SMALL = Numbers.integers(-5, 5)
ENDS = Vector((Variable(X, SMALL),), tuple(bernstein(1, SMALL.width, 0, 1)))
VALUES = [None, nan, inf, -inf, 0.0, -10.0, 2.5, 1e300]
ROWS_OF_PRESENCE = [
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
    with loaded(catalog(TABLE), people=ROWS_OF_PRESENCE) as engine:
        assert answer(engine, *alone) == [*expected(value, ROWS_OF_PRESENCE)]
        cities = [
            expected(value, [row for row in ROWS_OF_PRESENCE if row["city"] == city]) for city in CITY.kind.values
        ]
        assert answer(engine, *grouped) == [list(each) for each in zip(*cities, strict=True)]


@pytest.mark.parametrize("keys", [(), (CITY,)], ids=["alone", "by city"])
def test_a_vector_of_the_same_groups_shares_a_statement_with_counts_that_are_told_as_groups(keys):
    asked = by(*keys, missing(X)), by(*keys, missing(X), aggregate=ENDS), by(*keys, missing(X), aggregate=TOTAL)
    statement, columns = render(asked, DUCKDB), tuple(query.columns for query in asked)
    found = check_statement(statement, catalog(TABLE), DUCKDB, asked[0].provable, columns)
    assert found == tuple(query.sensitivity() for query in asked)
    with loaded(catalog(TABLE), people=ROWS_OF_PRESENCE) as engine:
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
