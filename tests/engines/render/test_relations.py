"""Relations as SQL: every table with its cap where it is read, every private join by the person."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.render import render, render_rows
from adomnia.engines.render.relations import render_person, render_source, render_total
from adomnia.engines.render.scalars import Scalars
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Call, Column, Literal, call, number, text
from adomnia.privacy.kinds import Boolean, Identity, Text
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import (
    Join,
    Named,
    OwnValue,
    PerPerson,
    Private,
    Public,
    Select,
    Selected,
    Union,
    Where,
)
from adomnia.privacy.scans import Average, DistinctValues, NonNull, OwnExtreme, People, Rows, Total
from engines.databases import category, whole
from engines.databases import number as bounded

WHO = Column("person_id", Identity(person=True))
LINK = Column("visit_id", Identity(linked=True))
COST = bounded("cost", 0, 100, Fraction(1, 4))
AGE = whole("age", 0, 120)
WARD = category("ward", "x", "y")
NAME = Column("name", Text())
URGENT = Column("urgent", Boolean())

PEOPLE = Private("people", 1, (WHO, AGE, NAME))
VISITS = Private("visits", 10, (WHO, LINK, COST, WARD, URGENT), ("visit_id",))
PLACES = Public("places", (WARD, NAME), (1, 2))

ONE = '(SELECT * FROM "people" WHERE "rank" <= 1) AS "p"'
TEN = '(SELECT * FROM "visits" WHERE "rank" <= 10) AS "v"'


def of(side, column, optional=False):
    return replace(column, source=side, optional=optional)


def equal(one, other):
    return Call("=", (one, other), Boolean())


def behind_from(relation):
    """What stands behind FROM, with the conditions of WHERE."""
    table, conditions = render_source(relation, Scalars(DUCKDB))
    return " AND ".join([table, *conditions])


def select(relation, *outputs):
    return Select(relation, tuple(Selected(name, value) for name, value in outputs))


PAIRS = Join(Named(PEOPLE, "p"), Named(VISITS, "v"), ())


@pytest.mark.parametrize(
    ("relation", "sql"),
    [
        (VISITS, '"visits" AND "rank" <= 10'),
        (replace(VISITS, rows_per_person=2**48), '"visits"'),
        (PLACES, '"places"'),
        (Where(VISITS, URGENT), '"visits" AND "rank" <= 10 AND ("urgent")'),
        (Named(VISITS, "v"), TEN),
        (Named(replace(VISITS, rows_per_person=2**48), "v"), '"visits" AS "v"'),
        (Named(PLACES, 'a"b'), '"places" AS "a""b"'),
        (Named(Where(PLACES, Literal(True, Boolean())), "x"), '(SELECT * FROM "places" WHERE (TRUE)) AS "x"'),
        (PAIRS, f'{ONE} JOIN {TEN} ON "p"."person" = "v"."person"'),
        (replace(PAIRS, outer=True), f'{ONE} LEFT JOIN {TEN} ON "p"."person" = "v"."person"'),
        (
            replace(PAIRS, outer=True, on=(of("v", URGENT),)),
            f'{ONE} LEFT JOIN {TEN} ON "p"."person" = "v"."person" AND ("v"."urgent")',
        ),
        (Where(PAIRS, of("v", URGENT)), f'{ONE} JOIN {TEN} ON "p"."person" = "v"."person" AND ("v"."urgent")'),
        (
            Join(Named(VISITS, "v"), Named(VISITS, "w"), (equal(of("v", LINK), of("w", LINK)),)),
            (
                f'{TEN} JOIN (SELECT * FROM "visits" WHERE "rank" <= 10) AS "w" '
                'ON "v"."person" = "w"."person" AND (("v"."visit_id" = "w"."visit_id"))'
            ),
        ),
        (
            Join(PAIRS, Named(PLACES, "x"), (equal(of("v", WARD), of("x", WARD)),)),
            f'{ONE} JOIN {TEN} ON "p"."person" = "v"."person" JOIN "places" AS "x" ON (("v"."ward" = "x"."ward"))',
        ),
        (
            Join(replace(PAIRS, outer=True), Named(VISITS, "w"), ()),
            (
                f'{ONE} LEFT JOIN {TEN} ON "p"."person" = "v"."person" '
                'JOIN (SELECT * FROM "visits" WHERE "rank" <= 10) AS "w" ON "p"."person" = "w"."person"'
            ),
        ),
        (
            select(PEOPLE, ("a", AGE)),
            '(SELECT "person" AS "person", "age" AS "a" FROM "people" WHERE "rank" <= 1) AS "rows"',
        ),
        (
            select(PEOPLE, ("who", WHO), ("a", call("+", AGE, number(1)))),
            (
                '(SELECT "person" AS "person", (CAST("age" AS DOUBLE) + 1.0e0) AS "a" '
                'FROM "people" WHERE "rank" <= 1) AS "rows"'
            ),
        ),
        (
            select(VISITS, ("c", COST), ("v", LINK)),
            (
                '(SELECT "person" AS "person", "cost" AS "c", "cost grid" AS "c grid", "visit_id" AS "v" '
                'FROM "visits" WHERE "rank" <= 10) AS "rows"'
            ),
        ),
        (
            select(PAIRS, ("c", of("v", COST))),
            (
                '(SELECT "p"."person" AS "person", "v"."cost" AS "c", "v"."cost grid" AS "c grid" '
                f'FROM {ONE} JOIN {TEN} ON "p"."person" = "v"."person") AS "rows"'
            ),
        ),
        (
            Named(select(PLACES, ("w", WARD)), "x"),
            '(SELECT "ward" AS "w" FROM "places") AS "x"',
        ),
        (
            Union((select(PEOPLE, ("a", AGE)), select(Where(PEOPLE, equal(NAME, text("x"))), ("a", AGE)))),
            (
                '(SELECT "person" AS "person", "age" AS "a" FROM "people" WHERE "rank" <= 1 UNION ALL '
                'SELECT "person" AS "person", "age" AS "a" FROM "people" '
                'WHERE "rank" <= 1 AND (("name" = $1))) AS "rows"'
            ),
        ),
        (PerPerson(VISITS, (), ()), '(SELECT "person" AS "person" FROM "visits" GROUP BY "person") AS "rows"'),
        (
            PerPerson(Where(VISITS, URGENT), (Selected("g0", WARD),), ()),
            (
                '(SELECT "person" AS "person", "ward" AS "g0" FROM "visits" WHERE "rank" <= 10 AND ("urgent") '
                'GROUP BY "person", "ward") AS "rows"'
            ),
        ),
        (
            PerPerson(VISITS, (Selected("g0", COST, stored=False),), ()),
            (
                '(SELECT "person" AS "person", CAST("cost" AS DOUBLE) AS "g0" FROM "visits" WHERE "rank" <= 10 '
                'GROUP BY "person", CAST("cost" AS DOUBLE)) AS "rows"'
            ),
        ),
        (
            PerPerson(PAIRS, (), (OwnValue("v0", OwnExtreme(of("v", COST), greatest=True)),)),
            (
                '(SELECT "p"."person" AS "person", MAX("v"."cost") AS "v0", MAX("v"."cost grid") AS "v0 grid" '
                f'FROM {ONE} JOIN {TEN} ON "p"."person" = "v"."person" GROUP BY "p"."person") AS "rows"'
            ),
        ),
    ],
)
def test_relations_stand_behind_from_with_every_cap_beside_its_table(relation, sql):
    assert behind_from(relation) == sql


SMALL = Numbers.integers(1, 10)
COUNTED, SUMMED = 'COUNT(DISTINCT "visit_id")', 'SUM("cost grid")'


def clamped(integers, low, high, width="BIGINT"):
    return (
        f"CAST(CASE WHEN {integers} < {low} THEN {low} WHEN {integers} > {high} THEN {high} "
        f"ELSE {integers} END AS {width})"
    )


@pytest.mark.parametrize(
    ("value", "sql"),
    [
        (OwnValue("v", Rows(), SMALL), f'{clamped("COUNT(*)", 1, 10)} AS "v"'),
        (OwnValue("v", Rows()), '(CAST(COUNT(*) AS DOUBLE) * 1.0e0) AS "v"'),
        (OwnValue("v", NonNull(COST)), '(CAST(COUNT("cost grid") AS DOUBLE) * 1.0e0) AS "v"'),
        (OwnValue("v", DistinctValues(WARD)), '(CAST(COUNT(DISTINCT "ward") AS DOUBLE) * 1.0e0) AS "v"'),
        (OwnValue("v", DistinctValues(LINK), SMALL), f'{clamped(COUNTED, 1, 10)} AS "v"'),
        (OwnValue("v", Total(COST, COST.domain)), '(CAST(SUM("cost grid") AS DOUBLE) * 0.25e0) AS "v"'),
        (
            OwnValue("v", Total(COST, COST.domain), Numbers(Fraction(0), Fraction(1000), Fraction(1, 4))),
            f'(CAST({clamped(SUMMED, 0, 4000)} AS DOUBLE) * 0.25e0) AS "v", {clamped(SUMMED, 0, 4000)} AS "v grid"',
        ),
        (
            OwnValue("v", Total(COST, COST.domain), Numbers(Fraction(0), Fraction(2**70), Fraction(1, 4))),
            (
                f'(CAST({clamped(SUMMED, 0, 2**72, "HUGEINT")} AS DOUBLE) * 0.25e0) AS "v", '
                f'{clamped(SUMMED, 0, 2**72, "HUGEINT")} AS "v grid"'
            ),
        ),
        (
            OwnValue("v", Average(COST, COST.domain)),
            '((CAST(SUM("cost grid") AS DOUBLE) / NULLIF(CAST(COUNT("cost grid") AS DOUBLE), 0e0)) * 0.25e0) AS "v"',
        ),
        (OwnValue("v", OwnExtreme(AGE, greatest=False)), 'MIN("age") AS "v"'),
        (OwnValue("v", OwnExtreme(COST, greatest=False)), 'MIN("cost") AS "v", MIN("cost grid") AS "v grid"'),
        (
            OwnValue("v", OwnExtreme(call("+", AGE, number(1)), greatest=True)),
            'MAX((CAST("age" AS DOUBLE) + 1.0e0)) AS "v"',
        ),
    ],
)
def test_aggregates_of_a_persons_rows_are_integers_until_they_are_clamped(value, sql):
    relation = PerPerson(Private("t", 10, ()), (), (value,))
    kept = ' WHERE "rank" <= 10' if isinstance(value.aggregate, DistinctValues) else ""
    assert behind_from(relation) == f'(SELECT "person" AS "person", {sql} FROM "t"{kept} GROUP BY "person") AS "rows"'


@pytest.mark.parametrize(
    ("relation", "sql"),
    [
        (VISITS, '"person"'),
        (Where(VISITS, URGENT), '"person"'),
        (PerPerson(VISITS, (), ()), '"person"'),
        (Named(VISITS, "v"), '"v"."person"'),
        (Join(PAIRS, Named(VISITS, "w"), (), outer=True), '"p"."person"'),
        (Where(PAIRS, of("v", URGENT)), '"p"."person"'),
    ],
)
def test_the_person_of_a_row_is_that_of_the_first_side(relation, sql):
    assert render_person(relation, Scalars(DUCKDB)) == sql


def test_a_sum_is_counted_from_its_centre_without_overflow():
    age, scalars = whole("x", 0, 120), Scalars(DUCKDB)
    assert render_total(Total(age, age.domain), 2**48, scalars) == 'SUM("x")'
    assert render_total(Total(age, age.domain, -3), 2**48, scalars) == 'SUM("x") - CAST((-3) AS HUGEINT) * COUNT("x")'


def test_people_whom_a_left_join_leaves_out_are_not_counted():
    pairs = replace(PAIRS, outer=True)
    missing = of("v", WHO, optional=True)
    rows = f'FROM {ONE} LEFT JOIN {TEN} ON "p"."person" = "v"."person"'
    assert (
        render((Query(pairs, (), People(missing)),), DUCKDB).text == f'SELECT COUNT(DISTINCT "v"."person") AS m0 {rows}'
    )
    assert render((Query(pairs, (), People()),), DUCKDB).text == f'SELECT COUNT(DISTINCT "p"."person") AS m0 {rows}'
    assert render((Query(pairs, (), NonNull(missing)),), DUCKDB).text == f'SELECT COUNT("v"."person") AS m0 {rows}'


def test_keys_of_a_join_are_named_with_their_side():
    statement = render((Query(PAIRS, (of("v", WARD),), Rows()),), DUCKDB)
    rows = f'FROM {ONE} JOIN {TEN} ON "p"."person" = "v"."person"'
    assert statement.text == f'SELECT "v"."ward" AS k0, COUNT(*) AS m0 {rows} GROUP BY 1'


def test_texts_are_bound_in_the_order_of_their_places_wherever_they_stand():
    inner = Where(VISITS, equal(NAME, text("first")))
    relation = Where(Join(Named(PEOPLE, "p"), Named(inner, "v"), ()), equal(of("p", NAME), text("second")))
    statement = render((Query(relation, (), Rows()),), DUCKDB)
    assert statement.parameters == ("first", "second")
    assert statement.text.index("$1") < statement.text.index("$2")


def test_public_rows_are_a_select_of_their_own_in_which_categories_are_spelled_out():
    outputs = (Selected("c0", WARD, stored=False), Selected("c1", NAME, stored=False))
    statement = render_rows(Select(Where(PLACES, equal(NAME, text("z"))), outputs), DUCKDB)
    assert statement.text.endswith(', "name" AS "c1" FROM "places" WHERE (("name" = $1))')
    assert '"person"' not in statement.text
    assert statement.parameters == ("z", "x", "y")
