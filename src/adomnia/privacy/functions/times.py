"""Functions of timestamps, which are whole seconds of local wall time: what leaves the years 1 to 9999 is NULL."""

from collections.abc import Callable
from datetime import datetime, time, timedelta
from fractions import Fraction

from adomnia.privacy.functions.contract import Function, Result
from adomnia.privacy.kinds import Day, Kind, Moment, Quantity
from adomnia.privacy.wall_time import FIRST_SECOND, LAST_SECOND, count_seconds

_MOST_SECONDS = LAST_SECOND - FIRST_SECOND


def _part(most: int) -> Result:
    bounds = Quantity(Fraction(0), Fraction(most), whole=True)
    return lambda kind: bounds if isinstance(kind, Moment) else None


def _start(truncated: Callable[[datetime], datetime]) -> Result:
    def result(kind: Kind) -> Kind | None:
        if not isinstance(kind, Moment):
            return None
        lower, upper = (None if end is None else truncated(end) for end in (kind.lower, kind.upper))
        return Moment(lower, upper, kind.zone)

    return result


def _day(kind: Kind) -> Kind | None:
    if not isinstance(kind, Moment):
        return None
    return Day(*(None if end is None else end.date() for end in (kind.lower, kind.upper)))


def _midnight(kind: Kind) -> Kind | None:
    if not isinstance(kind, Day):
        return None
    lower, upper = (None if day is None else datetime.combine(day, time.min) for day in (kind.lower, kind.upper))
    return Moment(lower, upper)


def _apart(left: Kind, right: Kind) -> Kind | None:
    if not (isinstance(left, Moment) and isinstance(right, Moment) and left.fits(right)):
        return None
    if left.lower is None or left.upper is None or right.lower is None or right.upper is None:
        return Quantity(whole=True)
    least = count_seconds(left.lower) - count_seconds(right.upper)
    most = count_seconds(left.upper) - count_seconds(right.lower)
    return Quantity(Fraction(least), Fraction(most), whole=True)


def _shifted(kind: Kind, seconds: Kind) -> Kind | None:
    match kind, seconds:
        case Moment(), Quantity(whole=True, lower=Fraction() as number) if abs(number) <= _MOST_SECONDS:
            lower, upper = (_moved(end, int(number)) for end in (kind.lower, kind.upper))
            return Moment(lower, upper, kind.zone)
    return None


def _moved(moment: datetime | None, seconds: int) -> datetime | None:
    if moment is None or not FIRST_SECOND <= count_seconds(moment) + seconds <= LAST_SECOND:
        return None
    return moment + timedelta(seconds=seconds)


TIMES = (
    Function("hour", "HOUR(a)", 1, "timestamp -> number", "the hour, 0 to 23", _part(23), copies=2),
    Function("minute", "MINUTE(a)", 1, "timestamp -> number", "the minute, 0 to 59", _part(59), copies=2),
    Function("second", "SECOND(a)", 1, "timestamp -> number", "the second, 0 to 59", _part(59), copies=2),
    Function(
        "start of hour",
        "DATE_TRUNC('hour', a)",
        1,
        "timestamp -> timestamp",
        "the first second of its hour",
        _start(lambda moment: moment.replace(minute=0, second=0)),
        copies=2,
    ),
    Function(
        "start of minute",
        "DATE_TRUNC('minute', a)",
        1,
        "timestamp -> timestamp",
        "the first second of its minute",
        _start(lambda moment: moment.replace(second=0)),
        copies=2,
    ),
    Function("day of", "CAST(a AS DATE) of a timestamp", 1, "timestamp -> date", "the day it is on", _day, copies=3),
    Function("midnight", "CAST(a AS TIMESTAMP) of a date", 1, "date -> timestamp", "its first second", _midnight),
    Function(
        "seconds between",
        "a - b of timestamps",
        2,
        "two timestamps of one time zone -> number",
        "how many seconds of local time a is after b",
        _apart,
    ),
    Function(
        "shift seconds",
        "a + INTERVAL b HOUR with a timestamp",
        2,
        "timestamp, whole constant -> timestamp",
        "so many seconds of local time later or earlier; NULL outside of the calendar",
        _shifted,
        constants=(1,),
        copies=3,
    ),
)
