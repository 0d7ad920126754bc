# ruff: noqa: S608 - SQL is what this module writes, without a text of anybody else
"""Our stored functions in PostgreSQL: its own ones raise on some rows, or give other values than DuckDB does.

Each is total: no argument makes it fail. They are made in the schema of the index. Expressions are bound when they are
made; blocks look names up when they run, on the search path that the engine pins.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import inf, nextafter

from adomnia.engines.duckdb_dialect import list_case_pairs
from adomnia.engines.postgres.functions import OWN_AGGREGATES
from adomnia.engines.postgres.stored_functions import ARITHMETIC, PLACES, StoredFunction, double
from adomnia.privacy.kinds import LONGEST_TEXT
from adomnia.privacy.wall_time import FIRST_SECOND, LAST_SECOND

_ANY_CASE = "CASE WHEN octet_length(a) = length(a) THEN {0}(a COLLATE \"C\") ELSE translate(a, '{1}', '{2}') END"
# A pattern in our one form: PostgreSQL reads \\x with as many digits as there are, and knows no \\z.
_PATTERN = r"replace(replace(b, '\x', '\u00'), '\z', '\Z')"
_PLAIN_NUMBER = "^[+-]?[0-9]{1,15}([.][0-9]{0,15})?$"
_NUMBER = "^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$"
BEYOND = 2**1024 - 2**970  # from here on, a number is read as an infinity
_LAST_PLACE = 1200  # of the first digit: a double's are nearer to the point
# The half of the smallest double, in all of its digits: up to there, a number is read as 0.
SMALLEST = f"0.{int(Fraction(1, 2**1075) * 10**1075):01075d}"


# A number has a size that is known from the places of its digits; only near the ends of the doubles is it compared.
_READ_NUMBER = f"""
DECLARE parts text[]; digits text; exponent text; place int; exact numeric; unsigned float8;
BEGIN
  IF a ~ '{_PLAIN_NUMBER}' THEN RETURN a::float8; END IF;
  IF a IS NULL OR a !~ '{_NUMBER}' THEN RETURN NULL; END IF;
  parts := regexp_match(a, '^([+-]?)([0-9]*)[.]?([0-9]*)[eE]?([+-]?)([0-9]*)$');
  digits := ltrim(parts[2] || parts[3], '0');
  exponent := ltrim(parts[5], '0');
  place := length(parts[2]) - (length(parts[2] || parts[3]) - length(digits));
  IF digits = '' THEN
    unsigned := 0;
  ELSIF length(exponent) > 6 THEN
    unsigned := CASE WHEN parts[4] = '-' THEN 0 ELSE 'Infinity'::float8 END;
  ELSE
    place := place + (parts[4] || COALESCE(NULLIF(exponent, ''), '0'))::int;
    IF abs(place) > {_LAST_PLACE} THEN
      unsigned := CASE WHEN place < 0 THEN 0 ELSE 'Infinity'::float8 END;
    ELSE
      exact := ('0.' || digits || 'e' || place)::numeric;
      unsigned := CASE WHEN exact >= {BEYOND} THEN 'Infinity'::float8 WHEN exact <= {SMALLEST} THEN 0
        ELSE ltrim(a, '+-')::float8 END;
    END IF;
  END IF;
  RETURN CASE WHEN parts[1] = '-' THEN -unsigned ELSE unsigned END;
END"""
_READ_DATE = r"""
DECLARE first date;
BEGIN
  IF a IS NULL OR a !~ '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$' OR a LIKE '0000%' THEN RETURN NULL; END IF;
  first := make_date(left(a, 4)::int, substr(a, 6, 2)::int, 1);
  RETURN CASE WHEN right(a, 2)::int <= (first + interval '1 month')::date - first THEN first + right(a, 2)::int - 1 END;
