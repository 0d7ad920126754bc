# ruff: noqa: S608 - SQL is what this module writes, without a text of anybody else
"""Functions of dates and of the whole seconds that timestamps are, within the years 1 to 9999."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf, nextafter

from adomnia.engines.postgres.own import Own, double
from adomnia.engines.postgres.own_arithmetic import PLACES
from adomnia.privacy.wall_time import FIRST_SECOND, LAST_SECOND

_DAYS_IN_10000_YEARS = 3652425  # after which the calendar repeats itself
_LATE, _EARLY = double(nextafter(LAST_SECOND, inf)), double(nextafter(FIRST_SECOND, -inf))


def _within(sql: str, before: str, after: str) -> str:
    """NULL up to one end and from another on: there the value becomes an end, and the ends become NULL.

    It stands there once, so that it is inlined whatever it costs.
    """
    return f"NULLIF(NULLIF(GREATEST(LEAST({sql}, {after}), {before}), {after}), {before})"


def _in_calendar(argument: str) -> str:
    return _within(argument, "'0001-12-31 BC'::date", "'10000-01-01'::date")


_IN_YEARS = _within("a", _EARLY, _LATE)
_DAY_NUMBER = f"({_in_calendar('a')} - '0001-01-01'::date)"
_SHIFTED = f"'0001-01-01'::date + {_within(f'{_DAY_NUMBER} + b::int', '-1', '3652059')}"
# Ten thousand years later, no month that is taken away leads out of PostgreSQL's calendar.
_LATER = f"(({_in_calendar('a')} + {_DAYS_IN_10000_YEARS})::timestamp + make_interval(months => b::int))::date"
_SHIFTED_MONTHS = _within(_LATER, "'10000-12-31'::date", "'20000-01-01'::date") + f" - {_DAYS_IN_10000_YEARS}"
_PARTS = ("year", "quarter", "month", "week", "day", "doy", "dow", "isodow")
_UNITS = ("year", "quarter", "month", "week")
_FIELDS = {"Y": "YYYY", "m": "MM", "d": "DD", "B": "FMMonth", "b": "FMMon", "A": "FMDay", "a": "FMDy"}
_FIELDS |= {"V": "IW", "G": "IYYY", "j": "DDD", "u": "ID"}


def _format() -> str:
    """Between the doubled signs, each field is replaced; none of them contains a sign. Names are English always."""
    replaced = "piece"
    for field, name in _FIELDS.items():
        replaced = f"replace({replaced}, '%{field}', to_char(day, '{name}'))"
    pieces = (
        f"SELECT {replaced} AS piece, place FROM unnest(string_to_array(b, '%%')) WITH ORDINALITY AS p(piece, place)"
    )
    joined = f"SELECT string_agg(piece, '%' ORDER BY place) FROM ({pieces}) AS q"
    return (
        f"DECLARE day timestamp := {_in_calendar('a')}; BEGIN RETURN CASE WHEN day IS NOT NULL THEN ({joined}) END; END"
    )


@dataclass(frozen=True)
class _Operators:
    """How a quotient, a product and a difference are written."""

    over: str
    times: str
    less: str

    def start(self, size: int) -> str:
        """The first second of so many."""
        return self.times.format(f"floor({self.over.format('a', size)})", size)

    def rest(self, size: int) -> str:
        """How many seconds have passed since."""
        return self.less.format("a", self.start(size))

    def part(self, size: int, unit: int) -> str:
        """How many units have passed since."""
        return f"floor({self.over.format(self.rest(size), unit)})"


_BARE = _Operators("({0} / {1})", "({0} * {1})", "({0} - {1})")
_CAREFUL = _Operators(*(f"{{{{schema}}}}.ao_{name}_once({{0}}, {{1}})" for name in ("divide", "multiply", "subtract")))


def _seconds(name: str, write: Callable[[_Operators], str], returns: str = "float8") -> Own:
    """Bare operators where the number is a usual one, else those that never fail."""
    body = f"CASE WHEN (width_bucket(a, {PLACES}) & 1) = 1 THEN {write(_BARE)} ELSE {write(_CAREFUL)} END"
    return Own(name, "a float8", returns, body, twin=True)


def list_days() -> Iterator[Own]:
    """All of them."""
    day = _in_calendar("a")
    for part in _PARTS:
        yield Own(part, "a date", "float8", f"date_part('{part}', {day}::timestamp)")
    for unit in _UNITS:
        yield Own(f"start_of_{unit}", "a date", "date", f"date_trunc('{unit}', {day}::timestamp)::date")
    yield Own("days_between", "a date, b date", "float8", f"({day} - {_in_calendar('b')})::float8")
    yield Own("shift", "a date, b float8", "date", _SHIFTED)
    yield Own("shift_months", "a date, b float8", "date", _SHIFTED_MONTHS)
    yield Own("format", "a date, b text", "text", _format(), block=True)
    yield Own("write_date", "a date", "text", "BEGIN RETURN to_char(a, 'YYYY-MM-DD'); END", block=True)


def list_times() -> Iterator[Own]:
    """All of them."""
    yield _seconds("hour", lambda by: by.part(86400, 3600))
    yield _seconds("minute", lambda by: by.part(3600, 60))
    yield _seconds("second", lambda by: by.rest(60))
    yield _seconds("start_of_hour", lambda by: by.start(3600))
    yield _seconds("start_of_minute", lambda by: by.start(60))
    yield _seconds("day_of", lambda by: f"'1970-01-01'::date + floor({by.over.format(_IN_YEARS, 86400)})::int", "date")
    yield Own("in_years", "a float8", "float8", _IN_YEARS)
    yield Own("midnight", "a date", "float8", f"({_in_calendar('a')} - '1970-01-01'::date)::float8 * 86400")
