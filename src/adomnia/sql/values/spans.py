"""From where to where a number, a date or a timestamp can be in rows for which a condition is true.

Values are counted on a scale: days, seconds, whole numbers, or all doubles in their order. What functions that only
rise, or only fall, make of a value is compared with a constant in one place of the scale, which halving finds.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

from adomnia.privacy.expressions import Call, Column, Expression, Literal
from adomnia.privacy.kinds import Day, Moment, Quantity
from adomnia.privacy.wall_time import FIRST_SECOND, LAST_SECOND, count_seconds, read_seconds
from adomnia.sql.values.meanings import UNKNOWN, compile_meaning
from adomnia.work import spend

_STEPS_OF_HALVING = 20
_SIGN = 2**63
_EXACT = 2**53
_FAR = 1e300

_RISING = ("finite", "round", "floor", "ceil", "trunc", "year", "day of", "midnight")
_BEGINS = "start of "
_SHIFTED = ("shift", "shift months", "shift seconds")
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}
_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "<>": "="}


@dataclass(frozen=True)
class ValueSpan:
    """The places from `first` to `last`; None where nothing is known."""

    first: int | None = None
    last: int | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is between its ends."""
        return self.first is not None and self.last is not None and self.first > self.last

    def meet(self, other: "ValueSpan") -> "ValueSpan":
        """What is in both."""
        firsts = [each for each in (self.first, other.first) if each is not None]
        lasts = [each for each in (self.last, other.last) if each is not None]
        return ValueSpan(max(firsts, default=None), min(lasts, default=None))

    def join(self, other: "ValueSpan") -> "ValueSpan":
        """What is in either, and all between."""
        first = None if self.first is None or other.first is None else min(self.first, other.first)
        last = None if self.last is None or other.last is None else max(self.last, other.last)
        return ValueSpan(first, last)


EVERYWHERE = ValueSpan()


@dataclass(frozen=True)
class ValueScale:
    """Places of values, from `first` to `last` as far as the catalog says; what is outside is beyond these ends."""

    first: int
    last: int
    value: Callable[[int], Any]


def find_scale(column: Column) -> ValueScale | None:
    """The scale of a column; None where its values have no order."""
    match column.kind:
        case Day(lower=lower, upper=upper):
            ends = (lower or date.min).toordinal(), (upper or date.max).toordinal()
            return ValueScale(*ends, date.fromordinal)
        case Moment(lower=earliest, upper=latest):
            first = FIRST_SECOND if earliest is None else count_seconds(earliest)
            return ValueScale(first, LAST_SECOND if latest is None else count_seconds(latest), read_seconds)
        case Quantity(lower=low, upper=high, whole=True):
            ends = -_EXACT if low is None else -(-low // 1), _EXACT if high is None else high // 1
            return ValueScale(int(ends[0]), int(ends[1]), float)
        case Quantity():
            return ValueScale(_count_doubles(-_FAR), _count_doubles(_FAR), _read_double)
    return None


def _count_doubles(value: float) -> int:
    """The place of a double among all in their order; both zeros have one."""
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return int(bits) if bits >= 0 else -(int(bits) + _SIGN)


def _read_double(place: int) -> float:
    (value,) = struct.unpack("<d", struct.pack("<q", place if place >= 0 else -place - _SIGN))
    return float(value)


def find_span(condition: Expression, column: Column, scale: ValueScale) -> ValueSpan:
    """Where a column can be in rows for which a condition is true."""
    return _find_span(condition, column, scale, wanted=True)


def _find_span(condition: Expression, column: Column, scale: ValueScale, *, wanted: bool) -> ValueSpan:
    """The same of rows for which it is false, where that is wanted."""
    match condition:
        case Call(function="not", arguments=(inner,)):
            return _find_span(inner, column, scale, wanted=not wanted)
        case Call(function="and" | "or" as function, arguments=(left, right)):
            one, other = (_find_span(each, column, scale, wanted=wanted) for each in (left, right))
            return one.meet(other) if (function == "and") is wanted else one.join(other)
        case Call(function="same" | "=", arguments=(value, Literal() as constant)) if wanted:
            return _compare(value, ">=", constant, column, scale).meet(_compare(value, "<=", constant, column, scale))
        case Call(function="<>", arguments=(value, Literal() as constant)) if not wanted:
            return _find_span(Call("=", (value, constant), condition.kind), column, scale, wanted=True)
        case Call(function=sign, arguments=(value, Literal() as constant)) if sign in _COMPARED:
            return _compare(value, sign if wanted else _NEGATED[sign], constant, column, scale)
    return EVERYWHERE


def _compare(value: Expression, sign: str, constant: Literal, column: Column, scale: ValueScale) -> ValueSpan:
    """Where a value that rises or falls with the column compares so with a constant."""
    rises = find_direction(value, column)
    if not rises or constant.value is None:
        return EVERYWHERE
    spend(_STEPS_OF_HALVING)
    meaning, compared = compile_meaning(value, {column: 0}), _COMPARED[sign]
    ends = [meaning((scale.value(place),)) for place in (scale.first, scale.last)]
    wanted = compile_meaning(constant, {})(())
    if scale.first > scale.last or any(end is None or end is UNKNOWN for end in ends):
        return EVERYWHERE

    def holds(place: int) -> bool:
        return compared(meaning((scale.value(place),)), wanted)

    if holds(scale.first) == holds(scale.last):  # everywhere, or as far as the catalog says nowhere
        return EVERYWHERE
    below, above = scale.first, scale.last
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (middle, above) if holds(middle) == holds(scale.first) else (below, middle)
    return ValueSpan(None, below) if holds(scale.first) else ValueSpan(above, None)


def find_direction(  # noqa: C901, PLR0911 - one for each sort of function
    value: Expression, column: Column
) -> int | None:
    """Whether a value only rises with a column (1), only falls (-1), or is constant (0); None if it may do both."""
    match value:
        case Literal():
            return 0
        case Column():
            return 1 if value == column else None
    found = [find_direction(each, column) for each in value.arguments]
    match value.function, found:
        case function, [only] if function in _RISING or function.startswith(_BEGINS):
            return only
        case "negative", [only]:
            return None if only is None else -only
        case function, [first, 0] if function in _SHIFTED:
            return first
        case "clamp", [first, 0, 0]:
            return first
        case "+", [left, right]:
            return _add(left, right)
        case "-" | "days between" | "seconds between", [left, right]:
            return _add(left, None if right is None else -right)
        case "*", [left, 0]:
            return _times(left, value.arguments[1])
        case "*", [0, right]:
            return _times(right, value.arguments[0])
        case "/", [left, 0]:
            return _times(left, value.arguments[1])
    return None


def _add(left: int | None, right: int | None) -> int | None:
    if left is None or right is None or left * right < 0:
        return None
    return left or right


def _times(direction: int | None, constant: Expression) -> int | None:
    match constant:
        case Literal(value=Fraction() as factor) if factor and direction is not None:
            return direction if factor > 0 else -direction
    return None
