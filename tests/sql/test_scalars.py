"""Expressions are read by a closed list of nodes, and constants by what they are worth."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import pytest
from sqlglot import ErrorLevel, exp, parse_one

from adomnia.errors import Refusal
from adomnia.privacy.expressions import Literal, number
from adomnia.privacy.kinds import Day, Truth
from adomnia.sql.explain import describe
from adomnia.sql.lower import lower
from adomnia.sql.scalars import MOST_NODES, Scope, expression, only, read_number
from sql.hospital import HOSPITAL, PEOPLE

SCOPE = Scope(PEOPLE, "people")


def read(text):
    return expression(parse_one(text, dialect="duckdb"), SCOPE)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("0.10", Fraction(1, 10)),
        ("1e-1", Fraction(1, 10)),
        (".5", Fraction(1, 2)),
        ("5.", 5),
        ("1E3", 1000),
        ("1_000", 1000),
        ("-2", -2),
        ("- -2", 2),
        ("+2", 2),
        ("(((7)))", 7),
        ("'12.5'::DOUBLE", Fraction(25, 2)),
        ("CAST('7' AS INTEGER)", 7),
        ("123456789012345678901234567890", Fraction("1.2345678901234568e29")),
        ("1e308", Fraction("1e308")),
    ],
)
def test_numbers_are_read_as_doubles_by_their_shortest_decimal(text, value):
    assert read(text) == number(value)


@pytest.mark.parametrize("text", ["1e309", "1e-400", "0.0000001e-320", "9" * 400])
def test_numbers_beyond_the_doubles_are_refused(text):
    with pytest.raises(Refusal) as refusal:
        read(text)
    assert refusal.value.code == "bad_literal"


@pytest.mark.parametrize("digits", ["", ".", "e5", "NaN", "inf", "-1", "0x1F", "1e", "1 2", "\u0661", "\u00b2"])
def test_what_is_no_number_is_no_number(digits):
    with pytest.raises(Refusal) as refusal:
        read_number(exp.Null(), digits)
    assert refusal.value.code == "bad_literal"


def test_zero_is_a_number_in_every_spelling():
    assert read("0") == read("0.0") == read("0e99") == read("-0") == number(0)


def test_dates_and_truths_are_constants():
    assert read("DATE '2024-02-29'") == Literal(date(2024, 2, 29), Day(date(2024, 2, 29), date(2024, 2, 29)))
    assert read("TRUE") == Literal(True, Truth())


@pytest.mark.parametrize(
    "text", ["'2023-02-29'", "'24-01-01'", "'2024-1-1'", "'20240101'", "'2024-W01-1'", "'x'", "''"]
)
def test_a_date_is_written_one_way(text):
    with pytest.raises(Refusal) as refusal:
        read(f"born = {text}")
    assert refusal.value.code == "bad_literal"


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("AGE > 3", "(age > 3)"),
        ('"Age" > 3', "(age > 3)"),
        ("people.age > 3", "(age > 3)"),
        ("People.age > 3", "(age > 3)"),
    ],
)
def test_names_are_the_same_in_upper_and_lower_case(text, meaning):
    assert describe(read(text)) == meaning


def test_a_node_that_holds_more_than_is_understood_is_refused():
    node = parse_one("a BETWEEN SYMMETRIC 1 AND 2", dialect="duckdb")
    only(node, "this", "low", "high", "symmetric")
    with pytest.raises(Refusal, match="SYMMETRIC"):
        only(node, "this", "low", "high")


def test_a_list_as_long_as_the_expression_before_it_is_refused_before_it_is_multiplied():
    items = ", ".join(map(str, range(2000)))
    assert read(f"age IN ({items})")
    with pytest.raises(Refusal) as refusal:
        read(f"age + 1 + 1 + 1 + 1 IN ({items})")
    assert refusal.value.code == "too_complex"
    assert MOST_NODES < 9 * 2000


def test_every_kind_of_node_the_parser_knows_is_read_or_refused():
    """Whatever class a node has, made from nothing: a plan or a Refusal, never another error."""
    kinds = [kind for kind in vars(exp).values() if isinstance(kind, type) and issubclass(kind, exp.Expression)]
    assert len(kinds) > 500
    for kind in kinds:
        inner = exp.column("age")
        node = (
            kind(this=inner, expression=exp.Literal.number(1)) if "expression" in kind.arg_types else kind(this=inner)
        )
        if kind in READ or not can_be_written(node):
            continue
        with pytest.raises(Refusal):
            expression(node, SCOPE)


READ = {exp.Add, exp.Sub, exp.Mul, exp.Div, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.And, exp.Or, exp.Not}
READ |= {exp.Neg, exp.Paren, exp.Column, exp.Literal, exp.Boolean, exp.In, exp.Between, exp.Is, exp.Like, exp.Cast}


def can_be_written(node):
    """Whether a node made from nothing has the parts that its class needs; the parser makes no others."""
    try:
        return bool(node.sql(dialect="duckdb", unsupported_level=ErrorLevel.IGNORE))
    except (AttributeError, LookupError, NameError, TypeError, ValueError):
        return False


@pytest.mark.parametrize("text", ["age > 3 AND TRUE", "NOT (active OR sex = 'F')", "age BETWEEN 1 AND 2"])
def test_conditions_have_the_kind_of_conditions(text):
    assert read(text).kind == Truth()
    assert lower(f"SELECT COUNT(*) FROM people WHERE {text}", HOSPITAL)
