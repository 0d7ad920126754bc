"""Every spelling of a quantile is the same question; what is not quite one stays what it was."""

from __future__ import annotations

import pytest
from sqlglot import exp

from adomnia.sql.reading.parse import parse
from adomnia.sql.reading.spellings import spell_out_quantiles


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
