"""Functions of numbers. Numbers are IEEE doubles; what has no finite value is NULL."""

from collections.abc import Callable
from fractions import Fraction
from math import ceil, exp, floor, inf, isqrt, log, log2, log10, nextafter, trunc

from adomnia.privacy.functions.contract import Function, between, hull, rising
from adomnia.privacy.kinds import Day, Kind, Moment, Quantity

_ZERO = Fraction(0)
_LARGEST_POWER = 64
_LARGEST_EXPONENT = 700  # of e; above it a double is near its end


def _arithmetic(apply: Callable[[Fraction, Fraction], Fraction]) -> Callable[[Kind, Kind], Quantity | None]:
    def result(left: Kind, right: Kind) -> Quantity | None:
        if not (isinstance(left, Quantity) and isinstance(right, Quantity)):
            return None
        whole = left.whole and right.whole
        if left.lower is None or left.upper is None or right.lower is None or right.upper is None:
            return Quantity(whole=whole)
        # +, - and * are monotone in each argument over an interval, so their extremes are at the corners.
        corners = [apply(a, b) for a in (left.lower, left.upper) for b in (right.lower, right.upper)]
        return between(min(corners), max(corners), whole)

    return result


_times = _arithmetic(lambda a, b: a * b)


def _divided(left: Kind, right: Kind) -> Kind | None:
    if not (isinstance(left, Quantity) and isinstance(right, Quantity)):
        return None
    if right.lower is None or right.upper is None or right.lower <= 0 <= right.upper:
        return Quantity()
    return _times(left, between(1 / right.upper, 1 / right.lower))


def _remainder(left: Kind, right: Kind) -> Kind | None:
    """It has the sign of the dividend, and is no larger than either; of whole numbers it is less than the divisor."""
    if not (isinstance(left, Quantity) and isinstance(right, Quantity)):
        return None
    divisor = None if right.lower is None or right.upper is None else max(-right.lower, right.upper)
    if divisor is not None and left.whole and right.whole:
        divisor = max(divisor - 1, _ZERO)
    dividend = (
        None if left.lower is None else max(-left.lower, _ZERO),
        None if left.upper is None else max(left.upper, _ZERO),
    )
    below, above = (min((b for b in (bound, divisor) if b is not None), default=None) for bound in dividend)
    return Quantity(None if below is None else -below, above, left.whole and right.whole)


def _negated(kind: Kind) -> Kind | None:
    if not isinstance(kind, Quantity):
        return None
    lower = None if kind.upper is None else -kind.upper
    upper = None if kind.lower is None else -kind.lower
    return Quantity(lower, upper, kind.whole)


def _size(kind: Kind) -> Kind | None:
    if not isinstance(kind, Quantity):
        return None
    if kind.lower is None or kind.upper is None:
        return Quantity(_ZERO, None, kind.whole)
    return Quantity(max(kind.lower, -kind.upper, _ZERO), max(-kind.lower, kind.upper), kind.whole)


def _same(kind: Kind) -> Kind | None:
    return kind if isinstance(kind, Quantity) else None


def _sign(kind: Kind) -> Kind | None:
    return Quantity(Fraction(-1), Fraction(1), whole=True) if isinstance(kind, Quantity) else None


def _nearest(bound: Fraction) -> Fraction:
    away = floor(abs(bound) + Fraction(1, 2))
    return Fraction(away if bound >= 0 else -away)


def _logarithm(apply: Callable[[float], float]) -> Callable[[Kind], Kind | None]:
    def result(kind: Kind) -> Kind | None:
        if not isinstance(kind, Quantity):
            return None
        ends = map(_positive, (kind.lower, kind.upper))
        lower, upper = (Fraction(apply(end)) if end else None for end in ends)
        return Quantity(lower, upper)

    return result


def _positive(bound: Fraction | None) -> float:
    return float(bound) if bound is not None and bound > 0 and bound < 2**1023 else 0.0


def _root(kind: Kind) -> Kind | None:
    if not isinstance(kind, Quantity):
        return None
    lower, upper = max(kind.lower or _ZERO, _ZERO), kind.upper
    return Quantity(_square_root(lower), None if upper is None else _square_root(max(upper, _ZERO)))


def _square_root(bound: Fraction) -> Fraction:
    """Good to 2**-64 of itself or of one: fractions have no limit that a float would overflow at."""
    scale = 2**128
    return Fraction(isqrt(floor(bound * scale)), 2**64)


def _exponential(kind: Kind) -> Kind | None:
    if not isinstance(kind, Quantity):
        return None
    if kind.upper is None or kind.upper > _LARGEST_EXPONENT:
        return Quantity(_ZERO, None)
    lower = 0.0 if kind.lower is None or kind.lower < -_LARGEST_EXPONENT else exp(kind.lower)
    return Quantity(Fraction(lower), Fraction(nextafter(exp(kind.upper), inf)))


def _power(base: Kind, exponent: Kind) -> Kind | None:
    """Bounds only for constant whole exponents up to 64, which cover what is added up in practice."""
    if not (isinstance(base, Quantity) and isinstance(exponent, Quantity)):
        return None
    times, lower, upper = exponent.lower, base.lower, base.upper
    constant = times is not None and times == exponent.upper and times.denominator == 1
    if not constant or times is None or not 0 <= times <= _LARGEST_POWER or lower is None or upper is None:
        return Quantity()
    ends = [bound ** int(times) for bound in (lower, upper)]
    turns = [_ZERO] if times % 2 == 0 and lower < 0 < upper and times > 0 else []
    return between(min(ends + turns), max(ends), base.whole)


