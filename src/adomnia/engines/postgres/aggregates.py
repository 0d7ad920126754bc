"""Aggregates of one person's rows in PostgreSQL's SQL, each with what it means in DuckDB's.

Sums are exact in NUMERIC. As a double, a wide integer is what DuckDB makes of one: beyond 64 bits that is not always
the nearest. No row makes any of these fail.
"""

from adomnia.engines.dialect import Spelling
from adomnia.engines.postgres.stored_functions import PREFIX, StoredFunction

_MEDIAN = f"{PREFIX}median(ARRAY_AGG({{0}} ORDER BY {{0}}))"
_CHOSEN = "(ARRAY_AGG({{1}} ORDER BY {{0}}{0}, {{1}}{0}) FILTER (WHERE {{0}} IS NOT NULL AND {{1}} IS NOT NULL))[1]"
_LEAST, _GREATEST = _CHOSEN.format(""), _CHOSEN.format(" DESC")

AGGREGATES: dict[str, Spelling] = {
    "median": _MEDIAN.format,
    # In words of their own: of public rows, BOOL_AND and BOOL_OR stand for themselves.
    "least boolean": "EVERY({0})".format,
    "greatest boolean": "(NOT EVERY(NOT {0}))".format,
    # The value {1} where {0} is least or greatest: equal ones are told apart by the value, never by their place.
    "value of least": _LEAST.format,
    "value of greatest": _GREATEST.format,
    "wide as double": f"{PREFIX}double({{0}})".format,
}
AGGREGATE_READINGS: dict[str, str] = {
    _MEDIAN: "MEDIAN({0})",
    "EVERY({0})": "MIN({0})",
    "(NOT EVERY(NOT {0}))": "MAX({0})",
    _LEAST: "ARG_MIN(CASE WHEN {0} IS NULL THEN NULL ELSE {1} END, ROW({0}, {1}))",
    _GREATEST: "ARG_MAX(CASE WHEN {0} IS NULL THEN NULL ELSE {1} END, ROW({0}, {1}))",
    f"{PREFIX}double({{0}})": "CAST({0} AS DOUBLE)",
}

# Of numbers in their order, behind which come the missing ones. Half of each of the two in the middle, added up.
_MIDDLE = """
DECLARE n int := cardinality(array_remove(a, NULL));
BEGIN
  IF n % 2 = 1 THEN RETURN a[n / 2 + 1]; END IF;
  RETURN {schema}.ao_add_once({schema}.ao_multiply_once(a[n / 2], 0.5), {schema}.ao_multiply_once(a[n / 2 + 1], 0.5));
END"""
_WIDE = f"{2**64}::numeric"
_WIDE_AS_DOUBLE = f"""
DECLARE upper numeric := div(a, {_WIDE}); lower numeric := a - div(a, {_WIDE}) * {_WIDE};
BEGIN
  IF abs(a) <= {2**53} THEN RETURN a::float8; END IF;
  IF lower < 0 THEN upper := upper - 1; lower := lower + {_WIDE}; END IF;
  IF upper = -1 THEN RETURN -(({_WIDE} - 1 - lower)::float8) - 1; END IF;
  RETURN lower::float8 + upper::float8 * {_WIDE}::float8;
END"""
OWN_AGGREGATES = (
    StoredFunction("median", "a float8[]", "float8", _MIDDLE, block=True),
    StoredFunction("double", "a numeric", "float8", _WIDE_AS_DOUBLE, block=True),
)
"""The functions of our own that they call."""
