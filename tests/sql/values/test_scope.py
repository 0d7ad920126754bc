"""Names stand for one thing, or are refused."""

from __future__ import annotations

import pytest
from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.privacy.expressions import Column, call, number
from adomnia.privacy.kinds import Quantity
from adomnia.sql.reading.parse import parse_expression
from adomnia.sql.values.scope import Scope, ScopeTable, check_parts

COST, AGE, DAY = (Column(name, Quantity(), source="t") for name in ("cost", "age", "day"))
TWICE = call("*", COST, number(2))
SCOPE = Scope((ScopeTable("v", {"cost": COST, "day": DAY, "Twice": TWICE}), ScopeTable("p", {"age": AGE, "day": AGE})))


def refusal(scope, text):
    with pytest.raises(Refusal) as refused:
        scope.column(parse_expression(text))
    return refused.value


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("cost", COST),
        ("COST", COST),
        ("v.cost", COST),
        ("V.Cost", COST),
        ("twice", TWICE),
        ("p.day", AGE),
        ("v.day", DAY),
    ],
)
def test_a_name_stands_for_its_meaning_in_upper_and_lower_case(text, meaning):
    assert SCOPE.column(parse_expression(text)) == meaning
    assert SCOPE.knows(parse_expression(text))


def test_a_name_in_two_tables_needs_its_table():
    refused = refusal(SCOPE, "day")
    assert (refused.code, refused.why, refused.fix) == (
        "ambiguous_column",
        "is a column of v and p",
        "write the table before it: v.day",
    )


def test_a_name_that_using_shares_is_that_of_the_first_table():
    assert Scope(SCOPE.sources, frozenset({"day"})).column(parse_expression("day")) == DAY


@pytest.mark.parametrize(
    ("text", "code", "known"),
    [
        ("nothing", "unknown_column", "they are cost, day, Twice, age"),
        ("p.cost", "unknown_column", "they are age, day"),
        ("x.cost", "unknown_table", "they are v, p"),
        ("v.*", "not_an_aggregate", "use COUNT(*)"),
        ("db.v.cost", "syntax_not_allowed", "write it without"),
    ],
)
def test_a_name_that_stands_for_nothing_is_refused_with_those_that_do(text, code, known):
    refused = refusal(SCOPE, text)
    assert refused.code == code
    assert known in refused.fix


def test_a_word_may_be_a_column_or_not():
    assert SCOPE.has_column("DAY")
    assert not SCOPE.has_column("month")
    assert not SCOPE.knows(parse_expression("p.cost"))
    assert not SCOPE.knows(exp.Column(this=exp.Star()))


def test_a_node_with_more_parts_than_are_understood_is_refused():
    node = parse_expression("SUM(cost)")
    check_parts(node, "this", "big_int")
    with pytest.raises(Refusal, match="has cost, which is not supported"):
        check_parts(node, "big_int")
