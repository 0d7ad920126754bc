"""Scalar expressions over one row, and the one table of functions they are made of.

Every function is total: on every row it gives a value or NULL, never an error, because an error that some rows raise
and others do not is an answer nobody paid for. Numbers are IEEE doubles in every engine, and NULL where they are not
finite. Adding a function is adding a row to FUNCTIONS.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from math import inf, nextafter
from typing import TypeAlias

from adomnia.privacy.domains import Numbers
from adomnia.privacy.kinds import Day, Identity, Kind, Quantity, Text, Truth


@dataclass(frozen=True)
class Column:
    """A declared column; `domain` is the grid that a bounded number is stored on."""

    name: str
    kind: Kind
    domain: Numbers | None = None


@dataclass(frozen=True)
class Literal:
    """A constant of the question; None is NULL."""

    value: Fraction | str | bool | date | None
    kind: Kind


@dataclass(frozen=True)
class Call:
    """A function of the table applied to expressions."""

    function: str
    arguments: tuple["Expression", ...]
    kind: Kind


Expression: TypeAlias = Column | Literal | Call

Result: TypeAlias = Callable[..., Kind | None]


@dataclass(frozen=True)
class Function:
    """One row of the table. `result` gives the kind of the value, or None where the arguments do not fit.

    `sql` is a template over the rendered arguments {0}, {1}, ... in SQL that every engine of ours understands alike.
    Each argument stands in it once: twice, and the text of nested calls would double with every level.
    """

    name: str
    arity: int
    signature: str
    meaning: str
    result: Result
    sql: str


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
    kind = function.result(*kinds) if len(kinds) == function.arity else None
    if kind is None:
        raise ValueError(f"{name} takes {function.signature}, got {', '.join(map(str, kinds))}.")
    applied = Call(name, arguments, kind)
    return applied if _surely_finite(kind) else Call("finite", (applied,), kind)


def columns_of(expression: Expression) -> frozenset[Column]:
    """The columns an expression reads."""
    match expression:
        case Column():
            return frozenset({expression})
        case Call(arguments=arguments):
            return frozenset().union(*map(columns_of, arguments))
    return frozenset()


_LARGEST_DOUBLE = Fraction(2**1024)
_FAR_FROM_OVERFLOW = Fraction(2**1000)
_LONG = 1024  # bits


def _surely_finite(kind: Kind) -> bool:
    if not isinstance(kind, Quantity):
        return True
    bounds = (kind.lower, kind.upper)
    return all(bound is not None and abs(bound) <= _FAR_FROM_OVERFLOW for bound in bounds)


def _between(lower: Fraction, upper: Fraction, whole: bool = False) -> Quantity:
    """A number between two bounds, unless a double cannot hold them; long fractions are rounded outward."""
    if max(abs(lower), abs(upper)) >= _LARGEST_DOUBLE:
        return Quantity(whole=whole)
    return Quantity(_shortened(lower, -inf), _shortened(upper, inf), whole)


def _shortened(bound: Fraction, outward: float) -> Fraction:
    # Products of many constants have as many digits as the question, and greatest common divisors take their time.
    return bound if bound.denominator.bit_length() < _LONG else Fraction(nextafter(float(bound), outward))


def _both(left: Kind, right: Kind, kind: type[Kind]) -> bool:
    return isinstance(left, kind) and isinstance(right, kind)


def _plus(left: Kind, right: Kind) -> Kind | None:
    return _arithmetic(left, right, lambda a, b: a + b)


def _minus(left: Kind, right: Kind) -> Kind | None:
    return _arithmetic(left, right, lambda a, b: a - b)


def _times(left: Kind, right: Kind) -> Kind | None:
    return _arithmetic(left, right, lambda a, b: a * b)


def _arithmetic(left: Kind, right: Kind, apply: Callable[[Fraction, Fraction], Fraction]) -> Quantity | None:
    if not (isinstance(left, Quantity) and isinstance(right, Quantity)):
        return None
    whole = left.whole and right.whole
    if left.lower is None or left.upper is None or right.lower is None or right.upper is None:
        return Quantity(whole=whole)
    # +, - and * are monotone in each argument over an interval, so their extremes are at the corners.
    corners = [apply(a, b) for a in (left.lower, left.upper) for b in (right.lower, right.upper)]
    return _between(min(corners), max(corners), whole)


def _divided(left: Kind, right: Kind) -> Kind | None:
    if not (isinstance(left, Quantity) and isinstance(right, Quantity)):
        return None
    if right.lower is None or right.upper is None or right.lower <= 0 <= right.upper:
        return Quantity()
    return _times(left, _between(1 / right.upper, 1 / right.lower))


def _negated(kind: Kind) -> Kind | None:
    if not isinstance(kind, Quantity):
        return None
    lower = None if kind.upper is None else -kind.upper
    upper = None if kind.lower is None else -kind.lower
    return Quantity(lower, upper, kind.whole)


def _same(kind: Kind) -> Kind | None:
    return kind if isinstance(kind, Quantity) else None


def _equal(left: Kind, right: Kind) -> Kind | None:
    return Truth() if any(_both(left, right, kind) for kind in (Quantity, Text, Day, Truth)) else None


def _ordered(left: Kind, right: Kind) -> Kind | None:
    # Text has no order here: collations differ from engine to engine, and so would answers.
    return Truth() if any(_both(left, right, kind) for kind in (Quantity, Day)) else None


def _logical(*kinds: Kind) -> Kind | None:
    return Truth() if all(isinstance(kind, Truth) for kind in kinds) else None


def _matches(left: Kind, right: Kind) -> Kind | None:
    return Truth() if _both(left, right, Text) else None


def _is_null(kind: Kind) -> Kind | None:
    return None if isinstance(kind, Identity) else Truth()


_NUMBERS = "number, number -> number"
_EQUAL = "two numbers, texts, dates or booleans, alike -> boolean"
_ORDER = "two numbers or dates, alike -> boolean"
_LOGIC = "boolean, boolean -> boolean"
_FINITE = "NULLIF(NULLIF(NULLIF({0}, CAST('NaN' AS DOUBLE)), CAST('Infinity' AS DOUBLE)), CAST('-Infinity' AS DOUBLE))"

FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        Function("+", 2, _NUMBERS, "sum", _plus, "({0} + {1})"),
        Function("-", 2, _NUMBERS, "difference", _minus, "({0} - {1})"),
        Function("*", 2, _NUMBERS, "product", _times, "({0} * {1})"),
        Function("/", 2, _NUMBERS, "quotient; NULL by 0", _divided, "({0} / NULLIF({1}, 0e0))"),
        Function("negative", 1, "number -> number", "the number with its sign turned", _negated, "(-{0})"),
        Function("finite", 1, "number -> number", "the number; NULL beyond the doubles", _same, _FINITE),
        Function("=", 2, _EQUAL, "equal", _equal, "({0} = {1})"),
        Function("<>", 2, _EQUAL, "different", _equal, "({0} <> {1})"),
        Function("<", 2, _ORDER, "below", _ordered, "({0} < {1})"),
        Function("<=", 2, _ORDER, "at most", _ordered, "({0} <= {1})"),
        Function(">", 2, _ORDER, "above", _ordered, "({0} > {1})"),
        Function(">=", 2, _ORDER, "at least", _ordered, "({0} >= {1})"),
        Function("and", 2, _LOGIC, "both, by SQL's three-valued logic", _logical, "({0} AND {1})"),
        Function("or", 2, _LOGIC, "either, by SQL's three-valued logic", _logical, "({0} OR {1})"),
        Function("not", 1, "boolean -> boolean", "the contrary; NULL of NULL", _logical, "(NOT {0})"),
        Function("is null", 1, "any but an id -> boolean", "whether there is no value", _is_null, "({0} IS NULL)"),
        Function("like", 2, "text, text -> boolean", "matches a pattern of % and _", _matches, "({0} LIKE {1})"),
    )
}
