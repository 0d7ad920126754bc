"""Expressions over one row: from the parser's tree to our own nodes, by a closed list."""

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import isfinite

from sqlglot import exp

from adomnia.privacy.expressions import Call, Column, Expression, Literal, number, text, truth_as_number
from adomnia.privacy.kinds import LONGEST_TEXT, Day, Identity, Quantity, Truth
from adomnia.sql.reading.refusals import refusal, unanswerable
from adomnia.sql.values.casts import NUMBER_TYPES, cast
from adomnia.sql.values.conditions import chained, size
from adomnia.sql.values.functions import (
    CONDITIONAL,
    MOST_NODES,
    NAMES,
    build,
    called,
    date_part,
    dated,
    misfit,
    read_day,
    small,
)
from adomnia.sql.values.scope import Scope, listed, only

__all__ = ["MOST_NODES", "Scope", "constant", "expression", "only", "read_number", "truth_as_number"]

_NUMBER = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)

_OPERATORS: dict[type[exp.Expr], str] = {
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "mod",
    exp.Pow: "power",
    exp.DPipe: "||",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "same",
}
LONGEST_PATTERN = 256

_WHOLE = re.compile("[0-9]{1,9}", re.ASCII)
_DAYS = {"DAY": 1, "WEEK": 7}


def expression(node: exp.Expr, scope: Scope) -> Expression:
    """The meaning of a node, or its refusal."""
    if id(node) in scope.given:
        return scope.given[id(node)]
    kind = type(node)
    if kind in _OPERATORS:
        only(node, "this", "expression")
        left, right = (expression(part, scope) for part in (node.this, node.expression))
        return build(node, _OPERATORS[kind], *dated(node, left, right))
    if kind in _READERS:
        return _READERS[kind](node, scope)
    raise unanswerable(node)


def constant(node: exp.Expr, scope: Scope) -> Literal:
    """An expression that must be a constant."""
    value = expression(node, scope)
    if not isinstance(value, Literal):
        raise refusal("bad_literal", node, "is not a constant", "write a constant there")
    return value


