"""What functions compute, in Python, of values that are known: for what follows from a text and the catalog alone.

Only functions of which every engine makes the same value are here. Where something is not known, neither is what is
computed from it, unless it makes no difference.
"""

from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from math import ceil, floor, fmod, isfinite, sqrt, trunc
from typing import Any, Final, TypeAlias

from adomnia.privacy.expressions import Call, Expression, Literal
from adomnia.privacy.functions.days import add_months
from adomnia.privacy.wall_time import FIRST_SECOND, LAST_SECOND, count_seconds, read_seconds
from adomnia.sql.values.possible_texts import COMPUTED, Values, pass_nulls, read_constant

Meaning: TypeAlias = Callable[[Values], Any]


class _Unknown:
    """A value that nobody knows before data is read; it is equal to nothing else."""


UNKNOWN: Final = _Unknown()


def compile_meaning(expression: Expression, leaves: Mapping[Expression, int]) -> Meaning:
    """A function of the values of all leaves; UNKNOWN where the result depends on anything else."""
    if expression in leaves:
        place = leaves[expression]
        return lambda values: values[place]
    if isinstance(expression, Literal):
        constant = read_constant(expression)
        return lambda _: constant
    if not isinstance(expression, Call) or expression.function not in _MEANINGS:
        return lambda _: UNKNOWN
    parts = [compile_meaning(each, leaves) for each in expression.arguments]
    if expression.function in _LOGIC:
        logic = _LOGIC[expression.function]
        return lambda values: logic(*(part(values) for part in parts))
    meaning = _MEANINGS[expression.function]
    return lambda values: _compute(meaning, [part(values) for part in parts])


def may_hold(value: Any) -> bool:  # noqa: ANN401 - whatever a condition gives
    """Whether a condition with this value may be true."""
    return value is True or value is UNKNOWN


def _compute(meaning: Callable[..., Any], values: list[Any]) -> Any:  # noqa: ANN401 - of any kind
    if UNKNOWN in values:
        return UNKNOWN
    try:
        return meaning(*values)
    except (ArithmeticError, ValueError):  # of texts, letters that engines change otherwise
        return UNKNOWN


def _both(left: Any, right: Any) -> Any:  # noqa: ANN401 - a truth value, or UNKNOWN
    if left is False or right is False:
        return False
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    return None if left is None or right is None else True


def _negate(value: Any) -> Any:  # noqa: ANN401 - a truth value, or UNKNOWN
    return value if value is None or value is UNKNOWN else not value


_LOGIC: dict[str, Callable[..., Any]] = {
    "and": _both,
    "or": lambda left, right: _negate(_both(_negate(left), _negate(right))),
    "not": _negate,
}


def _divide(left: float, right: float) -> float | None:
    return None if right == 0 else left / right


def _remainder(left: float, right: float) -> float | None:
    return None if right == 0 else fmod(left, right)


def _round(value: float) -> float:
    away = floor(abs(Fraction(value)) + Fraction(1, 2))
    return float(away if value >= 0 else -away)


def _choose(better: Callable[..., Any]) -> Callable[..., Any]:
    """Of NULL and a value, the value."""

    def choose(left: Any, right: Any) -> Any:  # noqa: ANN401 - numbers, dates or timestamps
        if left is None or right is None:
            return right if left is None else left
        return better(left, right)

    return choose


def _inside(value: float, lower: float, upper: float) -> float | None:
    return value if lower <= value <= upper else None


def _shift(day: date, days: float) -> date | None:
    place = day.toordinal() + int(days)
    return date.fromordinal(place) if 1 <= place <= date.max.toordinal() else None


def _shift_seconds(moment: datetime, seconds: float) -> datetime | None:
    place = count_seconds(moment) + int(seconds)
    return read_seconds(place) if FIRST_SECOND <= place <= LAST_SECOND else None


def _first_of_quarter(day: date) -> date:
    return day.replace(month=day.month - (day.month - 1) % 3, day=1)


_MEANINGS: dict[str, Callable[..., Any]] = COMPUTED | {
    "<": pass_nulls(lambda left, right: left < right),
    "<=": pass_nulls(lambda left, right: left <= right),
    ">": pass_nulls(lambda left, right: left > right),
    ">=": pass_nulls(lambda left, right: left >= right),
    "+": pass_nulls(lambda left, right: float(left) + float(right)),
    "-": pass_nulls(lambda left, right: float(left) - float(right)),
    "*": pass_nulls(lambda left, right: float(left) * float(right)),
    "/": pass_nulls(lambda left, right: _divide(float(left), float(right))),
    "mod": pass_nulls(lambda left, right: _remainder(float(left), float(right))),
    "negative": pass_nulls(lambda value: -value),
    "finite": pass_nulls(lambda value: value if isfinite(value) else None),
    "abs": pass_nulls(abs),
    "sign": pass_nulls(lambda value: float((value > 0) - (value < 0))),
    "round": pass_nulls(_round),
    "floor": pass_nulls(lambda value: float(floor(value))),
    "ceil": pass_nulls(lambda value: float(ceil(value))),
    "trunc": pass_nulls(lambda value: float(trunc(value))),
    "sqrt": pass_nulls(lambda value: sqrt(value) if value >= 0 else None),
    "greatest": _choose(max),
    "least": _choose(min),
    "clamp": pass_nulls(lambda value, lower, upper: min(max(value, lower), upper)),
    "inside": pass_nulls(_inside),
    "boolean as number": pass_nulls(float),
    "year": pass_nulls(lambda day: float(day.year)),
    "month": pass_nulls(lambda day: float(day.month)),
    "week": pass_nulls(lambda day: float(day.isocalendar()[1])),
    "day": pass_nulls(lambda day: float(day.day)),
    "doy": pass_nulls(lambda day: float(day.timetuple().tm_yday)),
    "dow": pass_nulls(lambda day: float(day.isoweekday() % 7)),
    "isodow": pass_nulls(lambda day: float(day.isoweekday())),
    "start of year": pass_nulls(lambda day: day.replace(month=1, day=1)),
    "start of quarter": pass_nulls(_first_of_quarter),
    "start of month": pass_nulls(lambda day: day.replace(day=1)),
    "start of week": pass_nulls(lambda day: day - timedelta(day.weekday())),
    "days between": pass_nulls(lambda left, right: float((left - right).days)),
    "shift": pass_nulls(_shift),
    "shift months": pass_nulls(lambda day, months: add_months(day, int(months))),
    "hour": pass_nulls(lambda moment: float(moment.hour)),
    "minute": pass_nulls(lambda moment: float(moment.minute)),
    "second": pass_nulls(lambda moment: float(moment.second)),
    "start of hour": pass_nulls(lambda moment: moment.replace(minute=0, second=0)),
    "start of minute": pass_nulls(lambda moment: moment.replace(second=0)),
    "day of": pass_nulls(lambda moment: moment.date()),
    "midnight": pass_nulls(lambda day: datetime.combine(day, time.min)),
    "seconds between": pass_nulls(lambda left, right: float(count_seconds(left) - count_seconds(right))),
    "shift seconds": pass_nulls(_shift_seconds),
}
