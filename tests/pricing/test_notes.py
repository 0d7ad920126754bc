"""Which rows are in no group, and that it is said only where there may be some."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adomnia.pricing.notes import keys_without_value, list_notes
from adomnia.privacy.kinds import Text
from adomnia.privacy.units import ROW
from adomnia.sql.lower import lower
from adomnia.work import Work, limit
from sql.hospital import HOSPITAL

UNDECLARED = "Rows whose {} is missing or not declared are in no group."
MISSING = "Rows whose {} is missing are in no group."
OTHERS = Text(("F", "M", "Else"), others=True)


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("SELECT sex, COUNT(*) FROM people GROUP BY sex", [UNDECLARED.format("sex")]),
        (
            "SELECT sex, city, active, COUNT(*) FROM people GROUP BY sex, city, active",
            [UNDECLARED.format("sex or city"), MISSING.format("active")],
        ),
        ("SELECT age > 3, COUNT(*) FROM people GROUP BY 1", [MISSING.format("(age > 3)")]),
        ("SELECT FLOOR(age / 10), COUNT(*) FROM people GROUP BY 1", [MISSING.format("FLOOR((age / 10))")]),
        (
            "SELECT c.region, COUNT(*) FROM people p LEFT JOIN cities c ON c.city = p.city GROUP BY c.region",
            [UNDECLARED.format("cities.region")],
        ),
        ("SELECT k, COUNT(*) FROM (SELECT sex AS k FROM people) GROUP BY k", [UNDECLARED.format("sex")]),
        ("SELECT sex, COUNT(*) FROM people WHERE sex = 'F' OR age > 3 GROUP BY sex", [UNDECLARED.format("sex")]),
        ("SELECT sex, COUNT(*) FROM people WHERE NOT (sex = 'F' AND age > 3) GROUP BY 1", [UNDECLARED.format("sex")]),
        (
            "SELECT CASE WHEN age > 3 THEN 'old' END AS k, COUNT(*) FROM people GROUP BY 1",
            [MISSING.format("CASE WHEN (age > 3) THEN 'old' ELSE NULL END")],
        ),
    ],
)
def test_rows_whose_key_may_be_missing_are_told(text, notes):
    assert list_notes(lower(text, HOSPITAL), HOSPITAL) == tuple(notes)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM people",
        "SELECT sex, COUNT(*) FROM people WHERE sex IN ('F', 'M') GROUP BY sex",
        "SELECT sex, COUNT(*) FROM people WHERE sex IS NOT NULL GROUP BY sex",
        "SELECT sex, COUNT(*) FROM people WHERE NOT sex = 'X' AND age > 3 GROUP BY sex",
        "SELECT active, COUNT(*) FROM people WHERE active GROUP BY active",
        "SELECT age IS NULL AS k, COUNT(*) FROM people GROUP BY 1",
        "SELECT COALESCE(age, 0) AS k, COUNT(*) FROM people GROUP BY 1",
        "SELECT FLOOR(age / 10), COUNT(*) FROM people WHERE age > 3 GROUP BY 1",
        "SELECT CASE WHEN age > 3 THEN 'old' ELSE 'young' END AS k, COUNT(*) FROM people GROUP BY 1",
        "SELECT n, COUNT(*) FROM (SELECT person_id, CLAMP(COUNT(*), 0, 5) AS n FROM visits GROUP BY 1) GROUP BY 1",
        "SELECT k, COUNT(*) FROM (SELECT sex AS k FROM people WHERE sex <> 'X') GROUP BY k",
        "SELECT p.sex, COUNT(*) FROM visits v JOIN people p ON p.person_id = v.person_id WHERE p.sex = 'F' GROUP BY 1",
    ],
)
def test_nothing_is_said_where_every_row_has_its_key(text):
    assert list_notes(lower(text, HOSPITAL), HOSPITAL) == ()


def test_where_others_have_a_value_of_their_own_only_missing_ones_are_told():
    tables = tuple(
        replace(table, columns=tuple(replace(c, kind=OTHERS) if c.name == "sex" else c for c in table.columns))
        for table in HOSPITAL.tables
    )
    catalog = replace(HOSPITAL, tables=tables)
    plan = lower("SELECT sex, COUNT(*) FROM people GROUP BY sex", catalog)
    assert list_notes(plan, catalog) == (MISSING.format("sex"),)
    assert lower("SELECT COUNT(*) FROM people WHERE sex = 'Else'", catalog).statistics


def test_that_rows_are_protected_on_their_own_comes_first():
    catalog = replace(HOSPITAL, unit=ROW)
    notes = list_notes(lower("SELECT sex, COUNT(*) FROM people GROUP BY sex", HOSPITAL), catalog)
    assert notes == ("Each row is protected on its own, not each person.", UNDECLARED.format("sex"))


def test_a_value_that_is_named_twice_in_each_of_many_steps_is_looked_at_once():
    """Each of five steps doubled the work once."""
    rows = "SELECT COALESCE(age, 0) AS a FROM people"
    for _ in range(5):
        rows = f"SELECT CASE WHEN a > 3 THEN a ELSE a END AS a FROM ({rows})"
    plan = lower(f"SELECT a, COUNT(*) FROM ({rows}) GROUP BY a", HOSPITAL)
    with limit(Work(20)):
        assert keys_without_value(plan) == ()
