"""Expressions over one row: from the parser's tree to our own nodes, by a closed list."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from math import isfinite

from sqlglot import exp

from adomnia.catalog.model import Table
from adomnia.errors import Refusal
from adomnia.privacy.expressions import FUNCTIONS, Column, Expression, Literal, number, text
from adomnia.privacy.kinds import Day, Identity, Text, Truth
from adomnia.sql.conditions import applied, chained, size
from adomnia.sql.refusals import refusal, unanswerable, unknown

MOST_NODES = 10_000

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NUMBER = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)
_NUMBER_TYPES = {exp.DType.DOUBLE, exp.DType.FLOAT, exp.DType.DECIMAL, exp.DType.INT, exp.DType.BIGINT}

_OPERATORS: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_PARTS = {
    "expressions": "more than one argument",
    "columns": "names of columns",
    "db": "a schema",
    "catalog": "a database",
}
# Beside what they hold, nodes carry remarks of the parser. These change nothing here: division is of doubles, and by
# zero it is NULL; a type that the parser noted on a constant is checked again.
_REMARKS = {"typed", "safe", "nested"}


@dataclass(frozen=True)
class Scope:
    """The table that a question is about, under the name the question gives it."""

    table: Table
    name: str

    def column(self, node: exp.Column) -> Column:
        """The declared column that a name stands for; names are the same in upper and lower case."""
        if isinstance(node.this, exp.Star):
            raise refusal("not_an_aggregate", node, "means all columns of single rows", "use COUNT(*)")
        only(node, "this", "table")
        if node.table and node.table.lower() != self.name.lower():
            raise unknown("unknown_table", node, node.table, "tables of this question", [self.name])
        for column in self.table.columns:
            if column.name.lower() == node.name.lower():
                return column
        columns = [column.name for column in self.table.columns]
        raise unknown("unknown_column", node, node.name, f"columns of {self.table.name}", columns)


def only(node: exp.Expr, *allowed: str) -> None:
    """Refuse a node that holds more than what is understood of it."""
    extra = sorted(name for name, value in node.args.items() if value and name not in (*allowed, *_REMARKS))
    if extra:
        part = _PARTS.get(extra[0], extra[0].rstrip("_").replace("_", " ").upper())
        raise refusal("syntax_not_allowed", node, f"has a part that is not answered ({part})", "leave that part out")


def expression(node: exp.Expr, scope: Scope) -> Expression:
    """The meaning of a node, or its refusal."""
    kind = type(node)
    if kind in _OPERATORS:
        only(node, "this", "expression")
        left, right = (expression(part, scope) for part in (node.this, node.expression))
        return build(node, _OPERATORS[kind], *_dated(node, left, right))
    if kind in _READERS:
        return _READERS[kind](node, scope)
    raise unanswerable(node)


def build(node: exp.Expr, function: str, *arguments: Expression) -> Expression:
    """A function applied, or a refusal that says what it takes."""
    try:
        return applied(function, *arguments)
    except ValueError:
        raise _misfit(node, FUNCTIONS[function].signature, arguments) from None


def constant(node: exp.Expr, scope: Scope) -> Literal:
    """An expression that must be a constant."""
    value = expression(node, scope)
    if not isinstance(value, Literal):
        raise refusal("bad_literal", node, "is not a constant", "write a constant there")
    return value


def _misfit(node: exp.Expr, signature: str, given: Sequence[Expression]) -> Refusal:
    if any(isinstance(each.kind, Identity) for each in given):
        return refusal("identifier_column", node, "looks at an id", "ids can be counted, not compared")
    found = ", ".join(dict.fromkeys(str(each.kind) for each in given))
    return refusal("type_error", node, f"is made of {found}", f"it takes {signature.split(' -> ', maxsplit=1)[0]}")


def _bracketed(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this")
    return expression(node.this, scope)


def _column(node: exp.Expr, scope: Scope) -> Expression:
    assert isinstance(node, exp.Column)  # noqa: S101 - by the table of readers
    return scope.column(node)


def _literal(node: exp.Expr, _: Scope) -> Literal:
    return text(str(node.this)) if node.args.get("is_string") else read_number(node, str(node.this))


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
    inner = expression(node.this, scope)
    if isinstance(inner, Literal) and isinstance(inner.value, Fraction):
        return number(-inner.value)
    return build(node, "negative", inner)


def _not(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this")
    return build(node, "not", expression(node.this, scope))


def _chain(node: exp.Expr, scope: Scope) -> Expression:
    function = "and" if isinstance(node, exp.And) else "or"
    parts = [expression(part, scope) for part in node.flatten()]
    try:
        return chained(function, parts)
    except ValueError:
        raise _misfit(node, FUNCTIONS[function].signature, parts) from None


def _in(node: exp.Expr, scope: Scope) -> Expression:
    if node.args.get("query"):
        raise unanswerable(node.args["query"])
    only(node, "this", "expressions")
    value = expression(node.this, scope)
    if size(value) * len(node.expressions) > MOST_NODES:
        raise refusal("too_complex", node, "has too many cases", "shorten the list", "IN")
    equal = [build(node, "=", *_dated(item, value, constant(item, scope))) for item in node.expressions]
    return chained("or", equal)


def _between(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "low", "high")
    value, low, high = (expression(node.args[part], scope) for part in ("this", "low", "high"))
    above = build(node, ">=", *_dated(node, value, low))
    below = build(node, "<=", *_dated(node, value, high))
    return build(node, "and", above, below)


def _is(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "expression")
    if not isinstance(node.expression, exp.Null):
        raise refusal("syntax_not_allowed", node, "is asked with IS", "use IS NULL, or compare with =")
    return build(node, "is null", expression(node.this, scope))


def _like(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "expression", "negate")
    pattern = constant(node.expression, scope)
    matches = build(node, "like", expression(node.this, scope), pattern)
    return build(node, "not", matches) if node.args.get("negate") else matches


def _escape(node: exp.Expr, scope: Scope) -> Expression:
    character = constant(node.expression, scope).value
    if not isinstance(character, str) or len(character) != 1:
        raise refusal("bad_literal", node.expression, "is not one character", "leave ESCAPE out")
    raise refusal("function_not_allowed", node, "has an ESCAPE, which is not answered", "leave it out", "LIKE")


def _cast(node: exp.Expr, _: Scope) -> Literal:
    """A constant with its type: DATE '2024-01-31', or a number in quotes."""
    only(node, "this", "to")
    target, inner = node.args["to"].this, node.this
    if not isinstance(inner, exp.Literal):
        fix = "compare columns with constants of their own type"
        raise refusal("function_not_allowed", node, "changes the type of a value", fix, "CAST")
    if target == exp.DType.DATE:
        return _day(node, str(inner.this))
    if target in _NUMBER_TYPES:
        return read_number(node, str(inner.this).strip())
    raise refusal("bad_literal", node, "is a constant of a type that is not read", "write a number, a text or a DATE")


def _dated(node: exp.Expr, left: Expression, right: Expression) -> tuple[Expression, Expression]:
    """A text constant beside a date is a date."""
    if isinstance(left.kind, Day) and isinstance(right, Literal) and isinstance(right.kind, Text):
        return left, _day(node, str(right.value))
    if isinstance(right.kind, Day) and isinstance(left, Literal) and isinstance(left.kind, Text):
        return _day(node, str(left.value)), right
    return left, right


def _day(node: exp.Expr, written: str) -> Literal:
    try:
        value = date.fromisoformat(written) if _DATE.fullmatch(written) else None
    except ValueError:
        value = None
    if value is None:
        raise refusal("bad_literal", node, "has a date that is not in the calendar", "write it like DATE '2024-01-31'")
    return Literal(value, Day(value, value))


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
    exp.Escape: _escape,
    exp.Cast: _cast,
}
