"""Reads CAST, TRY_CAST and `::`, which mean the same here: what cannot be cast is NULL."""

import re
from fractions import Fraction
from math import nextafter

from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.privacy.expressions import Expression, number
from adomnia.privacy.kinds import Boolean, Day, Moment, Quantity, Text
from adomnia.sql.reading.refusals import refusal
from adomnia.sql.values.building import as_moment, build
from adomnia.sql.values.functions import round_digits

INTEGERS = {
    **{
        getattr(exp.DType, name): (-(2 ** (bits - 1)), 2 ** (bits - 1))
        for name, bits in (("TINYINT", 8), ("SMALLINT", 16), ("INT", 32), ("BIGINT", 64), ("INT128", 128))
    },
    **{
        getattr(exp.DType, name): (0, 2**bits)
        for name, bits in (("UTINYINT", 8), ("USMALLINT", 16), ("UINT", 32), ("UBIGINT", 64), ("UINT128", 128))
    },
}
_WIDEST = 38
_SIZE = re.compile("[0-9]{1,3}", re.ASCII)
DOUBLES = (exp.DType.DOUBLE, exp.DType.FLOAT)
_TEXTS = (exp.DType.TEXT, exp.DType.VARCHAR, exp.DType.CHAR)
TIMESTAMPS = (exp.DType.TIMESTAMP, exp.DType.TIMESTAMPNTZ, exp.DType.DATETIME)
NUMBER_TYPES = frozenset({*INTEGERS, *DOUBLES, exp.DType.DECIMAL})


def cast(node: exp.Expr, value: Expression, target: exp.DataType) -> Expression:
    """Convert a value to another type."""
    kind = target.this
    if kind == exp.DType.DECIMAL:
        return _to_decimal(node, _to_number(node, value), target)
    if target.expressions or kind not in {*INTEGERS, *DOUBLES, *_TEXTS, *TIMESTAMPS, exp.DType.DATE, exp.DType.BOOLEAN}:
        fix = "cast to INTEGER, DOUBLE, DECIMAL, VARCHAR, DATE, TIMESTAMP or BOOLEAN"
        raise refusal("function_not_allowed", node, "is a cast to a type that is not answered", fix)
    if kind in INTEGERS:
        return _to_integer(node, _to_number(node, value), *integer_range(kind))
    if kind in DOUBLES:
        return _to_number(node, value)
    if kind in _TEXTS:
        return _to_text(node, value)
    if kind in TIMESTAMPS:
        return _to_moment(node, value)
    return to_day(node, value) if kind == exp.DType.DATE else _to_boolean(node, value)


def _to_number(node: exp.Expr, value: Expression) -> Expression:
    match value.kind:
        case Quantity():
            return value
        case Boolean():
            return build(node, "boolean as number", value)
        case Text():
            return build(node, "text as number", value)
    raise _refusal_of_cast(node, value, "number")


def _to_integer(node: exp.Expr, value: Expression, first: Fraction, last: Fraction) -> Expression:
    """Round to a whole number, halves away from zero; NULL outside the range of the type."""
    return _limit_range(node, _round_fraction(node, value, 0), first, last)


def _to_decimal(node: exp.Expr, value: Expression, target: exp.DataType) -> Expression:
    scale, limit = decimal_range(node, target)
    return _limit_range(node, _round_fraction(node, value, scale), -limit, limit)


def integer_range(kind: exp.DType) -> tuple[Fraction, Fraction]:
    """The least and the greatest number of a type of integers; beyond 2**53, the double below."""
    first, after = INTEGERS[kind]
    return Fraction(first), Fraction(min(after - 1, int(nextafter(after, 0))))


def decimal_range(node: exp.Expr, target: exp.DataType) -> tuple[int, Fraction]:
    """The digits behind the point of a DECIMAL, and its greatest number."""
    sizes = [part.name for part in target.expressions]
    width, scale = (*map(int, sizes), 0)[:2] if all(map(_SIZE.fullmatch, sizes)) else (0, 0)
    if not (1 <= width <= _WIDEST and scale <= width and len(sizes) <= 2):
        raise refusal("bad_literal", node, "has a size that no DECIMAL has", "write DECIMAL(10, 2)")
    return scale, Fraction(10**width - 1, 10**scale)


def _round_fraction(node: exp.Expr, value: Expression, digits: int) -> Expression:
    whole = isinstance(value.kind, Quantity) and value.kind.whole
    return value if whole else round_digits(node, value, digits)


def _limit_range(node: exp.Expr, value: Expression, least: Fraction, most: Fraction) -> Expression:
    match value.kind:
        case Quantity(lower=Fraction() as lower, upper=Fraction() as upper) if least <= lower and upper <= most:
            return value
    return build(node, "inside", value, number(least), number(most))


def _to_text(node: exp.Expr, value: Expression) -> Expression:
    match value.kind:
        case Text():
            return value
        case Boolean():
            return build(node, "boolean as text", value)
        case Day():
            return build(node, "date as text", value)
        case Quantity(whole=True):
            return build(node, "number as text", value)
        case Quantity():
            fix = "round it first: CAST(ROUND(a) AS VARCHAR)"
            raise refusal("type_error", node, "writes a fraction, which every engine does differently", fix)
    raise _refusal_of_cast(node, value, "text")


def to_day(node: exp.Expr, value: Expression) -> Expression:
    """A date, the day of a timestamp, or the date that a text spells."""
    match value.kind:
        case Day():
            return value
        case Moment():
            return build(node, "day of", value)
        case Text():
            return build(node, "text as date", value)
    raise _refusal_of_cast(node, value, "date")


def _to_moment(node: exp.Expr, value: Expression) -> Expression:
    if isinstance(value.kind, Day | Moment):
        return as_moment(value)
    raise _refusal_of_cast(node, value, "timestamp")


def _to_boolean(node: exp.Expr, value: Expression) -> Expression:
    match value.kind:
        case Boolean():
            return value
        case Text():
            return build(node, "text as boolean", value)
        case Quantity():
            return build(node, "<>", value, number(0))
    raise _refusal_of_cast(node, value, "boolean")


def _refusal_of_cast(node: exp.Expr, value: Expression, target: str) -> Refusal:
    code = "identifier_column" if str(value.kind) == "id" else "type_error"
    return refusal(code, node, f"makes a {target} of a value of type {value.kind}", "compare it with its own type")
