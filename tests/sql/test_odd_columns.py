"""Columns of any name: questions write them in quotes, and outputs are called after them."""

from __future__ import annotations

from pathlib import Path

import pytest

from adomnia.catalog.model import Catalog, Table
from adomnia.errors import Refusal
from adomnia.plans.public_columns import PublicRows
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.filters import Budget
from adomnia.privacy.kinds import Identity, Quantity, Text
from adomnia.privacy.units import Unit
from adomnia.sql.lower import lower, plan_question
from adomnia.sql.reading.parse import parse

ODD = 'a"b; --'
AGES = Numbers.integers(0, 120)
PEOPLE = Table(
    "people",
    "people.csv",
    (
        Column("Person ID", Identity(person=True)),
        Column("education-num", Quantity(AGES.lower, AGES.upper, whole=True), AGES),
        Column("rank", Text(("A", "B"))),
        Column("Größe", Quantity()),
        Column(ODD, Quantity(AGES.lower, AGES.upper, whole=True), AGES),
    ),
)
PLACES = Table("places", "places.csv", (Column("Place Name", Text()),), public=True, repeats=(1,))
CATALOG = Catalog("odd", 1, Unit("people", "Person ID"), Budget(1), (), (PEOPLE, PLACES), Path())


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ('SELECT "rank", AVG("education-num") FROM people GROUP BY rank', ["rank", "avg_education-num"]),
        ('SELECT "EDUCATION-num", COUNT(*) FROM people GROUP BY 1', ["EDUCATION-num", "count"]),
        ('SELECT SUM("a""b; --"), SUM("a""b; --") FROM people', [f"sum_{ODD}", f"sum_{ODD}_2"]),
        ('SELECT COUNT(DISTINCT "Person ID") FROM people p WHERE p."education-num" > 3', ["count_people"]),
        ('SELECT AVG("education-num") FROM (SELECT * FROM people) t', ["avg_education-num"]),
        ('SELECT COUNT(*) FROM people p JOIN people q USING ("Person ID")', ["count"]),
        ('SELECT AVG(x) FROM (SELECT "education-num" AS x FROM people) t', ["avg_x"]),
    ],
)
def test_outputs_are_called_after_declared_columns(question, names):
    assert [output.name for output in lower(question, CATALOG).outputs] == names


def test_rows_of_public_tables_are_called_after_declared_columns():
    rows = plan_question(parse('SELECT * FROM places ORDER BY "place name"'), CATALOG)
    assert isinstance(rows, PublicRows)
    assert rows.names == ("Place Name",)


@pytest.mark.parametrize(
    ("question", "code", "words"),
    [
        ('SELECT AVG("education-num") AS "a b" FROM people', "bad_alias", "a b cannot name an output"),
        ('SELECT AVG("a b") FROM (SELECT "education-num" AS "a b" FROM people) t', "bad_alias", "avg_a b cannot name"),
        ('SELECT "Place Name" AS "a b" FROM places', "bad_alias", "a b cannot name an output"),
        ("SELECT AVG(education-num) FROM people", "unknown_column", 'did you mean "education-num"?'),
        (
            "SELECT AVG(nothing) FROM people",
            "unknown_column",
            '"Person ID", "education-num", rank, "Größe", "a""b; --"',
        ),
        ('SELECT AVG("Größe") FROM people', "unbounded_expression", 'CLAMP("Größe", lower, upper)'),
        ('SELECT AVG("a""b; -- ") FROM people', "unknown_column", "is not among the columns"),
    ],
)
def test_refusals_write_names_as_questions_do(question, code, words):
    with pytest.raises(Refusal) as refused:
        plan_question(parse(question), CATALOG)
    assert refused.value.code == code
    assert words in str(refused.value)


def test_the_plan_of_a_column_is_described_in_quotes():
    from adomnia.plans.descriptions import describe

    assert describe(PEOPLE.columns[4]) == '"a""b; --"'
