"""Questions about public tables alone: their rows, as they are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adomnia.errors import Refusal
from adomnia.plans.public_columns import PublicRows
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Identity
from adomnia.sql.lower import lower, plan_question, require_plan
from adomnia.sql.reading.parse import parse
from sql.hospital import HOSPITAL


def asked(text):
    found = plan_question(parse(text), HOSPITAL)
    assert isinstance(found, PublicRows)
    assert found.rows.is_public
    return found


def code(text):
    with pytest.raises(Refusal) as refusal:
        plan_question(parse(text), HOSPITAL)
    return refusal.value.code


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("SELECT * FROM cities", ("city", "region", "population")),
        ("SELECT city AS town, population / 2 AS half FROM cities", ("town", "half")),
        ("SELECT z.zone, c.region FROM cities c JOIN zones z USING (city)", ("zone", "region")),
        ("SELECT * FROM northern_cities", ("city", "population")),
        ("WITH c AS (SELECT city FROM cities) SELECT * FROM c", ("city",)),
        ("SELECT * FROM (SELECT city FROM cities UNION ALL SELECT city FROM zones) u", ("city",)),
    ],
)
def test_the_rows_have_the_columns_that_were_asked_for(text, names):
    found = asked(text)
    assert found.names == names
    assert [output.stored for output in found.rows.outputs] == [False] * len(names)


def test_rows_are_sorted_by_what_is_not_shown_too():
    found = asked(
        "SELECT region, SUM(population) FROM cities GROUP BY region ORDER BY SUM(population), COUNT(*) DESC, 1"
    )
    assert found.names == ("region", "sum_population")
    assert found.order == ((1, False, False), (2, True, False), (0, False, False))
    assert len(found.rows.outputs) == 3


def test_too_many_outputs_to_sort_by_are_refused():
    outputs = ", ".join(f"population + {place} AS p{place}" for place in range(400))
    assert code(f"SELECT {outputs} FROM cities ORDER BY population * 2") == "too_complex"


def test_rows_are_sorted_by_outputs_and_cut():
    found = asked("SELECT city, region FROM cities ORDER BY region DESC, 1 NULLS FIRST LIMIT 3")
    assert (found.order, found.limit) == (((1, True, False), (0, False, True)), 3)
    plain = asked("SELECT city FROM cities")
    assert (plain.order, plain.limit) == ((), None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT region AS r, COUNT(*) AS r FROM cities GROUP BY region", "duplicate_alias"),
        ("SELECT region, city FROM cities GROUP BY region", "not_an_aggregate"),
        ("SELECT DISTINCT region FROM cities ORDER BY population", "bad_literal"),
        ("SELECT DISTINCT -population AS population FROM cities c ORDER BY c.population", "bad_literal"),
        ("SELECT region FROM cities GROUP BY region HAVING city IN (SELECT city FROM zones)", "unknown_column"),
        ("SELECT MAX(city) FROM cities", "type_error"),
        ("SELECT COUNT(SUM(population)) FROM cities", "aggregate_not_allowed"),
        ("SELECT ARG_MAX(city, population) FROM cities", "syntax_not_allowed"),
        ("SELECT FIRST(city) FROM cities", "aggregate_not_allowed"),
        ("SELECT city FROM cities ORDER BY 2", "bad_literal"),
        ("SELECT city, region AS city FROM cities", "duplicate_alias"),
        ("SELECT nothing FROM cities", "unknown_column"),
        ("SELECT random() AS r FROM cities", "nondeterministic_function"),
        ("SELECT c.city FROM cities c, zones z", "fanout_join_with_public"),
        ("SELECT city FROM cities LIMIT 0", "bad_literal"),
    ],
)
def test_what_is_not_plainly_rows_is_refused(text, expected):
    assert code(text) == expected


def test_public_rows_have_no_price():
    with pytest.raises(Refusal, match="costs nothing and has no price") as refusal:
        lower("SELECT * FROM cities", HOSPITAL)
    assert refusal.value.code == "public_table"
    plan = plan_question(parse("SELECT COUNT(*) FROM people"), HOSPITAL)
    assert require_plan(plan) == plan


@pytest.mark.parametrize(
    "text",
    [
        "SELECT c.city FROM cities c JOIN people p USING (city)",
        "SELECT * FROM (SELECT c.city FROM cities c JOIN people p USING (city)) t",
        "SELECT p.city FROM people p JOIN (SELECT a.city FROM zones a JOIN zones b USING (zone)) q ON p.city = q.city",
        "SELECT city FROM northern",
        "WITH cities AS (SELECT * FROM people) SELECT * FROM cities",
    ],
)
def test_rows_of_people_are_never_public_whatever_they_are_joined_with_or_called(text):
    assert code(text) == "not_an_aggregate"


def test_public_tables_joined_with_each_other_may_not_multiply_without_end():
    text = "SELECT a.city FROM zones a" + "".join(f" JOIN zones z{n} ON a.zone = z{n}.zone" for n in range(8))
    assert code(text) == "too_complex"


def test_ids_of_a_public_table_are_refused_because_no_index_keeps_them():
    cities = next(table for table in HOSPITAL.tables if table.name == "cities")
    known = replace(cities, columns=(*cities.columns, Column("code", Identity())), repeats=(*cities.repeats, 1))
    with pytest.raises(Refusal) as refusal:
        plan_question(parse("SELECT * FROM cities"), replace(HOSPITAL, tables=(known,), views=()))
    assert refusal.value.code == "identifier_column"
