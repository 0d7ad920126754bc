"""Expressions are read by a closed list of nodes, and constants by what they are worth."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import pytest
from sqlglot import ErrorLevel, exp, parse_one

from adomnia.errors import Refusal
from adomnia.plans.descriptions import describe
from adomnia.privacy.expressions import Literal, number
from adomnia.privacy.kinds import Boolean, Day
from adomnia.sql.values.scalars import MOST_NODES, check_parts, read_expression, read_number
from sql.scopes import SCOPE, code_of, read


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
    assert code_of(text) == "bad_literal"


@pytest.mark.parametrize("digits", ["", ".", "e5", "NaN", "inf", "-1", "0x1F", "1e", "1 2", "\u0661", "\u00b2"])
def test_what_is_no_number_is_no_number(digits):
    with pytest.raises(Refusal) as refusal:
        read_number(exp.Null(), digits)
    assert refusal.value.code == "bad_literal"


def test_zero_is_a_number_in_every_spelling():
    assert read("0") == read("0.0") == read("0e99") == read("-0") == number(0)


def test_dates_and_truths_are_constants():
    assert read("DATE '2024-02-29'") == Literal(date(2024, 2, 29), Day(date(2024, 2, 29), date(2024, 2, 29)))
    assert read("TRUE") == Literal(True, Boolean())


@pytest.mark.parametrize(
    "text", ["'2023-02-29'", "'24-01-01'", "'2024-1-1'", "'20240101'", "'2024-W01-1'", "'x'", "''"]
)
def test_a_date_is_written_one_way(text):
    assert code_of(f"born = {text}") == "bad_literal"


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
    check_parts(node, "this", "low", "high", "symmetric")
    with pytest.raises(Refusal, match="SYMMETRIC"):
        check_parts(node, "this", "low", "high")


def test_a_list_as_long_as_the_expression_before_it_is_refused_before_it_is_multiplied():
    items = ", ".join(map(str, range(2000)))
    assert read(f"age IN ({items})")
    assert code_of(f"age + 1 + 1 + 1 + 1 IN ({items})") == "too_complex"
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
            read_expression(node, SCOPE)


READ = {exp.Add, exp.Sub, exp.Mul, exp.Div, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.And, exp.Or, exp.Not}
READ |= {exp.Neg, exp.Paren, exp.Column, exp.Literal, exp.Boolean, exp.In, exp.Between, exp.Is, exp.Like, exp.Cast}
READ |= {exp.IntDiv, exp.Mod, exp.Pow, exp.NullSafeEQ, exp.NullSafeNEQ}


def can_be_written(node):
    """Whether a node made from nothing has the parts that its class needs; the parser makes no others."""
    try:
        return bool(node.sql(dialect="duckdb", unsupported_level=ErrorLevel.IGNORE))
    except (AttributeError, LookupError, NameError, TypeError, ValueError):
        return False


@pytest.mark.parametrize("text", ["age > 3 AND TRUE", "NOT (active OR sex = 'F')", "age BETWEEN 1 AND 2"])
def test_conditions_have_the_kind_of_conditions(text):
    assert read(text).kind == Boolean()


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("age % 7", "(age % 7)"),
        ("age ^ 2", "POWER(age, 2)"),
        ("name || '!'", "(name || '!')"),
        ("active IS TRUE", "COALESCE(active, FALSE)"),
        ("active IS NOT TRUE", "(NOT COALESCE(active, FALSE))"),
        ("(age > 3) IS FALSE", "COALESCE((age <= 3), FALSE)"),
        ("age IS NOT DISTINCT FROM 3", "(age IS NOT DISTINCT FROM 3)"),
        ("3 IS DISTINCT FROM age", "(NOT (age IS NOT DISTINCT FROM 3))"),
        ("born IS NOT DISTINCT FROM '2020-01-01'", "(born IS NOT DISTINCT FROM DATE '2020-01-01')"),
        ("name ILIKE 'Ann%'", "(LOWER(name) LIKE LOWER('Ann%'))"),
        ("name NOT ILIKE 'Ann%'", "(NOT (LOWER(name) LIKE LOWER('Ann%')))"),
        ("EXTRACT(year FROM born)", "YEAR(born)"),
        ("EXTRACT('dow' FROM born)", "DOW(born)"),
        ("CASE WHEN active THEN age END", "CASE WHEN active THEN age ELSE NULL END"),
        ("CASE WHEN active THEN NULL ELSE age END", "CASE WHEN active THEN NULL ELSE age END"),
        ("CASE sex WHEN 'F' THEN 1 ELSE 2 END", "CASE WHEN (sex = 'F') THEN 1 ELSE 2 END"),
        (
            "CASE born WHEN '2020-01-01' THEN '2021-01-01' ELSE born END",
            "CASE WHEN (born = DATE '2020-01-01') THEN DATE '2021-01-01' ELSE born END",
        ),
        ("IF(active, age, salary)", "CASE WHEN active THEN age ELSE salary END"),
        ("IIF(active, 'x', NULL)", "CASE WHEN active THEN 'x' ELSE NULL END"),
        ("born - '2020-01-01'", "DAYS BETWEEN(born, DATE '2020-01-01')"),
        ("DATE '2020-01-01' - born", "DAYS BETWEEN(DATE '2020-01-01', born)"),
        ("born + 3", "SHIFT(born, 3)"),
        ("3 + born", "SHIFT(born, 3)"),
        ("born - 3", "SHIFT(born, -3)"),
        ("born + INTERVAL 2 WEEK", "SHIFT(born, 14)"),
        ("born - INTERVAL '3 days'", "SHIFT(born, -3)"),
        ("INTERVAL 1 DAY + born", "SHIFT(born, 1)"),
    ],
)
def test_expressions_mean_what_they_say(text, meaning):
    assert describe(read(text)) == meaning


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("CASE WHEN active THEN NULL END", "bad_literal"),
        ("CASE WHEN age THEN 1 END", "type_error"),
        ("CASE WHEN active THEN 1 ELSE 'x' END", "type_error"),
        ("CASE age WHEN 'x' THEN 1 END", "type_error"),
        ("CASE WHEN active THEN person_id END", "identifier_column"),
        ("IF(active, 1)", "function_not_allowed"),
        ("age IS 3", "syntax_not_allowed"),
        ("age IS TRUE", "type_error"),
        ("3 - born", "type_error"),
        ("born + born", "type_error"),
        ("born + age", "function_not_allowed"),
        ("born + 0.5", "type_error"),
        ("born + 4000000", "type_error"),
        ("born + INTERVAL 1 HOUR", "bad_literal"),
        ("born + INTERVAL 999999999 YEAR", "type_error"),
        ("born + INTERVAL (age) DAY", "bad_literal"),
        ("born + age * INTERVAL 1 DAY", "function_not_allowed"),
        ("age + INTERVAL 1 DAY + name", "type_error"),
        ("EXTRACT(year FROM age)", "type_error"),
        ("name ILIKE eye_color", "bad_literal"),
        ("NULL", "bad_literal"),
    ],
)
def test_what_cannot_be_answered_is_refused(text, code):
    assert code_of(text) == code


def test_what_doubles_with_every_level_is_refused_before_it_is_long():
    text = "age"
    for _ in range(20):
        text = f"IF({text} BETWEEN 0 AND 9, 1, 0)"
    assert code_of(text) == "too_complex"


def test_a_long_case_over_a_long_value_is_refused_before_it_is_multiplied():
    cases = " ".join(f"WHEN {place} THEN 1" for place in range(400))
    assert read(f"CASE age {cases} END")
    assert code_of(f"CASE age + 1 + 1 + 1 + 1 {cases} END") == "too_complex"
    assert code_of(f"CASE {' + '.join(['age'] * 15)} {cases} END") == "too_complex"
