"""Functions of days, from year 1 to 9999: what lies outside of the calendar is NULL where it is computed with."""

from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta
from fractions import Fraction

from adomnia.privacy.functions.contract import Function, Result
from adomnia.privacy.kinds import Day, Kind, Quantity, Text

MOST_DAYS = (date.max - date.min).days
MOST_MONTHS = 12 * (date.max.year - date.min.year + 1)


def _part(least: int, most: int) -> Result:
    bounds = Quantity(Fraction(least), Fraction(most), whole=True)
    return lambda kind: bounds if isinstance(kind, Day) else None


def _year(kind: Kind) -> Kind | None:
    if not isinstance(kind, Day):
        return None
    lower, upper = (None if day is None else Fraction(day.year) for day in (kind.lower, kind.upper))
    return Quantity(lower, upper, whole=True)


def _start(truncated: Callable[[date], date]) -> Result:
    def result(kind: Kind) -> Kind | None:
        if not isinstance(kind, Day):
            return None
        return Day(*(None if day is None else truncated(day) for day in (kind.lower, kind.upper)))

    return result


def _monday(day: date) -> date:
    return day - timedelta(day.weekday())


def _apart(left: Kind, right: Kind) -> Kind | None:
    if not (isinstance(left, Day) and isinstance(right, Day)):
        return None
    if left.lower is None or left.upper is None or right.lower is None or right.upper is None:
        return Quantity(whole=True)
    least, most = (left.lower - right.upper).days, (left.upper - right.lower).days
    return Quantity(Fraction(least), Fraction(most), whole=True)


def _shifted(kind: Kind, days: Kind) -> Kind | None:
    match kind, days:
        case Day(), Quantity(whole=True, lower=Fraction() as number) if abs(number) <= MOST_DAYS:
            return Day(*(_moved(day, int(number)) for day in (kind.lower, kind.upper)))
    return None


def _moved(day: date | None, days: int) -> date | None:
    place = 0 if day is None else day.toordinal() + days
    return date.fromordinal(place) if 1 <= place <= date.max.toordinal() else None


def _shifted_by_months(kind: Kind, months: Kind) -> Kind | None:
    match kind, months:
        case Day(), Quantity(whole=True, lower=Fraction() as number) if abs(number) <= MOST_MONTHS:
            return Day(*(None if day is None else add_months(day, int(number)) for day in (kind.lower, kind.upper)))
    return None


def add_months(day: date, months: int) -> date | None:
    """The same day of a later or an earlier month, or the last one of it; None outside of the calendar.

    >>> add_months(date(2024, 1, 31), 1)
    datetime.date(2024, 2, 29)
    """
    years, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not date.min.year <= years <= date.max.year:
        return None
    return date(years, month + 1, min(day.day, monthrange(years, month + 1)[1]))


def _formatted(kind: Kind, pattern: Kind) -> Kind | None:
    return Text() if isinstance(kind, Day) and isinstance(pattern, Text) else None


_PARTS: dict[str, tuple[str, str, Result]] = {
    "year": ("YEAR(a)", "the year", _year),
    "quarter": ("QUARTER(a)", "the quarter, 1 to 4", _part(1, 4)),
    "month": ("MONTH(a)", "the month, 1 to 12", _part(1, 12)),
    "week": ("WEEK(a), WEEKOFYEAR(a)", "the ISO week, 1 to 53", _part(1, 53)),
    "day": ("DAY(a), DAYOFMONTH(a)", "the day of the month", _part(1, 31)),
    "doy": ("DAYOFYEAR(a)", "the day of the year", _part(1, 366)),
    "dow": ("DAYOFWEEK(a), WEEKDAY(a)", "the day of the week, Sunday 0", _part(0, 6)),
    "isodow": ("ISODOW(a)", "the day of the week, Monday 1 to Sunday 7", _part(1, 7)),
}
_STARTS: dict[str, Result] = {
    "year": _start(lambda day: date(day.year, 1, 1)),
    "quarter": _start(lambda day: date(day.year, day.month - (day.month - 1) % 3, 1)),
    "month": _start(lambda day: day.replace(day=1)),
    "week": _start(_monday),
}

DAYS = (
    *(
        Function(name, written, 1, "date -> number", meaning, result)
        for name, (written, meaning, result) in _PARTS.items()
    ),
    *(
        Function(
            f"start of {unit}",
            f"DATE_TRUNC('{unit}', a)",
            1,
            "date -> date",
            f"the first day of its {unit}",
            result,
            copies=3,
        )
        for unit, result in _STARTS.items()
    ),
    Function(
        "days between",
        "a - b of dates",
        2,
        "date, date -> number",
        "how many days a is after b",
        _apart,
    ),
    Function(
        "shift",
        "a + b, a - b with a date and a number of days",
        2,
        "date, whole constant -> date",
        "so many days later or earlier; NULL outside of the calendar",
        _shifted,
        constants=(1,),
        copies=9,
    ),
    Function(
        "shift months",
        "a + INTERVAL b MONTH",
        2,
        "date, whole constant -> date",
        "the same day so many months later or earlier, or the last of that month; NULL outside of the calendar",
        _shifted_by_months,
        constants=(1,),
        copies=9,
    ),
    Function(
        "format",
        "STRFTIME(a, b)",
        2,
        "date, a constant format -> text",
        "the date written as the format says",
        _formatted,
        constants=(1,),
        copies=3,
    ),
)