def _bracketed(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this")
    return expression(node.this, scope)


def _column(node: exp.Expr, scope: Scope) -> Expression:
    assert isinstance(node, exp.Column)  # noqa: S101 - by the table of readers
    return scope.column(node)


def _literal(node: exp.Expr, _: Scope) -> Literal:
    if not node.args.get("is_string"):
        return read_number(node, str(node.this))
    if len(str(node.this)) > LONGEST_TEXT:
        raise refusal("bad_literal", node, f"is longer than {LONGEST_TEXT:,} characters", "shorten it")
    return text(str(node.this))


def read_number(node: exp.Expr, digits: str) -> Literal:
    """A number as a double reads it, by its shortest decimal: 0.10 and 1e-1 are the same constant."""
    if not _NUMBER.fullmatch(digits):
        raise refusal("bad_literal", node, "is not a number", "write a number such as 12.5")
    value = float(digits)
    if not isfinite(value) or (value == 0 and any(digit in "123456789" for digit in digits.lower().split("e")[0])):
        raise refusal("bad_literal", node, "is beyond the range of a double", "write a number between 1e-300 and 1e300")
    return number(Fraction(repr(value)))


def _boolean(node: exp.Expr, _: Scope) -> Literal:
    return Literal(bool(node.this), Truth())


def _null(node: exp.Expr, _: Scope) -> Expression:
    raise refusal("bad_literal", node, "is equal to nothing, not even to itself", "use IS NULL or IS NOT NULL", "NULL")


def _negative(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this")
    return _negated(node, expression(node.this, scope))


def _negated(node: exp.Expr, value: Expression) -> Expression:
    if isinstance(value, Literal) and isinstance(value.value, Fraction):
        return number(-value.value)
    return build(node, "negative", value)


def _not(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this")
    return build(node, "not", expression(node.this, scope))


def _chain(node: exp.Expr, scope: Scope) -> Expression:
    function = "and" if isinstance(node, exp.And) else "or"
    parts = [expression(part, scope) for part in node.flatten()]
    try:
        return small(node, chained(function, parts))
    except ValueError:
        raise misfit(node, function, parts) from None


def _in(node: exp.Expr, scope: Scope) -> Expression:
    if node.args.get("query"):
        raise unanswerable(node.args["query"])
    assert isinstance(node, exp.In)  # noqa: S101 - by the table of readers
    items, value = listed(node), expression(node.this, scope)
    equal = [build(node, "=", *dated(item, value, constant(item, scope))) for item in items]
    if sum(map(size, equal)) > MOST_NODES:
        raise refusal("too_complex", node, "has too many cases", "shorten the list", "IN")
    return chained("or", equal)


def _between(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "low", "high")
    value, low, high = (expression(node.args[part], scope) for part in ("this", "low", "high"))
    above = build(node, ">=", *dated(node, value, low))
    below = build(node, "<=", *dated(node, value, high))
    return build(node, "and", above, below)


def _is(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "expression")
    match node.expression:
        case exp.Null():
            value = expression(node.this, scope)
            if isinstance(value, Column) and isinstance(value.kind, Identity) and value.optional:
                return Call("is null", (value,), Truth())  # whether LEFT JOIN found somebody says nothing of the id
            return build(node, "is null", value)
        case exp.Boolean(this=true):
            value = expression(node.this, scope)
            return build(node, "coalesce", value if true else build(node, "not", value), Literal(False, Truth()))
    raise refusal("syntax_not_allowed", node, "is asked with IS", "use IS NULL, IS TRUE or IS FALSE, or compare with =")


def _different(node: exp.Expr, scope: Scope) -> Expression:
    """IS DISTINCT FROM."""
    only(node, "this", "expression")
    parts = (expression(part, scope) for part in (node.this, node.expression))
    return build(node, "not", build(node, "same", *dated(node, *parts)))


def _like(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "expression", "negate")
    value, pattern = expression(node.this, scope), constant(node.expression, scope)
    if len(str(pattern.value)) > LONGEST_PATTERN:
        raise refusal("bad_literal", node.expression, f"is longer than {LONGEST_PATTERN} characters", "shorten it")
    sides = [build(node, "lower", side) for side in (value, pattern)] if type(node) is exp.ILike else [value, pattern]
    matches = build(node, "like", *sides)
    return build(node, "not", matches) if node.args.get("negate") else matches


def _escape(node: exp.Expr, scope: Scope) -> Expression:
    character = constant(node.expression, scope).value
    if not isinstance(character, str) or len(character) != 1:
        raise refusal("bad_literal", node.expression, "is not one character", "leave ESCAPE out")
    raise refusal("function_not_allowed", node, "has an ESCAPE, which is not answered", "leave it out", "LIKE")


def _cast(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "to")
    target, inner = node.args["to"], node.this
    if isinstance(inner, exp.Literal) and inner.is_string and target.this == exp.DType.DATE:
        return read_day(node, inner.this)
    if isinstance(inner, exp.Literal) and target.this in NUMBER_TYPES:
        return cast(node, read_number(node, str(inner.this).strip()), target)
    return cast(node, expression(inner, scope), target)


def _extract(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "expression")
    return date_part(node, node.name, expression(node.expression, scope))


def _called(node: exp.Expr, scope: Scope) -> Expression:
    name = str(node.this).upper()
    if name in CONDITIONAL and len(node.expressions) == 3:
        condition, *outcomes = node.expressions
        return _chosen(node, [expression(condition, scope)], outcomes, scope)
    if name not in NAMES:
        raise unanswerable(node)
    return called(node, name, [expression(part, scope) for part in node.expressions])


def _case(node: exp.Expr, scope: Scope) -> Expression:
    """CASE WHEN condition THEN ..., or CASE value WHEN value THEN ..., which compares."""
    only(node, "this", "ifs", "default")
    branches = node.args["ifs"]
    tests = [expression(branch.this, scope) for branch in branches]
    if node.this is not None:
        value = expression(node.this, scope)
        if size(value) * len(tests) > MOST_NODES:
            raise refusal("too_complex", node, "has too many cases", "take it apart", "CASE")
        tests = [build(node, "=", *dated(node, value, test)) for test in tests]
    outcomes = [branch.args["true"] for branch in branches]
    return _chosen(node, tests, [*outcomes, node.args.get("default") or exp.Null()], scope)


def _chosen(node: exp.Expr, tests: Sequence[Expression], outcomes: Sequence[exp.Expr], scope: Scope) -> Expression:
    """The outcome of the first test that is true; NULL as an outcome is of the type of the others."""
    values = [None if isinstance(part, exp.Null) else expression(part, scope) for part in outcomes]
    kinds = [value.kind for value in values if value is not None]
    if not kinds:
        raise refusal("bad_literal", node, "is always NULL", "give it an outcome that is a value", "CASE")
    given = dated(node, *(Literal(None, kinds[0]) if value is None else value for value in values))
    pairs = (part for pair in zip(tests, given, strict=False) for part in pair)
    return build(node, "case", *pairs, given[-1])


def _sum(node: exp.Expr, scope: Scope) -> Expression:
    """+ and - of numbers, of two dates, or of a date and a constant number of days."""
    only(node, "this", "expression")
    subtracts = isinstance(node, exp.Sub)
    left, right = (_term(part, scope) for part in (node.this, node.expression))
    if isinstance(right.kind, Day) and not subtracts:
        left, right = right, left
    if isinstance(left.kind, Day) and isinstance(right.kind, Quantity):
        return build(node, "shift", left, _negated(node, right) if subtracts else right)
    if subtracts:
        left, right = dated(node, left, right)
    between = subtracts and isinstance(left.kind, Day)
    return build(node, "days between" if between else "-" if subtracts else "+", left, right)


def _term(node: exp.Expr, scope: Scope) -> Expression:
    """An interval beside + and - is a number of days."""
    if type(node) is not exp.Interval:
        return expression(node, scope)
    unit = _DAYS.get(str(node.args.get("unit") or "").upper().removesuffix("S"))
    amount = node.this
    if unit is None or not isinstance(amount, exp.Literal) or not _WHOLE.fullmatch(amount.name):
        raise unanswerable(node)
    return number(unit * int(amount.name))


_READERS: dict[type[exp.Expr], Callable[[exp.Expr, Scope], Expression]] = {
    exp.Paren: _bracketed,
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Boolean: _boolean,
    exp.Null: _null,
    exp.Neg: _negative,
    exp.Not: _not,
    exp.And: _chain,
    exp.Or: _chain,
    exp.In: _in,
    exp.Between: _between,
    exp.Is: _is,
    exp.Like: _like,
    exp.ILike: _like,
    exp.Escape: _escape,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Add: _sum,
    exp.Sub: _sum,
    exp.NullSafeNEQ: _different,
    exp.Case: _case,
    exp.Extract: _extract,
    exp.Anonymous: _called,
}
