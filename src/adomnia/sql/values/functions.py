"""Reads calls of functions by name: those of the table of functions, and those that are composed of them."""

from fractions import Fraction

from sqlglot import exp

from adomnia.privacy.expressions import FUNCTIONS, Expression, Literal, number
from adomnia.privacy.kinds import Quantity
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


def _is_null(node: exp.Expr, arguments: Arguments) -> Expression:
    """ISNULL(a) asks whether there is no value, ISNULL(a, b) puts one there."""
    return build(node, "is null", *arguments) if len(arguments) == 1 else _coalesce(node, arguments)


def _if_there(node: exp.Expr, arguments: Arguments) -> Expression:
    """NVL2(a, b, c): b if there is an a."""
    if len(arguments) != 3:
        raise refusal("type_error", node, f"has {len(arguments)} arguments", "write NVL2(value, there, missing)")
    value, *outcomes = arguments
    return build(node, "case", build(node, "not", build(node, "is null", value)), *read_dates(node, *outcomes))


def _decode(node: exp.Expr, arguments: Arguments) -> Expression:
    """DECODE(a, b, c, d): c if a is b, and d otherwise; NULL is like NULL."""
    check_number(3, node, "case", arguments)
    value, *rest = arguments
    if len(rest) % 2 == 0:
        rest.append(Literal(None, rest[1].kind))
    outcomes = read_dates(node, *rest[1::2], rest[-1])
    tests = (build(node, "same", *read_dates(node, value, each)) for each in rest[:-1:2])
    pairs = (part for pair in zip(tests, outcomes, strict=False) for part in pair)
    return build(node, "case", *pairs, outcomes[-1])


def divide_whole(node: exp.Expr, left: Expression, right: Expression) -> Expression:
    """Whole numbers divided as a // b: without the part behind the point."""
    if not all(isinstance(each.kind, Quantity) and each.kind.whole for each in (left, right)):
        why, fix = "divides numbers that are not whole", "write FLOOR(a / b)"
        raise refusal("type_error", node, why, fix)
    return build(node, "trunc", build(node, "/", left, right))


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
    "NVL": _coalesce,
    "NVL2": _if_there,
    "ISNULL": _is_null,
    "DECODE": _decode,
    "NULLIF": _nullif,
    "CLAMP": _clamp,
    **TEXT_FUNCTIONS,
    **DATE_FUNCTIONS,
}
CONDITIONAL = frozenset({"IF", "IIF"})
FORMS = frozenset({"POSITION", "DATE", "DATE_ADD", "DATE_SUB"})  # read by the words inside their brackets
NAMES = frozenset({*_SPELLINGS, *_COMPOSED, *CONDITIONAL, *FORMS})
