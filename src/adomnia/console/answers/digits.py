"""How numbers of an answer are written: with as many digits as their interval allows, and short ones on axes."""

from datetime import date, datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal, localcontext
from math import floor, isfinite, log10

from adomnia.tables import show_below, show_plainly

_LONGEST = 1e15  # from here on digits are left out, which a double does not have
_FINEST = 15  # decimal places
_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def find_places(lower: float, upper: float, whole: bool = False) -> int:
    """Decimal places that show two digits of the half-width: fewer than none where it is wide.

    >>> find_places(54_391.0, 59_604.0), find_places(0.21, 0.25)
    (-2, 3)
    """
    half = (upper - lower) / 2
    if not isfinite(half) or half <= 0:
        return 0 if whole else 4
    places = 1 - floor(log10(half))
    return max(min(places, 0 if whole else _FINEST), -_FINEST)


def show_number(value: float, places: int, side: int = 0) -> str:
    """A number to so many places; ends of intervals go outwards, -1 down and 1 up, so that none is shown too short.

    >>> show_number(57_012.3, -2), show_number(54_391.0, -2, -1), show_number(54_391.0, -2, 1)
    ('57,000', '54,300', '54,400')
    """
    rounding = {-1: ROUND_FLOOR, 0: ROUND_HALF_EVEN, 1: ROUND_CEILING}[side]
    if abs(value) >= _LONGEST:
        return f"{Context(prec=7, rounding=rounding).create_decimal(repr(float(value))).normalize():e}"
    with localcontext(prec=60):
        rounded = Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-places), rounding)
    written = f"{rounded:,.{max(places, 0)}f}"
    return written if rounded else written.removeprefix("-")


def show_short(number: float) -> str:
    """A number of an axis.

    >>> show_short(50_000), show_short(-1_250_000), show_short(0.25)
    ('50k', '-1.25M', '0.25')
    """
    for size, unit in _UNITS:
        if size <= abs(number) < 1000 * size:
            return f"{number / size:.4g}{unit}"
    return f"{number:.4g}"


def show_all(value: object) -> str:
    """A released number with all of its digits."""
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() and abs(value) < _LONGEST else repr(value)
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def show_fact(value: object, floor: float | None = None) -> str:
    """What follows from noisy numbers, in four digits: more would say nothing."""
    if not isinstance(value, float):
        return show_key(value)
    if not isfinite(value):
        return "not estimable"
    if floor is not None and value <= floor:
        return show_below(floor)
    return f"{value:,.0f}" if 1e4 <= abs(value) < _LONGEST else f"{value:,.4g}"


def show_key(value: object) -> str:
    """A public value, as it is: no separators, which years do not have; control characters are escaped."""
    match value:
        case bool():
            return str(value).lower()
        case float() if value.is_integer() and abs(value) < _LONGEST:
            return f"{value:.0f}"
        case datetime():
            return value.isoformat(" ", timespec="seconds")
        case date():
            return value.isoformat()
    return show_plainly(str(value))


def show_sure(confidence: float) -> str:
    """How surely, in numbers of times.

    >>> show_sure(0.95), show_sure(0.99), show_sure(0.9), show_sure(0.973)
    ('19 times in 20', '99 times in 100', '9 times in 10', '973 times in 1,000')
    """
    for whole in (10, 20, 100, 1000, 10_000):
        times = confidence * whole
        if abs(times - round(times)) < 1e-9 and 0 < round(times) < whole:
            return f"{round(times):,} times in {whole:,}"
    return f"{100 * confidence:.6g}% of the time"
