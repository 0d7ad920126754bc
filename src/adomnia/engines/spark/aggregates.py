"""Aggregates of one person's rows in Spark's SQL, each with what it means in DuckDB's. No row makes one fail."""

from adomnia.engines.dialect import Spelling

# Spark's own median takes two equal numbers for one, where DuckDB adds up their halves: the smallest doubles have none.
_HALVES = "GET(s, SIZE(s) DIV 2 - 1) * 0.5e0 + GET(s, SIZE(s) DIV 2) * 0.5e0"
_MIDDLE = f"CASE WHEN SIZE(s) % 2 = 1 THEN GET(s, SIZE(s) DIV 2) ELSE {_HALVES} END"
_MEDIAN = f"TRANSFORM(ARRAY(SORT_ARRAY(COLLECT_LIST({{0}}))), s -> {_MIDDLE})[0]"
# Rows without a value or an order have no place; equal orders are told apart by the value, never by their place.
_PLACE = "CASE WHEN {0} IS NULL OR {1} IS NULL THEN NULL ELSE NAMED_STRUCT('by', {0}, 'value', {1}) END"
_LEAST, _GREATEST = (f"{function}({{1}}, {_PLACE})" for function in ("MIN_BY", "MAX_BY"))
# As DuckDB makes a double of 128 bits: beyond 64 of them, that is not always the nearest.
_UPPER, _LOWER = f"(n - PMOD(n, {2**64})) DIV {2**64}", f"PMOD(n, {2**64})"
_DOUBLE = (
    f"CASE WHEN n BETWEEN -{2**53} AND {2**53} THEN CAST(n AS DOUBLE) "
    f"WHEN n BETWEEN -{2**64} AND -1 THEN -CAST(-1 - n AS DOUBLE) - 1e0 "
    f"ELSE CAST({_LOWER} AS DOUBLE) + CAST({_UPPER} AS DOUBLE) * {2.0**64!r} END"
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