def _clamped(kind: Kind, lower: Kind, upper: Kind) -> Kind | None:
    """The bounds that were asked for, within those that hold anyway."""
    match kind, lower, upper:
        case Quantity(), Quantity(lower=Fraction() as least), Quantity(lower=Fraction() as most) if least <= most:
            whole = all(each.whole for each in (kind, lower, upper) if isinstance(each, Quantity))
            low = least if kind.lower is None else min(max(kind.lower, least), most)
            high = most if kind.upper is None else min(max(kind.upper, least), most)
            return Quantity(low, high, whole)
    return None


def _inside(kind: Kind, lower: Kind, upper: Kind) -> Kind | None:
    """Bounds that hold anyway; that what lies outside is NULL is no reason to add up what lies inside."""
    if not all(isinstance(each, Quantity) for each in (kind, lower, upper)):
        return None
    return kind


def _extreme(left: Kind, right: Kind) -> Kind | None:
    # Text has no order here: collations differ from engine to engine, and so would answers.
    return hull(left, right) if isinstance(left, Quantity | Day | Moment) else None


_NUMBER = "number -> number"
_NUMBERS = "number, number -> number"
_ALIKE = "two numbers, two dates or two timestamps -> alike"

ARITHMETIC = (
    Function("+", "a + b", 2, _NUMBERS, "sum", _arithmetic(lambda a, b: a + b), spreads=(0, 1)),
    Function("-", "a - b", 2, _NUMBERS, "difference", _arithmetic(lambda a, b: a - b), spreads=(0, 1)),
    Function("*", "a * b", 2, _NUMBERS, "product", _times, spreads=(0, 1)),
    Function(
        "/",
        "a / b",
        2,
        _NUMBERS,
        "quotient; NULL by 0",
        _divided,
        spreads=(0,),
        copies=2,
    ),
    Function(
        "mod",
        "a % b, MOD(a, b)",
        2,
        _NUMBERS,
        "remainder, with the sign of a; NULL by 0",
        _remainder,
        copies=2,
    ),
    Function("negative", "-a", 1, _NUMBER, "the number with its sign turned", _negated, spreads=(0,)),
    Function("finite", "", 1, _NUMBER, "the number; NULL beyond the doubles", _same, copies=2),
    Function("abs", "ABS(a)", 1, _NUMBER, "the number without its sign", _size, spreads=(0,)),
    Function("sign", "SIGN(a)", 1, _NUMBER, "-1, 0 or 1", _sign),
    Function(
        "round",
        "ROUND(a)",
        1,
        _NUMBER,
        "nearest whole number, halves away from 0",
        rising(_nearest, whole=True),
        spreads=(0,),
    ),
    Function(
        "floor",
        "FLOOR(a)",
        1,
        _NUMBER,
        "largest whole number that is not above",
        rising(lambda bound: Fraction(floor(bound)), whole=True),
        spreads=(0,),
        copies=4,
    ),
    Function(
        "ceil",
        "CEIL(a), CEILING(a)",
        1,
        _NUMBER,
        "smallest whole number that is not below",
        rising(lambda bound: Fraction(ceil(bound)), whole=True),
        spreads=(0,),
        copies=4,
    ),
    Function(
        "trunc",
        "TRUNC(a)",
        1,
        _NUMBER,
        "the whole number that is left without the digits behind the point",
        rising(lambda bound: Fraction(trunc(bound)), whole=True),
        spreads=(0,),
        copies=4,
    ),
    Function(
        "ln",
        "LN(a)",
        1,
        _NUMBER,
        "natural logarithm; NULL unless a > 0",
        _logarithm(log),
        copies=2,
    ),
    Function(
        "log10",
        "LOG10(a), LOG(a)",
        1,
        _NUMBER,
        "logarithm to base 10; NULL unless a > 0",
        _logarithm(log10),
        copies=2,
    ),
    Function(
        "log2",
        "LOG2(a)",
        1,
        _NUMBER,
        "logarithm to base 2; NULL unless a > 0",
        _logarithm(log2),
        copies=2,
    ),
    Function("exp", "EXP(a)", 1, _NUMBER, "e to the power of a", _exponential),
    Function(
        "sqrt",
        "SQRT(a)",
        1,
        _NUMBER,
        "square root; NULL unless a >= 0",
        _root,
        copies=2,
    ),
    Function(
        "power",
        "POWER(a, b), POW(a, b), a ^ b",
        2,
        _NUMBERS,
        "a to the power of b; NULL where there is none",
        _power,
    ),
    Function(
        "greatest",
        "GREATEST(a, b)",
        2,
        _ALIKE,
        "the larger; of NULL and a value, the value",
        _extreme,
        chooses=True,
    ),
    Function(
        "least",
        "LEAST(a, b)",
        2,
        _ALIKE,
        "the smaller; of NULL and a value, the value",
        _extreme,
        chooses=True,
    ),
    Function(
        "clamp",
        "CLAMP(a, b, c)",
        3,
        "number, two constants -> number",
        "b below b, c above c, else the number; the bounds count for sums",
        _clamped,
        chooses=True,
        constants=(1, 2),
        copies=2,
    ),
    Function(
        "inside",
        "",
        3,
        "number, two constants -> number",
        "the number; NULL unless it lies between the constants",
        _inside,
        chooses=True,
        constants=(1, 2),
        copies=3,
    ),
)
