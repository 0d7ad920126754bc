"""Timestamps of the owner's tables as local wall time, shown on a clock in UTC; total on every row."""

from adomnia.privacy.wall_time import FIRST, LAST

_INSIDE = "BETWEEN TIMESTAMP '0001-01-03 00:00:00' AND TIMESTAMP '9999-12-30 00:00:00'"
_WRITTEN = "[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?"
_OFFSET = "([Zz]|[+-](0[0-9]|1[0-5])(:?[0-5][0-9])?)"


def render_local_time(value: str, zone: str) -> str:
    """The second that a clock of a time zone shows; `zone` is its name as SQL writes it.

    A date, and a timestamp or a text without an offset, is such a clock's time already. Others are converted.
    """
    text = f"TRIM(TRY_CAST({value} AS STRING))"
    plain = f"TRY_CAST(TRY_CAST(REGEXP_EXTRACT({text}, '^{_WRITTEN})?$', 0) AS TIMESTAMP_NTZ) AS TIMESTAMP)"
    offset = _convert(f"UPPER(REGEXP_EXTRACT({text}, '^{_WRITTEN}{_OFFSET})$', 0))", zone)
    clock, first = f"TRY_CAST({value} AS TIMESTAMP)", f"TIMESTAMP '{FIRST}'"  # before which DATE_TRUNC may fail
    return (
        f"DATE_TRUNC('SECOND', CASE WHEN TYPEOF({value}) = 'timestamp' THEN {_convert(value, zone)} "
        f"WHEN TYPEOF({value}) IN ('timestamp_ntz', 'date') "
        f"THEN CASE WHEN {clock} < {first} THEN {first} ELSE {clock} END "
        f"ELSE COALESCE({plain}, {offset}) END)"
    )


def _convert(value: str, zone: str) -> str:
    known = f"TRY_CAST({value} AS TIMESTAMP)"
    return (
        f"CASE WHEN {known} {_INSIDE} THEN FROM_UTC_TIMESTAMP({known}, {zone}) "
        f"WHEN {known} > TIMESTAMP '2000-01-01 00:00:00' THEN TIMESTAMP '{LAST}' "
        f"WHEN {known} IS NOT NULL THEN TIMESTAMP '{FIRST}' END"
    )
