"""Spark's SQL in ANSI mode: what overflows raises, and a CASE computes only the branch that is taken.

SQLGlot calls it databricks: its word for Spark reads every CAST as one that may fail.
"""

from collections.abc import Sequence

from adomnia.engines.dialect import Dialect, IndexWords, IntegerType, SourceTypes, Spelling, Types
from adomnia.engines.spark.functions import FUNCTIONS, MOST_WAYS, RAISES, READINGS, REASONS
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


# Spark's own median takes two equal numbers for one, where DuckDB adds up their halves: the smallest doubles have none.
_HALVES = "GET(s, SIZE(s) DIV 2 - 1) * 0.5e0 + GET(s, SIZE(s) DIV 2) * 0.5e0"
_MIDDLE = f"CASE WHEN SIZE(s) % 2 = 1 THEN GET(s, SIZE(s) DIV 2) ELSE {_HALVES} END"
_MEDIAN = f"TRANSFORM(ARRAY(SORT_ARRAY(COLLECT_LIST({{0}}))), s -> {_MIDDLE})[0]"
# Rows without a value or an order have no place; equal orders are told apart by the value, never by their place.
_PLACE = "CASE WHEN {0} IS NULL OR {1} IS NULL THEN NULL ELSE NAMED_STRUCT('by', {0}, 'value', {1}) END"
_LEAST, _GREATEST = (f"{function}({{1}}, {_PLACE})" for function in ("MIN_BY", "MAX_BY"))
# As DuckDB makes a double of 128 bits: beyond 64 of them, that is not always the nearest.
_HIGH, _LOW = f"(n - PMOD(n, {2**64})) DIV {2**64}", f"PMOD(n, {2**64})"
_DOUBLE = (
    f"CASE WHEN n BETWEEN -{2**53} AND {2**53} THEN CAST(n AS DOUBLE) "
    f"WHEN n BETWEEN -{2**64} AND -1 THEN -CAST(-1 - n AS DOUBLE) - 1e0 "
    f"ELSE CAST({_LOW} AS DOUBLE) + CAST({_HIGH} AS DOUBLE) * {2.0**64!r} END"
)
_WIDE_AS_DOUBLE = f"TRANSFORM(ARRAY(CAST({{0}} AS DECIMAL(38, 0))), n -> {_DOUBLE})[0]"

AGGREGATES: dict[str, Spelling] = {
    "median": _MEDIAN.format,
    "least boolean": "MIN({0})".format,
    "greatest boolean": "MAX({0})".format,
    "value of least": _LEAST.format,
    "value of greatest": _GREATEST.format,
    "wide as double": _WIDE_AS_DOUBLE.format,
}
AGGREGATE_READINGS: dict[str, str] = {
    _MEDIAN: "MEDIAN({0})",
    _LEAST: "ARG_MIN(CASE WHEN {0} IS NULL THEN NULL ELSE {1} END, ROW({0}, {1}))",
    _GREATEST: "ARG_MAX(CASE WHEN {0} IS NULL THEN NULL ELSE {1} END, ROW({0}, {1}))",
    _WIDE_AS_DOUBLE: "CAST({0} AS DOUBLE)",
}


MOST_CASES = 50  # categories that are compared one after the other; more are looked up in a table

_NAN = "CAST('NaN' AS DOUBLE)"
_TWO_63 = "9223372036854775808"
_LONG = IntegerType("BIGINT", 2**63 - 1)
_WIDE = IntegerType("DECIMAL(38, 0)", 10**38 - 1)
# FLOOR gives 64 bits, and a cast of a double to a decimal keeps 17 digits: the upper and the lower part are exact.
_UPPER = f"FLOOR({{0}} / {_TWO_63}e0)"
_WIDE_FLOOR = f"(CAST({_UPPER} AS DECIMAL(38, 0)) * {_TWO_63} + FLOOR({{0}} - CAST({_UPPER} AS DOUBLE) * {_TWO_63}e0))"
_FLOOR = "TRY_CAST(FLOOR({0}) AS BIGINT)"


def _fitting(number: str, kind: str) -> str:
    return _FLOOR.format(number) if kind == _LONG.name else _WIDE_FLOOR.format(f"({number})")


