"""Conditions that mean the same take one form, and the form means what the condition did."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.plans.descriptions import describe
from adomnia.privacy.expressions import Call, Column, Literal, call, number
from adomnia.privacy.kinds import Boolean, Quantity, Text
from adomnia.sql.values.conditions import apply, chain, size

X, Y = (Column(name, Quantity(Fraction(-9), Fraction(9), whole=True)) for name in "xy")
A, B, C = (Column(name, Boolean()) for name in "abc")


def value(expression, row):
    """Three-valued logic and exact arithmetic in plain Python; None is NULL."""
    match expression:
        case Column(name=name):
            return row[name]
        case Literal(value=constant):
            return constant
        case Call(function="is null", arguments=(inner,)):
            return value(inner, row) is None
        case Call(function="not", arguments=(inner,)):
            found = value(inner, row)
            return None if found is None else not found
        case Call(function="and" | "or" as function, arguments=parts):
            found = [value(part, row) for part in parts]
            decisive = function == "or"
            return decisive if decisive in found else None if None in found else not decisive
        case Call(function=function, arguments=parts):
            left, right = (value(part, row) for part in parts)
            return None if left is None or right is None else COMPUTE[function](left, right)


COMPUTE = {
    "+": lambda a, b: a + b,
    "*": lambda a, b: a * b,
    "-": lambda a, b: a - b,
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}

numbers = st.recursive(
    st.sampled_from([X, Y, number(0), number(3), number(-2)]),
    lambda inner: st.tuples(st.sampled_from(["+", "*", "-"]), inner, inner),
    max_leaves=4,
)
leaves = st.one_of(
    st.sampled_from([A, B, C, Literal(True, Boolean())]),
    st.tuples(st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), numbers, numbers),
)
conditions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["and", "or", "=", "<>"]), inner, inner),
        st.tuples(st.sampled_from(["not", "is null"]), inner),
    ),
    max_leaves=8,
)
rows = st.fixed_dictionaries(
    {
        **dict.fromkeys("xy", st.one_of(st.none(), st.integers(-9, 9))),
        **dict.fromkeys("abc", st.sampled_from([None, True, False])),
    }
)


def built(shape, apply):
    return apply(shape[0], *(built(part, apply) for part in shape[1:])) if isinstance(shape, tuple) else shape


@given(conditions, rows)
def test_the_one_form_of_a_condition_is_true_where_the_condition_is(shape, row):
    assert value(built(shape, apply), row) == value(built(shape, call), row)


@given(conditions)
def test_the_one_form_is_its_own_form(shape):
    form = built(shape, apply)
    assert rebuilt(form) == form


def rebuilt(form):
    return apply(form.function, *map(rebuilt, form.arguments)) if isinstance(form, Call) else form


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("and", A, B), ("and", B, A)),
        (("and", ("and", A, B), C), ("and", A, ("and", C, B))),
        (("or", A, A), A),
        (("not", ("not", A)), A),
        (("<", X, Y), (">", Y, X)),
        (("<=", number(3), X), (">=", X, number(3))),
        (("not", ("<", X, Y)), (">=", X, Y)),
        (("not", ("=", X, Y)), ("<>", Y, X)),
        (("=", ("+", X, Y), number(3)), ("=", number(3), ("+", Y, X))),
        (("greatest", X, ("greatest", Y, X)), ("greatest", Y, X)),
        (("same", X, number(3)), ("same", number(3), X)),
    ],
)
def test_respelling_a_condition_does_not_change_its_form(one, other):
    assert built(one, apply) == built(other, apply)


def test_forms_that_mean_something_else_differ():
    texts = {describe(apply(name, X, Y)) for name in ("=", "<>", "<", "<=", "-", "+", "*")}
    assert len(texts) == 7
    assert apply("-", X, Y) != apply("-", Y, X)


def test_a_long_chain_is_shallow():
    long = chain("or", [apply("=", X, number(k)) for k in range(1000)])
    depth, level = 0, [long]
    while level:
        depth, level = depth + 1, [part for node in level if isinstance(node, Call) for part in node.arguments]
    assert depth <= 13
    assert size(long) == 3999


def test_the_size_of_an_expression_is_that_of_what_is_written():
    town = Column("town", Text(tuple("abcdefgh")))
    assert size(call("=", town, Literal("a", Text()))) == 3
    assert size(call("upper", town)) == 16 + 8
    assert size(call("like", town, Literal("a%", Text()))) == 3
    assert size(call("=", town, Column("home", town.kind))) == 3
    assert size(call("=", town, Column("home", Text(("a", "b"))))) == 1 + 8 + 2
    assert size(call("is null", town)) == 2
    assert size(call("like", Column("name", Text()), Literal("a" * 100, Text()))) == 1 + 4 * 100
    assert size(Literal("a" * 160, Text())) == 11
    assert size(call("clamp", X, number(0), number(1))) == 7
    assert size(call("clamp", call("clamp", X, number(0), number(1)), number(0), number(1))) == 19


def test_a_column_called_like_a_constant_is_not_the_constant():
    true = Column("TRUE", Boolean())
    assert chain("and", (true, Literal(True, Boolean()))) != chain("and", (true, true))


@pytest.mark.parametrize("parts", [(A, X), (X, X), (number(1), number(1))])
def test_a_chain_of_what_is_no_condition_is_refused(parts):
    with pytest.raises(ValueError, match="takes boolean"):
        chain("and", parts)
