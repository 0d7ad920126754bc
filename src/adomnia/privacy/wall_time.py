"""Local wall time as the index keeps it: whole seconds since 1970-01-01 00:00:00 of the declared time zone.

Moments have no time zone of their own: they are what a clock on the wall shows, in the years 1 to 9999.
"""

from datetime import datetime, timedelta

EPOCH = datetime.fromisoformat("1970-01-01T00:00:00")
FIRST = datetime.fromisoformat("0001-01-01T00:00:00")
LAST = datetime.fromisoformat("9999-12-31T23:59:59")

_SECOND = timedelta(seconds=1)


def count_seconds(moment: datetime) -> int:
    """How many seconds a moment is after the first one of 1970.

    >>> count_seconds(datetime.fromisoformat("1969-12-31T23:59:59"))
    -1
    """
    return (moment - EPOCH) // _SECOND


def read_seconds(seconds: int) -> datetime:
    """The moment that is so many seconds after the first one of 1970."""
    return EPOCH + seconds * _SECOND


FIRST_SECOND, LAST_SECOND = count_seconds(FIRST), count_seconds(LAST)
