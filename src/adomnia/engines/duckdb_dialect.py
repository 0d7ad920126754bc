"""DuckDB's SQL, which the other engines follow. Its doubles are those of IEEE: no arithmetic on them raises.

That is so with `ieee_floating_point_ops`. A reading of local time is total on every row: what is no timestamp is NULL,
and what lies outside of the calendar is its first or last second, or NULL where not even microseconds reach. DuckDB
changes the case of every character by itself into exactly one other, so that a table of pairs says all.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, compress
from pathlib import Path
from sys import float_info

from adomnia.engines.dialect import Dialect, IndexWords, IntegerType, SourceTypes, Spelling, Types, text_literal
from adomnia.privacy.kinds import LONGEST_TEXT
from adomnia.privacy.wall_time import FIRST, FIRST_SECOND, LAST, LAST_SECOND

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


_POSITIVE = "CASE WHEN {0} > 0e0 THEN {0} END"
_NOT_NEGATIVE = "CASE WHEN {0} >= 0e0 THEN {0} END"
# Beyond the calendar, functions of dates fail.
_CALENDAR = "CASE WHEN {0} BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE) THEN {0} END"
_CUT = f"SUBSTRING({{0}}, CAST(1e0 AS BIGINT), CAST({LONGEST_TEXT}e0 AS BIGINT))"
# DuckDB reads numbers and dates in many spellings. These are the ones that all engines read, and read alike.
_DECIMAL = "^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$"
_DATE = "^([1-9][0-9][0-9][0-9]|0[1-9][0-9][0-9]|00[1-9][0-9]|000[1-9])-[0-9][0-9]-[0-9][0-9]$"
_BOOLEAN = "^([tT][rR][uU][eE]|[fF][aA][lL][sS][eE])$"


def _cases(*parts: str) -> str:
    cases = (f"WHEN {test} THEN {outcome}" for test, outcome in zip(parts[:-1:2], parts[1::2], strict=True))
    return f"CASE {' '.join(cases)} ELSE {parts[-1]} END"


def _read(pattern: str, target: str) -> Spelling:
    return f"TRY_CAST(REGEXP_EXTRACT({{0}}, '{pattern}') AS {target})".format


_ARITHMETIC: dict[str, Spelling] = {
    "+": "({0} + {1})".format,
    "-": "({0} - {1})".format,
    "*": "({0} * {1})".format,
    "/": "({0} / NULLIF({1}, 0e0))".format,
    "mod": "({0} % NULLIF({1}, 0e0))".format,
    "negative": "(-{0})".format,
    "finite": f"CASE WHEN ABS({{0}}) <= {float_info.max!r} THEN {{0}} END".format,
    "abs": "ABS({0})".format,
    "sign": "CAST(SIGN({0}) AS DOUBLE)".format,
    "round": "ROUND({0})".format,
    "floor": "FLOOR({0})".format,
    "ceil": "CEIL({0})".format,
    "trunc": "TRUNC({0})".format,
    "ln": f"LN({_POSITIVE})".format,
    "log10": f"LOG10({_POSITIVE})".format,
    "log2": f"LOG2({_POSITIVE})".format,
    "exp": "EXP({0})".format,
    "sqrt": f"SQRT({_NOT_NEGATIVE})".format,
    "power": "POWER({0}, {1})".format,
    "greatest": "GREATEST({0}, {1})".format,
    "least": "LEAST({0}, {1})".format,
    "clamp": "CASE WHEN {0} IS NOT NULL THEN LEAST(GREATEST({0}, {1}), {2}) END".format,  # they skip NULL
    "inside": "CASE WHEN {0} BETWEEN {1} AND {2} THEN {0} END".format,
}
_LOGIC: dict[str, Spelling] = {
    "=": "({0} = {1})".format,
    "<>": "({0} <> {1})".format,
    "<": "({0} < {1})".format,
    "<=": "({0} <= {1})".format,
    ">": "({0} > {1})".format,
    ">=": "({0} >= {1})".format,
    "same": "({0} IS NOT DISTINCT FROM {1})".format,
    "and": "({0} AND {1})".format,
    "or": "({0} OR {1})".format,
    "not": "(NOT {0})".format,
    "is null": "({0} IS NULL)".format,
    "coalesce": "COALESCE({0}, {1})".format,
    "nullif": "NULLIF({0}, {1})".format,
    "case": _cases,
}
_TEXTS: dict[str, Spelling] = {
    "like": "({0} LIKE {1})".format,
    "starts_with": "STARTS_WITH({0}, {1})".format,
    "ends_with": "ENDS_WITH({0}, {1})".format,
    "contains": "CONTAINS({0}, {1})".format,
    "matches": "REGEXP_MATCHES({0}, {1})".format,
    "upper": "UPPER({0})".format,
    "lower": "LOWER({0})".format,
    "trim": "TRIM({0}, ' ')".format,
    "ltrim": "LTRIM({0}, ' ')".format,
    "rtrim": "RTRIM({0}, ' ')".format,
    "length": "CAST(LENGTH({0}) AS DOUBLE)".format,
    "position": "CAST(INSTR({0}, {1}) AS DOUBLE)".format,
    "replace": _CUT.format("REPLACE({0}, {1}, {2})").format,
    "substring": "SUBSTRING({0}, CAST({1} AS BIGINT), CAST({2} AS BIGINT))".format,
    "right": "RIGHT({0}, CAST({1} AS BIGINT))".format,
    "||": _CUT.format("({0} || {1})").format,
}
_PARTS = ("year", "quarter", "month", "week", "day", "doy", "dow", "isodow")
_STARTS = ("year", "quarter", "month", "week")
_DAYS: dict[str, Spelling] = {
    **{part: f"CAST(EXTRACT({part} FROM {{0}}) AS DOUBLE)".format for part in _PARTS},
    **{f"start of {unit}": f"CAST(DATE_TRUNC('{unit}', {_CALENDAR}) AS DATE)".format for unit in _STARTS},
    "days between": "CAST({0} - {1} AS DOUBLE)".format,
    "shift": _CALENDAR.format(f"({_CALENDAR} + CAST({{1}} AS INTEGER))").format,
    "shift months": _CALENDAR.format(f"CAST({_CALENDAR} + TO_MONTHS(CAST({{1}} AS INTEGER)) AS DATE)").format,
    "format": f"STRFTIME({_CALENDAR}, {{1}})".format,
}
# A timestamp is a double, the whole seconds since 1970 of local time.
_IN_YEARS = f"CASE WHEN {{0}} BETWEEN {FIRST_SECOND}e0 AND {LAST_SECOND}e0 THEN {{0}} END"
_TIMES: dict[str, Spelling] = {
    "hour": "FLOOR(({0} - FLOOR({0} / 86400e0) * 86400e0) / 3600e0)".format,
    "minute": "FLOOR(({0} - FLOOR({0} / 3600e0) * 3600e0) / 60e0)".format,
    "second": "({0} - FLOOR({0} / 60e0) * 60e0)".format,
    "start of hour": "(FLOOR({0} / 3600e0) * 3600e0)".format,
    "start of minute": "(FLOOR({0} / 60e0) * 60e0)".format,
    "day of": f"(CAST('1970-01-01' AS DATE) + TRY_CAST(FLOOR({_IN_YEARS} / 86400e0) AS INTEGER))".format,
    "midnight": "(CAST({0} - CAST('1970-01-01' AS DATE) AS DOUBLE) * 86400e0)".format,
    "seconds between": "({0} - {1})".format,
    "shift seconds": _IN_YEARS.format("({0} + {1})").format,
}
_CASTS: dict[str, Spelling] = {
    "boolean as number": "CAST({0} AS DOUBLE)".format,
    "text as number": _read(_DECIMAL, "DOUBLE"),
    "text as date": _read(_DATE, "DATE"),
    "text as boolean": _read(_BOOLEAN, "BOOLEAN"),
    "number as text": "CAST(TRY_CAST({0} AS BIGINT) AS VARCHAR)".format,
    "boolean as text": "CAST({0} AS VARCHAR)".format,
    "date as text": "CAST({0} AS VARCHAR)".format,
}

_AGGREGATES: dict[str, Spelling] = {
    "median": "MEDIAN({0})".format,
    "wide as double": "CAST({0} AS DOUBLE)".format,  # beyond 64 bits this is not always the nearest
    "least boolean": "MIN({0})".format,
    "greatest boolean": "MAX({0})".format,
    # The value {1} where {0} is least or greatest: equal ones are told apart by the value, never by their place.
    "value of least": "ARG_MIN(CASE WHEN {0} IS NULL THEN NULL ELSE {1} END, ROW({0}, {1}))".format,
    "value of greatest": "ARG_MAX(CASE WHEN {0} IS NULL THEN NULL ELSE {1} END, ROW({0}, {1}))".format,
}

_LONG = IntegerType("BIGINT", 2**63 - 1)
_WIDE = IntegerType("HUGEINT", 2**127 - 1)
_TYPES = Types(
    double="DOUBLE",
    boolean="BOOLEAN",
    text="VARCHAR",
    date="DATE",
    small="UTINYINT",  # by a BOOLEAN, rows are grouped half as fast
    days="INTEGER",
    rank="UINTEGER",
    long=_LONG,
    sum=_WIDE,
    wide=_WIDE,
    decimal=IntegerType("DECIMAL(38, 0)", 10**38 - 1),
    stored=(
        IntegerType("TINYINT", 2**7 - 1),
        IntegerType("SMALLINT", 2**15 - 1),
        IntegerType("INTEGER", 2**31 - 1),
        _LONG,
        _WIDE,
    ),
)
_SOURCES = SourceTypes(
    whole=frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}),
    wide=frozenset({"UBIGINT", "HUGEINT", "UHUGEINT", "BIGNUM"}),
    doubles=frozenset({"FLOAT", "DOUBLE"}),
    decimals=frozenset({"DECIMAL"}),
    booleans=frozenset({"BOOLEAN"}),
    moments=frozenset({"DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"})
    | {"TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS"},
    texts=frozenset({"VARCHAR", "ENUM"}),
    other_keys=frozenset({"UUID"}),
    empty='"NULL"',
)


def _declare(name: str, values: Sequence[str]) -> list[tuple[str, tuple[object, ...]]]:
    bound = 'CREATE OR REPLACE TEMP TABLE " values" AS SELECT UNNEST($1) AS value'
    listed = f'CREATE OR REPLACE TEMP TYPE {name} AS ENUM (SELECT value FROM " values" ORDER BY rowid)'  # noqa: S608
    return [(bound, (list(values),)), (listed, ())]


def _code(text: str, name: str, _values: Sequence[str]) -> str:
    return f"ENUM_CODE(TRY_CAST({text} AS {name}))"


_INDEX = IndexWords(
    temporary="CREATE OR REPLACE TEMP TABLE {0} AS {1}",
    temporary_columns="CREATE TEMP TABLE IF NOT EXISTS {0} ({1})",
    read_as="TRY_CAST({0} AS {1})",
    key="'{0}'",
    # The upper half of the hash, read as a little-endian integer.
    digest="CAST(md5_number(CONCAT({0})) >> 64 AS UBIGINT)",
    low_bits="CAST(md5_number(CONCAT({0})) & 16777215 AS BIGINT)",
    byte_length="strlen({0})",
    days_between="({0} - {1})",
    position="rowid",
    side_by_side="{0} POSITIONAL JOIN {1}",
    declare=_declare,
    code=_code,
    # Programs write whole numbers as 7.0 as soon as one of them is missing, and some put a space behind each comma.
    spelled_key="NULLIF(REGEXP_REPLACE(TRIM({0}), '^(-?[0-9]+)[.]0+$', '\\1'), '')",
    # 7.000 is the key 7 as well: decimals that are whole lose their zeros, the others keep none at their end.
    decimal_key=(
        "CASE WHEN CONTAINS(CAST({0} AS VARCHAR), '.') THEN RTRIM(RTRIM(CAST({0} AS VARCHAR), '0'), '.') "
        "ELSE CAST({0} AS VARCHAR) END"
    ),
    # A missing key turns whole numbers into floats in pandas: 7.0 is still the key 7, and NaN is none.
    double_key=(
        "CASE WHEN {0} = CAST('NaN' AS DOUBLE) THEN NULL "
        "WHEN {0} = FLOOR({0}) AND ABS({0}) < 9e18 THEN CAST(TRY_CAST({0} AS BIGINT) AS VARCHAR) "
        "ELSE CAST({0} AS VARCHAR) END"
    ),
    local_time=render_local_time,
    seconds="TRY_CAST(EPOCH({0}) AS BIGINT)",
)

DUCKDB = Dialect(
    name="duckdb",
    quotation='"',
    parameter="${0}",
    double="{0}",  # an exponent makes it one
    not_a_number="CAST('NaN' AS DOUBLE)",
    try_cast="TRY_CAST({0} AS {1})",
    rounding="FLOOR({0} / {1} + 0.5e0)",
    fitting="TRY_CAST({0} AS {1})".format,  # DuckDB may compute a branch for rows that do not take it
    truncating="TRY_CAST(TRUNC({0}) AS {1})".format,
    types=_TYPES,
    functions={**_ARITHMETIC, **_LOGIC, **_TEXTS, **_DAYS, **_TIMES, **_CASTS},
    aggregates=_AGGREGATES,
    refused={},
    raises=frozenset(),
    sources=_SOURCES,
    index=_INDEX,
    readings={},
)


_CHARACTERS = (range(1, 0xD800), range(0xE000, 0x110000))  # what is between them are surrogates: no characters


@lru_cache
def list_case_pairs(function: str) -> tuple[tuple[str, str], ...]:
    """The characters that UPPER or LOWER changes, each with what it becomes, in the order of their numbers."""
    import duckdb

    text = "".join(map(chr, chain(*_CHARACTERS)))
    with duckdb.connect() as connection:
        ((changed,),) = connection.execute(f"SELECT {function}($1)", [text]).fetchall()
    return tuple(compress(zip(text, changed, strict=True), map(str.__ne__, text, changed)))


def file_name(path: Path) -> str:
    """This one file, even if its name would match others."""
    return text_literal(re.sub(r"([*?\[])", r"[\1]", str(path)))
