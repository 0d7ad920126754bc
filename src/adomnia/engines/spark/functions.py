"""The scalar functions in Spark's SQL: expressions alone, which every server of Spark Connect computes alike.

Spark rounds, cuts and matches in its own ways, and its logarithms differ in their last bits. Each phrase below gives
what DuckDB gives, is read as DuckDB's, and fails on no row.
"""

from collections.abc import Iterator

from adomnia.engines.dialect import Spelling
from adomnia.engines.duckdb_dialect import DUCKDB, list_case_pairs
from adomnia.privacy.kinds import LONGEST_TEXT
from adomnia.privacy.wall_time import FIRST_SECOND, LAST_SECOND

_ROUNDED = "RINT({0})"  # to a double: FLOOR gives integers of 64 bits, and fails beyond them
_WHOLE = "TRY_CAST({0} AS BIGINT)"  # of seconds, which are whole
_PAST_LONG = f"{2**63}e0"  # which is cast to the integer before it
_IN_YEARS = f"CASE WHEN {{0}} BETWEEN {FIRST_SECOND}e0 AND {LAST_SECOND}e0 THEN {{0}} END"
_CALENDAR = "CASE WHEN {0} BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE) THEN {0} END"
_DAYS_BEFORE_1970 = -FIRST_SECOND // 86400
# The patterns that DuckDB reads texts by. Here $ is also before a last line break, hence \\z.
_DECIMAL = r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\\z"
_DATE = r"^([1-9][0-9][0-9][0-9]|0[1-9][0-9][0-9]|00[1-9][0-9]|000[1-9])-[0-9][0-9]-[0-9][0-9]\\z"
_BOOLEAN = r"^([tT][rR][uU][eE]|[fF][aA][lL][sS][eE])\\z"
# A pattern of LIKE as a regular expression, in which each piece between two % is taken where it is found first. That
# is as good as any later place, and what is in (?>...) is never tried again: no row takes long, and all rows end.
_QUOTED = r"REPLACE(REPLACE(REPLACE({1}, '\\E', '\\E\\\\E\\Q'), '_', '\\E.\\Q'), '%', '\\E)(?>.*?\\Q')"
_LIKE = rf"({{0}} RLIKE CONCAT('(?s)(?>\\A\\Q', {_QUOTED}, '\\E\\z)'))"

_MONTHS: tuple[str, ...] = ("January", "February", "March", "April", "May", "June", "July", "August", "September")
_MONTHS += ("October", "November", "December")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _named(names: tuple[str, ...], place: str, letters: int | None = None) -> str:
    listed = ", ".join(f"'{name[:letters]}'" for name in names)
    return f"ELEMENT_AT(ARRAY({listed}), {place})"


def _padded(number: str, digits: int) -> str:
    return f"LPAD(CAST({number} AS STRING), {digits}, '0')"


def _format() -> str:
    """Every field replaced; %0 is no field, and stands for a sign that was doubled. The day is bound to a name once."""
    month, weekday = "MONTH(d)", "WEEKDAY(d) + 1"
    fields = {"Y": _padded("YEAR(d)", 4), "m": _padded(month, 2), "d": _padded("DAY(d)", 2)}
    fields |= {"B": _named(_MONTHS, month), "b": _named(_MONTHS, month, 3), "A": _named(_WEEKDAYS, weekday)}
    fields |= {"a": _named(_WEEKDAYS, weekday, 3), "V": _padded("WEEKOFYEAR(d)", 2), "j": _padded("DAYOFYEAR(d)", 3)}
    fields |= {"G": _padded("EXTRACT(YEAROFWEEK FROM d)", 4), "u": f"CAST({weekday} AS STRING)"}
    written = "REPLACE({1}, '%%', '%0')"
    for field, value in fields.items():
        written = f"REPLACE({written}, '%{field}', {value})"
    return f"TRANSFORM(ARRAY({{0}}), d -> REPLACE({written}, '%0', '%'))[0]"


def _read(pattern: str, target: str) -> str:
    return f"TRY_CAST(REGEXP_EXTRACT({{0}}, '{pattern}', 0) AS {target})"


def _translated(function: str) -> str:
    letters, others = map("".join, zip(*list_case_pairs(function), strict=True))
    return f"TRANSLATE({{0}}, '{letters}', '{others}')"


def _later(shifted: str) -> str:
    """A day that is NULL outside of the calendar."""
    return _CALENDAR.replace("{0}", shifted)


