"""Reads calls of functions by name: those of the table of functions, and those that are composed of them."""

from fractions import Fraction

from sqlglot import exp

from adomnia.privacy.expressions import FUNCTIONS, Expression, Literal, number
from adomnia.sql.reading.refusals import refusal, refusal_of_node
from adomnia.sql.values.building import (
    Arguments,
    Builder,
    build,
    check_number,
    check_size,
    read_dates,
    refusal_of_arguments,
    two_arguments,
    whole_number,
)
from adomnia.sql.values.conditions import chain, fold
from adomnia.sql.values.date_functions import DATE_FUNCTIONS
from adomnia.sql.values.text_functions import TEXT_FUNCTIONS

_MOST_DIGITS = 15
_MOST_INTERVALS = 10**6


def call_function(node: exp.Expr, name: str, arguments: Arguments) -> Expression:
    """Call a function by the name that the question uses, or refuse it."""
    builder = _COMPOSED.get(name)
    if builder is not None:
        return builder(node, arguments)
    if name in _SPELLINGS:
        return build(node, _SPELLINGS[name], *arguments)
    raise refusal_of_node(node)


def round_digits(node: exp.Expr, value: Expression, digits: int) -> Expression:
    """Round a number to some digits after the point, or before it."""
    if digits == 0:
        return build(node, "round", value)
    if abs(digits) > _MOST_DIGITS:
        fix = f"use at most {_MOST_DIGITS}"
        raise refusal("bad_literal", node, "has more digits than a double", fix, "Rounding")
    scale = number(10 ** abs(digits))
    there, back = ("*", "/") if digits > 0 else ("/", "*")
    return build(node, back, build(node, "round", build(node, there, value, scale)), scale)


def _round(node: exp.Expr, arguments: Arguments) -> Expression:
    value, digits = two_arguments(node, arguments) if len(arguments) != 1 else (arguments[0], number(0))
    return round_digits(node, value, whole_number(node, digits))


def _chain(function: str) -> Builder:
    """The builder of a function of two or more values, in any order."""

    def builder(node: exp.Expr, arguments: Arguments) -> Expression:
        check_number(2, node, function, arguments)
        parts = read_dates(node, *arguments)
        try:
            return check_size(node, chain(function, parts))
        except ValueError:
            raise refusal_of_arguments(node, function, parts) from None

    return builder


def _coalesce(node: exp.Expr, arguments: Arguments) -> Expression:
    check_number(2, node, "coalesce", arguments)
    return fold(read_dates(node, *arguments), lambda left, right: build(node, "coalesce", left, right))


def _nullif(node: exp.Expr, arguments: Arguments) -> Expression:
    return build(node, "nullif", *read_dates(node, *arguments))


def _clamp(node: exp.Expr, arguments: Arguments) -> Expression:
    bounds = [bound.value for bound in arguments[1:] if isinstance(bound, Literal)]
    if len(bounds) < len(arguments) - 1:
        raise refusal("bad_literal", node, "has a bound that is not a constant", "write CLAMP(value, 0, 100)", "CLAMP")
    match bounds:
        case [Fraction() as lower, Fraction() as upper] if lower > upper:
            fix = "write the lower bound first"
            raise refusal("empty_bounds", node, "has a lower bound above its upper one", fix, "CLAMP")
    return build(node, "clamp", *arguments)


def _width_bucket(node: exp.Expr, arguments: Arguments) -> Expression:
    """The number of the interval that a number is in, of so many that are equally wide; 0 below and one more above."""
    if len(arguments) != 4:
        raise refusal("type_error", node, f"has {len(arguments)} arguments", "write WIDTH_BUCKET(value, 0, 100, 10)")
    value, *limits = arguments
    match [limit.value if isinstance(limit, Literal) else None for limit in limits]:
        case [Fraction() as low, Fraction() as high, Fraction() as count] if low < high and count.denominator == 1:
            if 1 <= count <= _MOST_INTERVALS:
                return _interval(node, value, (low, high), int(count))
    why, fix = (
        "takes two constant bounds, the lower first, and how many intervals",
        "write WIDTH_BUCKET(value, 0, 100, 10)",
    )
    raise refusal("bad_literal", node, why, fix, "WIDTH_BUCKET")


def _interval(node: exp.Expr, value: Expression, ends: tuple[Fraction, Fraction], count: int) -> Expression:
    low, high = map(number, ends)
    share = build(node, "/", build(node, "-", value, low), number(ends[1] - ends[0]))
    place = build(node, "floor", build(node, "*", share, number(count)))
    inside = build(node, "+", build(node, "clamp", place, number(0), number(count - 1)), number(1))
    below, above = build(node, "<", value, low), build(node, ">=", value, high)
    return build(node, "case", below, number(0), above, number(count + 1), inside)


_SPELLINGS = {spelling: row.name for row in FUNCTIONS.values() for spelling in row.spellings}
_COMPOSED: dict[str, Builder] = {
    "ROUND": _round,
    "WIDTH_BUCKET": _width_bucket,
    "GREATEST": _chain("greatest"),
    "LEAST": _chain("least"),
    "COALESCE": _coalesce,
    "IFNULL": _coalesce,
    "NULLIF": _nullif,
    "CLAMP": _clamp,
    **TEXT_FUNCTIONS,
    **DATE_FUNCTIONS,
}
CONDITIONAL = frozenset({"IF", "IIF"})
FORMS = frozenset({"POSITION", "DATE", "DATE_ADD", "DATE_SUB"})  # read by the words inside their brackets
NAMES = frozenset({*_SPELLINGS, *_COMPOSED, *CONDITIONAL, *FORMS})