_TYPES = Types(
    double="DOUBLE",
    boolean="BOOLEAN",
    text="STRING",
    date="DATE",
    small="TINYINT",
    days="INTEGER",
    rank="INTEGER",
    long=_LONG,
    sum=_LONG,
    wide=_WIDE,
    decimal=_WIDE,
    stored=(
        IntegerType("TINYINT", 2**7 - 1),
        IntegerType("SMALLINT", 2**15 - 1),
        IntegerType("INTEGER", 2**31 - 1),
        _LONG,
        _WIDE,
    ),
)
SOURCES = SourceTypes(
    whole=frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT"}),
    wide=frozenset(),
    doubles=frozenset({"FLOAT", "DOUBLE"}),
    decimals=frozenset({"DECIMAL"}),
    booleans=frozenset({"BOOLEAN"}),
    moments=frozenset({"DATE", "TIMESTAMP", "TIMESTAMP_NTZ"}),
    texts=frozenset({"STRING"}),
    other_keys=frozenset(),
    empty="VOID",
)
READABLE = SOURCES.numbers | SOURCES.booleans | SOURCES.moments | SOURCES.texts


def _declare(_name: str, _values: Sequence[str]) -> list[tuple[str, tuple[object, ...]]]:
    return []


def _code(text: str, name: str, values: Sequence[str]) -> str:
    if len(values) > MOST_CASES:
        return name  # a column of the source, which is joined with its categories
    cases = (f"WHEN {text_literal(value)} THEN {place}" for place, value in enumerate(values))
    return f"CASE {text} {' '.join(cases)} END"


def text_literal(text: str) -> str:
    """A text constant, as the pinned settings read it."""
    quoted = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{quoted}'"


_INDEX = IndexWords(
    temporary="CREATE OR REPLACE TEMPORARY VIEW {0} AS {1}",
    temporary_columns="",
    read_as="TRY_CAST({0} AS {1})",
    key='" order"',  # a column: constants of statements are in the event history of a cluster
    # The upper half of the hash read as a little-endian integer, in hexadecimal digits: bytes 15, 14, ..., 8.
    digest="TRANSLATE('opmnklijghefcdab', 'abcdefghijklmnop', SUBSTRING(MD5(CONCAT({0})), 17))",
    # The last three bytes of the integer that the hash is: 2, 1, 0.
    low_bits="CAST(CONV(TRANSLATE('efcdab', 'abcdef', LEFT(MD5(CONCAT({0})), 6)), 16, 10) AS BIGINT)",
    byte_length="OCTET_LENGTH({0})",
    days_between="DATEDIFF({0}, {1})",
    position="",
    side_by_side=None,
    declare=_declare,
    code=_code,
    spelled_key="{0}",  # no source of a private table is all text
    decimal_key=(
        "CASE WHEN CONTAINS(CAST({0} AS STRING), '.') "
        "THEN TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM CAST({0} AS STRING))) ELSE CAST({0} AS STRING) END"
    ),
    double_key=(
        f"CASE WHEN {{0}} = {_NAN} THEN NULL "
        "WHEN ABS({0}) < 9e18 AND {0} = CAST(TRY_CAST({0} AS BIGINT) AS DOUBLE) "
        "THEN CAST(TRY_CAST({0} AS BIGINT) AS STRING) ELSE CAST({0} AS STRING) END"
    ),
    local_time=render_local_time,
    seconds="UNIX_SECONDS(CAST({0} AS TIMESTAMP))",
)

SPARK = Dialect(
    name="databricks",
    quotation="`",
    parameter=":p{0}",
    double="{0}",  # an exponent makes it one
    not_a_number=_NAN,
    try_cast="TRY_CAST({0} AS {1})",
    rounding="{0} / {1} + 0.5e0",
    fitting=_fitting,
    truncating="TRY_CAST({0} AS {1})".format,  # towards zero
    types=_TYPES,
    functions=FUNCTIONS,
    aggregates=AGGREGATES,
    refused=REASONS,
    raises=RAISES,
    sources=SOURCES,
    index=_INDEX,
    most_ways=MOST_WAYS,
    shifted="SHIFTRIGHT(({0}), {1})",  # after the word ARRAY, >> is read as the end of two types
    engine="spark",
    readings={**READINGS, **AGGREGATE_READINGS, _WIDE_FLOOR: "TRY_CAST(FLOOR({0}) AS DECIMAL(38, 0))"},
)