END"""


def list_texts() -> Iterator[StoredFunction]:
    """All of them; which letter is the other case of which, DuckDB says."""
    yield StoredFunction("matches", "a text, b text", "boolean", f"a ~ {_PATTERN}")
    yield StoredFunction("like", "a text, b text", "boolean", "a LIKE b ESCAPE ''")
    yield StoredFunction("contains", "a text, b text", "boolean", "strpos(a, b) > 0")
    yield StoredFunction("ends_with", "a text, b text", "boolean", "starts_with(reverse(a), reverse(b))")
    yield StoredFunction("cut", "a text", "text", f"substring(a, 1, {LONGEST_TEXT})")
    yield StoredFunction("substring", "a text, b float8, c float8", "text", "substring(a, b::int, c::int)")
    yield StoredFunction("right", "a text, b float8", "text", "right(a, b::int)")
    yield StoredFunction("read_number", "a text", "float8", _READ_NUMBER, block=True)
    yield StoredFunction("read_date", "a text", "date", _READ_DATE, block=True)
    truth = """CASE lower(a COLLATE "C") WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE END"""
    yield StoredFunction("read_boolean", "a text", "boolean", truth)
    yield StoredFunction("number", "a boolean", "float8", "a::int::float8")
    yield StoredFunction("write_boolean", "a boolean", "text", "a::text")
    yield StoredFunction("write_number", "a float8", "text", "{schema}.ao_long(a)::text")
    for name in ("upper", "lower"):
        letters, others = map("".join, zip(*list_case_pairs(name), strict=True))
        yield StoredFunction(name, "a text", "text", _ANY_CASE.format(name, letters, others), twin=True)


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


def _seconds(name: str, write: Callable[[_Operators], str], returns: str = "float8") -> StoredFunction:
    """Bare operators where the number is a usual one, else those that never fail."""
    body = f"CASE WHEN (width_bucket(a, {PLACES}) & 1) = 1 THEN {write(_BARE)} ELSE {write(_CAREFUL)} END"
    return StoredFunction(name, "a float8", returns, body, twin=True)


def list_days() -> Iterator[StoredFunction]:
    """All of them."""
    day = _in_calendar("a")
    for part in _PARTS:
        yield StoredFunction(part, "a date", "float8", f"date_part('{part}', {day}::timestamp)")
    for unit in _UNITS:
        yield StoredFunction(f"start_of_{unit}", "a date", "date", f"date_trunc('{unit}', {day}::timestamp)::date")
    yield StoredFunction("days_between", "a date, b date", "float8", f"({day} - {_in_calendar('b')})::float8")
    yield StoredFunction("shift", "a date, b float8", "date", _SHIFTED)
    yield StoredFunction("shift_months", "a date, b float8", "date", _SHIFTED_MONTHS)
    yield StoredFunction("format", "a date, b text", "text", _format(), block=True)
    yield StoredFunction("write_date", "a date", "text", "BEGIN RETURN to_char(a, 'YYYY-MM-DD'); END", block=True)


def list_times() -> Iterator[StoredFunction]:
    """All of them."""
    yield _seconds("hour", lambda by: by.part(86400, 3600))
    yield _seconds("minute", lambda by: by.part(3600, 60))
    yield _seconds("second", lambda by: by.rest(60))
    yield _seconds("start_of_hour", lambda by: by.start(3600))
    yield _seconds("start_of_minute", lambda by: by.start(60))
    yield _seconds("day_of", lambda by: f"'1970-01-01'::date + floor({by.over.format(_IN_YEARS, 86400)})::int", "date")
    yield StoredFunction("in_years", "a float8", "float8", _IN_YEARS)
    yield StoredFunction("midnight", "a date", "float8", f"({_in_calendar('a')} - '1970-01-01'::date)::float8 * 86400")


@lru_cache
def list_own() -> tuple[StoredFunction, ...]:
    """All functions of ours, each behind those that it calls."""
    return (*ARITHMETIC, *OWN_AGGREGATES, *list_texts(), *list_days(), *list_times())


def render_library(schema: str) -> tuple[str, ...]:
    """The statements that make all of them in a schema, whose name is quoted."""
    return tuple(statement for own in list_own() for statement in own.render(schema))
