"""Formats of dates: the fields of STRFTIME and TO_CHAR that are answered, and what they write."""

import re
from collections.abc import Callable
from datetime import date

MOST_CHARACTERS = 64
QUARTER = "%q"

_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_FIELDS: dict[str, Callable[[date], str]] = {
    "%Y": lambda day: f"{day.year:04}",
    "%m": lambda day: f"{day.month:02}",
    "%d": lambda day: f"{day.day:02}",
    "%j": lambda day: f"{day.timetuple().tm_yday:03}",
    "%B": lambda day: _MONTHS[day.month - 1],
    "%b": lambda day: _MONTHS[day.month - 1][:3],
    "%A": lambda day: _WEEKDAYS[day.weekday()],
    "%a": lambda day: _WEEKDAYS[day.weekday()][:3],
    "%u": lambda day: str(day.isoweekday()),
    "%G": lambda day: f"{day.isocalendar().year:04}",
    "%V": lambda day: f"{day.isocalendar().week:02}",
    "%%": lambda _: "%",
}
_RANKS: tuple[tuple[frozenset[str], Callable[[date], int]], ...] = (
    (frozenset({"%m", "%B", "%b"}), lambda day: day.month),
    (frozenset({"%V"}), lambda day: day.isocalendar().week),
    (frozenset({"%j"}), lambda day: day.timetuple().tm_yday),
    (frozenset({"%d"}), lambda day: day.day),
    (frozenset({"%A", "%a", "%u"}), lambda day: day.isoweekday()),
)
# Those of TO_CHAR, the longest first. Without FM, names are filled up with spaces there.
_WORDS = {
    "FMMonth": "%B",
    "FMDay": "%A",
    "YYYY": "%Y",
    "IYYY": "%G",
    "DDD": "%j",
    "Mon": "%b",
    "MM": "%m",
    "DD": "%d",
    "Dy": "%a",
    "IW": "%V",
    "ID": "%u",
    "Q": QUARTER,
}
_FORMAT = re.compile("(?:%[YmdjBbAauGVq%]|[^%])+", re.DOTALL)
_PART = re.compile(rf'(?P<word>{"|".join(_WORDS)})|"(?P<quoted>[^"]*)"|(?P<sign>[^A-Za-z"])')
_FIELD = re.compile("%.", re.DOTALL)

FIELDS = ", ".join((*(field for field in _FIELDS if field != "%%"), QUARTER))
WORDS = ", ".join(_WORDS)


def is_format(written: str) -> bool:
    """Whether a format of STRFTIME has no other fields than ours."""
    return len(written) <= MOST_CHARACTERS and _FORMAT.fullmatch(written) is not None


def translate_words(written: str) -> str | None:
    """A format of TO_CHAR as one of STRFTIME; None if it has other words than ours.

    >>> translate_words('YYYY"-W"IW')
    '%Y-W%V'
    """
    place, found = 0, []
    while place < len(written):
        part = _PART.match(written, place)
        if part is None:
            return None
        plain = part["quoted"] if part["sign"] is None else part["sign"]
        found.append(_WORDS[part["word"]] if part["word"] else (plain or "").replace("%", "%%"))
        place = part.end()
    return "".join(found)


def rank_days(written: str) -> Callable[[date], tuple[int, ...]]:
    """How the dates of a format are sorted: by the calendar, and without a year from its coarsest field on."""
    fields = set(_FIELD.findall(written))
    if fields & {"%Y", "%G"}:
        return lambda day: (day.toordinal(),)
    ranks = [rank for signs, rank in _RANKS if fields & signs]
    return lambda day: tuple(rank(day) for rank in ranks)


def write_date(day: date, written: str) -> str:
    """A date in a format, as engines write it."""
    return _FIELD.sub(lambda field: _FIELDS[field.group()](day), written)
