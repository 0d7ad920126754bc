"""Every spelling of a quantile is the same question; what is not quite one stays what it was."""

from __future__ import annotations

from fractions import Fraction

import pytest
from sqlglot import exp

from adomnia.privacy.events import Pure
from adomnia.sql.lower import lower
from adomnia.sql.reading.parse import parse
from adomnia.sql.reading.spellings import spell_out_filters, spell_out_quantiles
from sql.hospital import HOSPITAL


def meaning(text):
    node = parse(f"SELECT {text} FROM people").expressions[0]
    return (type(node), node.this.sql(), node.args["quantile"].sql()) if isinstance(node, exp.Quantile) else type(node)


@pytest.mark.parametrize(
    "text",
    [
        "QUANTILE(age, 0.9)",
        "QUANTILE_CONT(age, 0.9)",
        "QUANTILE_DISC(age, 0.9)",
        "APPROX_QUANTILE(age, 0.9)",
        "percentile(age, 0.9)",
        "APPROX_PERCENTILE(age, 0.9)",
        "PERCENTILE_CONT(age, 0.9)",
        "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY age)",
        "PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY age ASC)",
        "PERCENTILE_CONT(0.1) WITHIN GROUP (ORDER BY age DESC)",
    ],
)
def test_all_of_them_are_one(text):
    assert meaning(text) == (exp.Quantile, "age", "0.9")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("PERCENTILE(age)", exp.Anonymous),
        ("PERCENTILE_CONT(0.5)", exp.PercentileCont),
        ("PERCENTILE_CONT(age) WITHIN GROUP (ORDER BY age)", exp.WithinGroup),
        ("PERCENTILE_CONT('x') WITHIN GROUP (ORDER BY age DESC)", exp.WithinGroup),
        ("PERCENTILE_CONT(0.5, 1) WITHIN GROUP (ORDER BY age)", exp.WithinGroup),
        ("MODE() WITHIN GROUP (ORDER BY age)", exp.WithinGroup),
    ],
)
def test_anything_else_is_left_to_be_refused(text, kind):
    assert meaning(text) is kind


def test_a_share_that_is_no_number_is_left_too():
    tree = parse("SELECT COUNT(*) FROM people")
    odd = exp.WithinGroup(
        this=exp.PercentileCont(this=exp.Literal.number("many")),
        expression=exp.Order(expressions=[exp.Ordered(this=exp.column("age"), desc=True)]),
    )
    tree.set("expressions", [odd])
    spell_out_quantiles(tree)
    assert tree.expressions == [odd]


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
