"""Timestamps of the owner's files as local wall time: the only place where time zones are converted.

Total on every row: what is no timestamp is NULL, and what lies outside of the calendar is its first or last second, or
NULL where not even microseconds reach.
"""

from adomnia.privacy.wall_time import FIRST, LAST

# Far outside of the calendar conversions fail, and a time near its ends may leave it on another clock.
_INSIDE = "BETWEEN TIMESTAMPTZ '0001-01-03 00:00:00+00' AND TIMESTAMPTZ '9999-12-30 00:00:00+00'"
_ZONED = "TIMESTAMP WITH TIME ZONE"
_ZONED_TYPES = f"('{_ZONED}', 'TIMESTAMPTZ_NS')"
_WRITTEN = "[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?"
_OFFSET = "([Zz]|[+-](0[0-9]|1[0-5])(:?[0-5][0-9])?)"


def render_local_time(value: str, zone: str) -> str:
    """The second that a clock of a time zone shows; `zone` is its name as SQL writes it.

    A date, and a timestamp or a text without an offset, is such a clock's time already. Others are converted.
    """
    text = f"TRIM(TRY_CAST({value} AS VARCHAR))"
    plain = f"TRY_CAST(REGEXP_EXTRACT({text}, '^{_WRITTEN})?$') AS TIMESTAMP)"
    offset = _convert(f"UPPER(REGEXP_EXTRACT({text}, '^{_WRITTEN}{_OFFSET})$'))", zone)
    return (
        f"DATE_TRUNC('second', CASE WHEN TYPEOF({value}) IN {_ZONED_TYPES} THEN {_convert(value, zone)} "
        f"WHEN STARTS_WITH(TYPEOF({value}), 'TIMESTAMP') OR TYPEOF({value}) = 'DATE' "
        f"THEN TRY_CAST({value} AS TIMESTAMP) ELSE COALESCE({plain}, {offset}) END)"
    )


def _convert(value: str, zone: str) -> str:
    known = f"TRY_CAST({value} AS {_ZONED})"
    return (
        f"CASE WHEN {known} {_INSIDE} THEN TIMEZONE({zone}, CASE WHEN {known} {_INSIDE} THEN {known} END) "
        f"WHEN {known} > TIMESTAMPTZ '2000-01-01 00:00:00+00' THEN TIMESTAMP '{LAST}' "
        f"WHEN {known} IS NOT NULL THEN TIMESTAMP '{FIRST}' END"
    )
