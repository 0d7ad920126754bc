"""Statements in PostgreSQL's words: the second look proves them, and none that differs in a word that matters."""

from __future__ import annotations

import re
from contextlib import closing
from fractions import Fraction

import pytest

from adomnia.engines.check import check_statement
from adomnia.engines.contract import Statement
from adomnia.engines.dialect import IntegerType
from adomnia.engines.postgres.dialect import POSTGRES
from adomnia.engines.render import render
from adomnia.errors import Failure
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column, call
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Clip, Query
from adomnia.privacy.relations import OwnValue, PerPerson
from adomnia.privacy.scans import Average, OwnSpread, Rows, Total
from engines.databases import catalog, category, number, people, relation
from engines.postgres.kept import open_index, read_index
from kit.filled_postgres import filled

X, FREE, CITY = number("x", -1, 1), Column("free", Quantity()), category("city", "a", "b")
TABLE = people(X, FREE, CITY, rows_per_person=3)
WORLD = catalog(TABLE)
DOMAIN = Numbers(Fraction(-10), Fraction(10), Fraction(2))
CLAMPED = (Query(relation(TABLE), (CITY,), Total(call("*", X, FREE), DOMAIN)),)
FINE = (Query(relation(TABLE), (CITY,), Total(call("*", X, FREE), Numbers.integers(-5, 5))),)
OWN = PerPerson(
    relation(TABLE),
    (),
    (OwnValue("m", Average(X, X.domain), None), OwnValue("s", OwnSpread(X, X.domain, root=True, sample=True))),
)


def proved(text, queries):
    return check_statement(Statement(text, ()), WORLD, POSTGRES, queries[0].provable)


@pytest.mark.parametrize(
    "queries",
    [
        CLAMPED,
        FINE,
        (Query(relation(TABLE), (), Total(call("*", X, FREE), Numbers.integers(-(2**70), 2**70))),),
        (Query(relation(TABLE), (CITY,), Rows(), Clip(2)),),
        (Query(OWN, (), Rows()),),
    ],
    ids=["clamped", "in small steps", "wide", "shortened", "of a person"],
)
def test_what_is_rendered_is_proved(queries):
    assert proved(render(queries, POSTGRES).text, queries) == tuple(query.sensitivity() for query in queries)


RIGHT = render(CLAMPED, POSTGRES).text
PLANTED = {
    "a wider quarter": ("0.25e0", "1e300"),
    "no guard of small numbers": (
        r"CAST\(CASE WHEN ABS\(.*\) < .* \* CAST\(0.25e0 AS .*?\) THEN .* ELSE (FLOOR\(.*\)) END AS BIGINT\)",
        r"CAST(\1 AS BIGINT)",
    ),
    "another value where it is small": ("THEN CAST\\(0e0 AS DOUBLE PRECISION\\)", "THEN CAST(9e0 AS DOUBLE PRECISION)"),
    "no lower end": ("WHEN (?:(?!WHEN).)*? < (?:(?!WHEN).)*? THEN \\(-5\\) ", ""),
    "an end that is not the least": ("THEN \\(-5\\)", "THEN (-6)"),
    "bare multiplication": (r"ao_multiply\((.*?), (CAST\(\"free\" AS DOUBLE PRECISION\))\)", r"(\1 * \2)"),
    "another function of the schema": ("ao_multiply", "ao_anything"),
    "rounding to the nearest even": ("FLOOR", "ROUND"),
    "a cast of 32 bits": ("END AS BIGINT\\) END", "END AS INTEGER) END"),
}


@pytest.mark.parametrize("plant", PLANTED)
def test_a_statement_that_differs_is_not_proved_to_be_this_one(plant):
    wrong = re.sub(*PLANTED[plant], RIGHT)
    assert wrong != RIGHT
    try:
        found = proved(wrong, CLAMPED)
    except Failure:
        return
    assert found != (CLAMPED[0].sensitivity(),)  # then it is another query, and the executor stops it


def test_a_division_by_a_step_above_one_is_not_believed():
    right = render(FINE, POSTGRES).text
    assert "ABS(" not in right
    wrong = right.replace("/ CAST(1.0e0 AS DOUBLE PRECISION)", "/ CAST(1.5e0 AS DOUBLE PRECISION)")
    assert wrong != right
    with pytest.raises(Failure):
        proved(wrong, FINE)


@pytest.mark.parametrize("node", ["x + 1", "x - 1", "x * 2", "x / 2", "EXP(x)", "LN(x)", "SQRT(x)", "POWER(x, 2)"])
def test_what_raises_on_a_row_is_not_believed(node):
    doubles = re.sub(r"\b(\d)\b", r"CAST(\1e0 AS DOUBLE PRECISION)", node).replace(
        "x", 'CAST("x" AS DOUBLE PRECISION)', 1
    )
    text = f'SELECT COUNT({doubles}) AS m0 FROM "people" WHERE "rank" <= 3'
    with pytest.raises(Failure):
        check_statement(Statement(text, ()), WORLD, POSTGRES)


def test_integers_are_stored_where_no_sum_of_them_overflows():
    assert [kind.name for kind in POSTGRES.types.stored] == ["BIGINT", "NUMERIC(60, 0)"]
    assert isinstance(POSTGRES.types.sum, IntegerType)


@pytest.mark.parametrize("many", [3, 50, 51, 3000])
def test_categories_of_any_number_are_their_places(tmp_path, many):
    values = [*(f"it's {place}" for place in range(many - 1)), "nul\0"]
    place = many - 2
    rows = f"(1, 'it''s {place}'), (2, 'it''s 0'), (3, 'nobody'), (4, NULL)"
    with filled("CREATE TABLE people (person_id int, x text)", f"INSERT INTO people VALUES {rows}") as url:
        table = people(category("x", *values), source=url, source_table="people")
        with closing(open_index(tmp_path, table)) as engine:
            assert [row["x"] for row in read_index(engine, "people")] == [place, 0, None, None]


def test_wide_numbers_keep_all_their_digits(tmp_path):
    domain = Numbers.integers(-(2**78), 2**78)
    column = Column("x", Quantity(domain.lower, domain.upper, whole=True), domain)
    exact = [2**78, -(2**78), 2**77 + 2**25, -(2**63), 3, 2**62, -(2**62) - 2**11]
    rows = ", ".join(f"({place}, {float(value)!r})" for place, value in enumerate(exact))
    with filled("CREATE TABLE people (person_id int, x float8)", f"INSERT INTO people VALUES {rows}") as url:
        table = people(column, source=url, source_table="people")
        with closing(open_index(tmp_path, table)) as engine:
            assert [int(row["x"]) for row in read_index(engine, "people")] == exact
