"""FILTER and COUNTIF mean the CASE that they are short for."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.privacy.events import Pure
from adomnia.sql.lower import lower
from adomnia.sql.reading.filters import spell_out_filters
from adomnia.sql.reading.parse import parse
from sql.hospital import HOSPITAL


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("COUNT(*) FILTER (WHERE active)", "COUNT(CASE WHEN active THEN 1 END)"),
        ("COUNTIF(active)", "COUNT(CASE WHEN active THEN 1 END)"),
        ("count_if(active)", "COUNT(CASE WHEN active THEN 1 END)"),
        ("COUNT(age) FILTER (WHERE active)", "COUNT(CASE WHEN active THEN age END)"),
        ("SUM(age + 1) FILTER (WHERE active)", "SUM(CASE WHEN active THEN age + 1 END)"),
        ("AVG(age) FILTER (WHERE sex = 'F')", "AVG(CASE WHEN sex = 'F' THEN age END)"),
        ("COUNT(DISTINCT age) FILTER (WHERE active)", "COUNT(DISTINCT CASE WHEN active THEN age END)"),
        ("COUNT(DISTINCT person_id) FILTER (WHERE active)", "COUNT(DISTINCT CASE WHEN active THEN person_id END)"),
        ("COUNTIF(age > 3) FILTER (WHERE active)", "COUNT(CASE WHEN active THEN CASE WHEN age > 3 THEN 1 END END)"),
    ],
)
def test_both_spellings_are_one_question(short, long):
    price = Pure(Fraction(1, 2))
    plans = [lower(f"SELECT {text} AS x FROM people", HOSPITAL) for text in (short, long)]
    assert plans[0] == plans[1]
    assert plans[0].identity(price, 1) == plans[1].identity(price, 1)


@pytest.mark.parametrize(
    "text",
    [
        "SUM(DISTINCT age) FILTER(WHERE active)",
        "SUM(age ORDER BY age) FILTER(WHERE active)",
        "MODE(age) FILTER(WHERE active)",
        "COUNT(* EXCLUDE (age)) FILTER(WHERE active)",
        "COUNT_IF(DISTINCT active)",
    ],
)
def test_what_has_no_such_case_is_left_as_it_is(text):
    tree = parse(f"SELECT {text} FROM people")
    before = tree.sql(dialect="duckdb")
    spell_out_filters(tree)
    assert tree.sql(dialect="duckdb") == before
    assert "CASE" not in before


def test_people_under_a_condition_are_people_among_the_rows_where_it_holds():
    """One question with one price, whether the condition stands in WHERE or beside the count."""
    price = Pure(Fraction(1, 2))
    texts = [
        "SELECT COUNT(DISTINCT person_id) AS n FROM visits WHERE cost > 5 AND day > '2020-01-01'",
        "SELECT COUNT(DISTINCT person_id) FILTER (WHERE cost > 5) AS n FROM visits WHERE day > '2020-01-01'",
        "SELECT COUNT(DISTINCT CASE WHEN cost>5 THEN CASE WHEN day > '2020-01-01' THEN person_id END END) FROM visits",
    ]
    assert len({lower(text, HOSPITAL).identity(price, 1) for text in texts}) == 1
