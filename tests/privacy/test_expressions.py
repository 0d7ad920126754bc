"""Expressions know the kind and the bounds of their value, and every function is total."""

from __future__ import annotations

import math
from datetime import date
from fractions import Fraction

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import (
    FUNCTIONS,
    Call,
    Column,
    Literal,
    call,
    columns_of,
    conjuncts,
    number,
    quote_name,
    text,
    truth_as_number,
)
from adomnia.privacy.kinds import Boolean, Day, Identity, Quantity, Text

AGE = Column("age", Quantity(Fraction(0), Fraction(120), whole=True), Numbers.integers(0, 120))
PAY = Column("pay", Quantity(Fraction(-10), Fraction(500)))
FREE = Column("free", Quantity())
NAME = Column("name", Text())
SEX = Column("sex", Text(("F", "M")))
BORN = Column("born", Day())
ACTIVE = Column("active", Boolean())
ID = Column("id", Identity(person=True))
TRUE = Literal(True, Boolean())


def bounds(expression):
    return expression.kind.lower, expression.kind.upper


@pytest.mark.parametrize(
    ("function", "arguments", "lower", "upper", "whole"),
    [
        ("+", (AGE, AGE), 0, 240, True),
        ("+", (AGE, PAY), -10, 620, False),
        ("-", (AGE, PAY), -500, 130, False),
        ("*", (PAY, PAY), -5000, 250_000, False),
        ("*", (AGE, number(-2)), -240, 0, True),
        ("/", (AGE, number(4)), 0, 30, False),
        ("/", (number(1), call("+", AGE, number(1))), Fraction(1, 121), 1, False),
        ("/", (number(1), number(-2)), Fraction(-1, 2), Fraction(-1, 2), False),
        ("negative", (PAY,), -500, 10, False),
        ("negative", (AGE,), -120, 0, True),
    ],
)
def test_bounds_of_a_result_follow_from_those_of_its_arguments(function, arguments, lower, upper, whole):
    result = call(function, *arguments)
    assert result.kind == Quantity(Fraction(lower), Fraction(upper), whole)


@pytest.mark.parametrize(
    "expression",
    [
        call("/", AGE, PAY),
        call("/", number(1), AGE),
        call("/", AGE, FREE),
        call("+", AGE, FREE),
        call("negative", FREE),
        call("*", call("*", PAY, number(10**200)), number(10**200)),
    ],
)
def test_a_result_without_bounds_is_made_finite(expression):
    assert bounds(expression) == (None, None)
    assert expression.function == "finite"


def test_one_guard_is_enough_for_what_no_infinity_leaves():
    total = call("+", call("*", FREE, FREE), call("negative", FREE))
    assert [part.function for part in total.arguments[0].arguments] == ["*", "negative"]
    assert call("/", FREE, total).arguments[0].arguments[1] == total  # something divided by infinity is zero
    assert call("/", call("*", PAY, number(10**303)), number(10**303)).arguments[0].function == "finite"


def test_a_result_with_bounds_is_left_alone():
    assert call("*", PAY, PAY).function == "*"


def test_bounds_near_the_end_of_the_doubles_are_kept_but_guarded():
    huge = call("*", PAY, number(10**303))
    assert huge.function == "finite"
    assert bounds(huge) == (-(10**304), 5 * 10**305)


def test_bounds_of_long_products_are_rounded_outward():
    product = PAY
    exact = Fraction(500)
    for _ in range(40):
        product = call("*", product, number(Fraction("0.12345678901234567")))
        exact *= Fraction("0.12345678901234567")
    assert product.kind.upper >= exact
    assert product.kind.upper <= exact * (1 + Fraction(1, 10**15))
    assert product.kind.upper.denominator.bit_length() <= 1200


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        *((name, (AGE, PAY)) for name in ("=", "<>", "<", "<=", ">", ">=")),
        *((name, (NAME, NAME)) for name in ("<", "<=", ">", ">=")),
        *((name, (BORN, Literal(date(2000, 1, 1), Day()))) for name in ("=", "<>", "<", ">=")),
        ("=", (NAME, SEX)),
        ("<>", (ACTIVE, TRUE)),
        ("and", (ACTIVE, TRUE)),
        ("or", (ACTIVE, TRUE)),
        ("not", (ACTIVE,)),
        ("like", (NAME, text("A%"))),
        *(("is null", (column,)) for column in (AGE, NAME, BORN, ACTIVE)),
    ],
)
def test_conditions_are_true_or_false(function, arguments):
    assert call(function, *arguments).kind == Boolean()


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("+", (AGE, NAME)),
        ("*", (ACTIVE, AGE)),
        ("/", (AGE, BORN)),
        ("negative", (NAME,)),
        ("finite", (NAME,)),
        ("=", (AGE, NAME)),
        ("=", (ID, ID)),
        ("<", (ACTIVE, ACTIVE)),
        ("and", (AGE, ACTIVE)),
        ("not", (AGE,)),
        ("like", (AGE, text("1%"))),
        ("is null", (ID,)),
        ("not", (ACTIVE, ACTIVE)),
        ("+", (AGE,)),
        ("=", (AGE, AGE, AGE)),
        ("clamp", (AGE, AGE, number(1))),
        ("clamp", (AGE, Literal(None, Quantity()), number(1))),
        ("clamp", (AGE, number(2), number(1))),
        ("substring", (NAME, number(0), number(1))),
        ("substring", (NAME, number(1), AGE)),
        ("case", (ACTIVE, AGE)),
        ("case", (AGE,)),
        ("case", (AGE, AGE, AGE)),
        ("case", (ACTIVE, AGE, NAME)),
        ("coalesce", (ID, ID)),
        ("greatest", (NAME, NAME)),
    ],
)
def test_arguments_that_do_not_fit_are_refused_with_the_signature(function, arguments):
    with pytest.raises(ValueError, match="takes") as refused:
        call(function, *arguments)
    assert FUNCTIONS[function].signature in str(refused.value)


