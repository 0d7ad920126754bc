"""What aggregates repeat is computed once: the same integers, the same proof, and a text that does not multiply."""

from __future__ import annotations

from dataclasses import replace
from math import nan

import pytest

from adomnia.engines.check import check_statement
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.render import render
from adomnia.errors import Failure
from adomnia.privacy.aggregates import DistinctValues, NonNull, People, Rows, Total
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Call, Literal, columns_of, map_columns
from adomnia.privacy.keys import Blocks, Bucket
from adomnia.privacy.kinds import Boolean, Quantity
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Join, Named, Where
from adomnia.privacy.vectors import Variable, Vector
from engines.databases import PERSON, answer, applied, catalog, category, loaded, number, people, relation, whole
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