# What is written in another way than in DuckDB, or fails if it is not written like that; read as DuckDB's of that name.
_PHRASES: dict[str, str] = {
    "/": "({0} / NULLIF({1}, 0e0))",
    "mod": "({0} % NULLIF({1}, 0e0))",
    "sign": "CAST(NANVL(SIGN({0}), 0e0) AS DOUBLE)",
    "floor": f"({_ROUNDED} - CASE WHEN {_ROUNDED} > {{0}} THEN 1e0 ELSE 0e0 END)",
    "ceil": f"({_ROUNDED} + CASE WHEN {_ROUNDED} < {{0}} THEN 1e0 ELSE 0e0 END)",
    "trunc": "NANVL({0} - {0} % 1e0, {0})",
    "like": _LIKE,
    "substring": "SUBSTRING({0}, CAST({1} AS INT), CAST({2} AS INT))",
    "right": "RIGHT({0}, CAST({1} AS INT))",
    "dow": "CAST(DAYOFWEEK({0}) - 1 AS DOUBLE)",
    "isodow": "CAST(WEEKDAY({0}) + 1 AS DOUBLE)",
    **{f"start of {unit}": f"TRUNC({{0}}, '{unit.upper()}')" for unit in ("year", "quarter", "month", "week")},
    "days between": "CAST(DATEDIFF({0}, {1}) AS DOUBLE)",
    "shift": _later("DATE_ADD({0}, CAST({1} AS INT))"),
    "shift months": _later("ADD_MONTHS({0}, CAST({1} AS INT))"),
    "format": _format(),
    "hour": f"CAST(PMOD({_WHOLE}, 86400) DIV 3600 AS DOUBLE)",
    "minute": f"CAST(PMOD({_WHOLE}, 3600) DIV 60 AS DOUBLE)",
    "second": f"CAST(PMOD({_WHOLE}, 60) AS DOUBLE)",
    "start of hour": f"({{0}} - CAST(PMOD({_WHOLE}, 3600) AS DOUBLE))",
    "start of minute": f"({{0}} - CAST(PMOD({_WHOLE}, 60) AS DOUBLE))",
    "day of": (
        f"DATE_FROM_UNIX_DATE(CAST((CAST({_IN_YEARS} AS BIGINT) + {-FIRST_SECOND}) DIV 86400"
        f" - {_DAYS_BEFORE_1970} AS INT))"
    ),
    "midnight": "(CAST(UNIX_DATE({0}) AS DOUBLE) * 86400e0)",
    "text as number": _read(_DECIMAL, "DOUBLE"),
    "text as date": _read(_DATE, "DATE"),
    "text as boolean": _read(_BOOLEAN, "BOOLEAN"),
    "number as text": f"CAST(TRY_CAST(RINT(NULLIF({{0}}, {_PAST_LONG})) AS BIGINT) AS STRING)",
    "boolean as text": "CAST({0} AS STRING)",
    "date as text": "CAST({0} AS STRING)",
    **{function: _translated(function) for function in ("upper", "lower")},
}
_CUT = f"SUBSTRING({{0}}, 1, {LONGEST_TEXT})"

REASONS: dict[str, str] = {
    **dict.fromkeys(
        ("ln", "log10", "log2", "exp", "power"), "its last bits are others on Spark, and differ from machine to machine"
    ),
}
"""Why a function is not offered."""
REMARKS: dict[str, str] = {
    "matches": "patterns that no text fits in very many ways: Java tries one after the other",
}
"""What is offered of a function, if not all."""


def _list_native() -> Iterator[tuple[str, Spelling]]:
    """What Spark writes and means as DuckDB does."""
    others = {*_PHRASES, *REASONS, "trim", "ltrim", "rtrim", "position", "replace", "||", "matches"}
    others |= {"starts_with", "ends_with"}
    yield from ((name, spelling) for name, spelling in DUCKDB.functions.items() if name not in others)


FUNCTIONS: dict[str, Spelling] = {
    **dict(_list_native()),
    **{name: phrase.format for name, phrase in _PHRASES.items()},
    "starts_with": "STARTSWITH({0}, {1})".format,
    "ends_with": "ENDSWITH({0}, {1})".format,
    "trim": "TRIM(BOTH ' ' FROM {0})".format,
    "ltrim": "TRIM(LEADING ' ' FROM {0})".format,
    "rtrim": "TRIM(TRAILING ' ' FROM {0})".format,
    "position": "CAST(INSTR({0}, {1}) AS DOUBLE)".format,
    "replace": _CUT.format("REPLACE({0}, {1}, {2})").format,
    "||": _CUT.format("({0} || {1})").format,
    "matches": "({0} RLIKE {1})".format,
}
"""What every function of the registry is in Spark, total on every row and equal to DuckDB's."""

_PLACES = {
    "/": 2,
    "mod": 2,
    "like": 2,
    "right": 2,
    "days between": 2,
    "shift": 2,
    "shift months": 2,
    "format": 2,
    "substring": 3,
}
READINGS: dict[str, str] = {
    **{
        phrase: DUCKDB.functions[name](*(f"{{{place}}}" for place in range(_PLACES.get(name, 1))))
        for name, phrase in _PHRASES.items()
    },
    _CUT: f"SUBSTRING({{0}}, CAST(1e0 AS BIGINT), CAST({LONGEST_TEXT}e0 AS BIGINT))",
}
"""What these phrases mean, as DuckDB writes it."""

RAISES = frozenset({"Div", "IntDiv", "Mod", "Floor", "Ceil", "Trunc", "Like", "RegexpExtract", "TimestampTrunc"})
RAISES |= {"Ln", "Log", "Exp", "Pow", "TimeToStr"}
"""Nodes that a row can make fail, or that mean something else in Spark, unless they are read from a phrase."""

MOST_WAYS = 2**21
"""How many ways a pattern may have to be read: Java tries them one after the other, some million in a second."""