def test_an_expression_knows_its_columns():
    assert columns_of(call("+", AGE, call("*", PAY, number(2)))) == {AGE, PAY}
    assert columns_of(number(1)) == frozenset()


def test_constants_know_their_value():
    assert number(Fraction(1, 2)).kind == Quantity(Fraction(1, 2), Fraction(1, 2))
    assert number(3).kind.whole
    assert text("x") == Literal("x", Text())


SPECIAL = [None, 0.0, -0.0, 1.0, -1.5, 1e308, -1e308, 5e-324, math.inf, -math.inf]
doubles = st.one_of(st.sampled_from(SPECIAL), st.floats(allow_nan=False))


@pytest.fixture(scope="module")
def engine():
    with duckdb.connect() as connection:
        yield connection


def computed(engine, function, *values):
    """The function as the engine computes it; NaN would show as itself."""
    sql = DUCKDB.functions[function](*(f"CAST(${place + 1} AS DOUBLE)" for place in range(len(values))))
    return engine.execute(f"SELECT {sql}", list(values)).fetchall()[0][0]


def expected(function, left, right):
    """The same in plain Python: no value for no value, nor for what is not finite."""
    if left is None or right is None or (function == "/" and right == 0):
        return None
    match function:
        case "+":
            value = left + right
        case "-":
            value = left - right
        case "*":
            value = left * right
        case _:
            value = left / right
    return value


@pytest.mark.parametrize("function", ["+", "-", "*", "/"])
@given(left=doubles, right=doubles)
def test_arithmetic_is_that_of_doubles_and_never_fails(engine, function, left, right):
    value, exact = computed(engine, function, left, right), expected(function, left, right)
    assert value == exact or (value is not None and math.isnan(value) and math.isnan(exact))


@pytest.mark.parametrize("value", [*SPECIAL, math.nan])
def test_finite_keeps_every_finite_double_and_nothing_else(engine, value):
    kept = computed(engine, "finite", value)
    assert kept == (value if value is not None and math.isfinite(value) else None)


@given(
    left=st.integers(-1000, 1000),
    right=st.integers(-1000, 1000),
    widths=st.tuples(st.integers(0, 50), st.integers(0, 50)),
    parts=st.tuples(st.fractions(0, 1), st.fractions(0, 1)),
    function=st.sampled_from(["+", "-", "*", "/"]),
)
def test_no_value_within_the_bounds_gives_a_result_outside_the_derived_ones(left, right, widths, parts, function):
    kinds = [Quantity(Fraction(low), Fraction(low + width)) for low, width in zip((left, right), widths, strict=True)]
    values = [low + part * width for low, part, width in zip((left, right), parts, widths, strict=True)]
    kind = call(function, *(Column("x", kind) for kind in kinds)).kind
    result = expected(function, *values)
    if kind.bounded and result is not None:
        assert kind.lower <= result <= kind.upper


def test_a_call_is_a_value():
    assert call("+", AGE, PAY) == Call("+", (AGE, PAY), Quantity(Fraction(-10), Fraction(620)))
    assert hash(call("+", AGE, PAY)) == hash(call("+", AGE, PAY))


def test_a_condition_counts_as_one_or_zero():
    assert truth_as_number(ACTIVE).kind == Quantity(Fraction(0), Fraction(1), whole=True)


def test_the_conditions_of_a_chain_are_told_one_by_one():
    either = call("or", ACTIVE, call("is null", NAME))
    assert list(conjuncts(call("and", call("and", ACTIVE, either), ACTIVE))) == [ACTIVE, either, ACTIVE]
    assert list(conjuncts(either)) == [either]


@pytest.mark.parametrize(
    ("name", "written"),
    [("age", "age"), ("_A1", "_A1"), ("a b", '"a b"'), ('a"b', '"a""b"'), ("1a", '"1a"'), ("é", '"é"')],
)
def test_a_name_is_quoted_unless_it_is_plain(name, written):
    assert quote_name(name) == written
