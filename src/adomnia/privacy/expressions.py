"""Scalar expressions over one row, made of the functions of one table.

Every function is total: on every row it gives a value or NULL, never an error, because an error that some rows raise
and others do not is an answer nobody paid for. Numbers are IEEE doubles in every engine, and NULL where they are not
finite.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime
from fractions import Fraction
from typing import ClassVar, TypeAlias

from adomnia.privacy.domains import Numbers
from adomnia.privacy.functions.registry import FUNCTIONS
from adomnia.privacy.hashing import hashed_once
from adomnia.privacy.kinds import Kind, Quantity, Text

__all__ = [
    "FUNCTIONS",
    "Call",
    "Column",
    "Expression",
    "Literal",
    "call",
    "columns_of",
    "conjuncts",
    "map_columns",
    "number",
    "quote_name",
    "text",
    "truth_as_number",
]


@hashed_once
@dataclass(frozen=True)
class Column:
    """A column of a relation; `domain` is the grid that a bounded number is stored on.

    `source` names the side of a join that it comes from; `optional` says that a LEFT JOIN may leave it out.
    """

    tag: ClassVar[str] = "Column"
    name: str
    kind: Kind
    domain: Numbers | None = None
    source: str = ""
    optional: bool = False


@dataclass(frozen=True)
class Literal:
    """A constant of the question; None is NULL."""

    tag: ClassVar[str] = "Literal"
    value: Fraction | str | bool | date | datetime | None
    kind: Kind


@hashed_once
@dataclass(frozen=True)
class Call:
    """A function of the table applied to expressions."""

    tag: ClassVar[str] = "Call"
    function: str
    arguments: tuple["Expression", ...]
    kind: Kind


Expression: TypeAlias = Column | Literal | Call

_PLAIN = re.compile("[A-Za-z_][A-Za-z0-9_]*")

_FAR_FROM_OVERFLOW = Fraction(2**1000)


def number(value: Fraction | int) -> Literal:
    """A numeric constant."""
    exact = Fraction(value)
    return Literal(exact, Quantity(exact, exact, whole=exact.denominator == 1))


def text(value: str) -> Literal:
    """A text constant."""
    return Literal(value, Text())


def call(name: str, *arguments: Expression) -> Call:
    """The function applied, with its kind derived; ValueError where the arguments do not fit its signature.

    >>> call("+", number(1), number(2)).kind
    Quantity(lower=Fraction(3, 1), upper=Fraction(3, 1), whole=True)
    """
    function = FUNCTIONS[name]
    kinds = tuple(argument.kind for argument in arguments)
    fits = function.arity in (None, len(kinds)) and all(_is_constant(arguments[place]) for place in function.constants)
    kind = function.result(*kinds) if fits else None
    if kind is None:
        raise ValueError(f"{name} takes {function.signature}, got {', '.join(map(str, kinds))}.")
    if function.chooses or _surely_finite(kind):
        return Call(name, arguments, kind)
    spread = (_unguarded(part) if place in function.spreads else part for place, part in enumerate(arguments))
    return Call("finite", (Call(name, tuple(spread), kind),), kind)


def truth_as_number(expression: Expression) -> Call:
    """A condition as the number 1 where it is true and 0 where it is false."""
    return call("boolean as number", expression)


def quote_name(name: str) -> str:
    """The name of a column as a question writes it: in quotes unless it is made of letters, digits and _ alone.

    >>> quote_name("age"), quote_name("education-num")
    ('age', '"education-num"')
    """
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def columns_of(expression: Expression) -> frozenset[Column]:
    """The columns an expression reads."""
    match expression:
        case Column():
            return frozenset({expression})
        case Call(arguments=arguments):
            return frozenset().union(*map(columns_of, arguments))
    return frozenset()


def map_columns(expression: Expression, change: Callable[[Column], Expression]) -> Expression:
    """The same expression of other columns, which are of the same kinds."""
    match expression:
        case Column():
            return change(expression)
        case Call(arguments=arguments):
            return replace(expression, arguments=tuple(map_columns(argument, change) for argument in arguments))
    return expression


def conjuncts(condition: Expression) -> Iterator[Expression]:
    """The conditions that a chain of AND holds."""
    if isinstance(condition, Call) and condition.function == "and":
        for part in condition.arguments:
            yield from conjuncts(part)
    else:
        yield condition


def _unguarded(expression: Expression) -> Expression:
    """Without its guard, where the result is guarded and no infinity becomes finite on the way."""
    guarded = isinstance(expression, Call) and expression.function == "finite"
    return expression.arguments[0] if guarded and isinstance(expression, Call) else expression


def _is_constant(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.value is not None


def _surely_finite(kind: Kind) -> bool:
    if not isinstance(kind, Quantity):
        return True
    bounds = (kind.lower, kind.upper)
    return all(bound is not None and abs(bound) <= _FAR_FROM_OVERFLOW for bound in bounds)
