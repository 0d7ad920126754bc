"""The functions in PostgreSQL's SQL, mostly functions of our own, each of which is read as DuckDB's.

What raises on a row, or gives another value than DuckDB, is not written anywhere in a statement. Sums of one person's
rows are exact in NUMERIC. As a double, a wide integer is what DuckDB makes of one: beyond 64 bits that is not always
the nearest. No row makes any of these fail.
"""

import re

from adomnia.engines.dialect import Spelling
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.postgres.stored_functions import ONCE, PREFIX, StoredFunction
from adomnia.privacy.kinds import LONGEST_TEXT
from adomnia.privacy.wall_time import FIRST_SECOND, LAST_SECOND

_CHEAP = 10  # operators: the planner inlines what uses its arguments more than once if they cost no more than that
_OWN_COST = 7
_CONSTANT = re.compile(r"CAST\((-?[0-9][0-9.]*e[+-]?[0-9]+) AS DOUBLE PRECISION\)")
_SCALE = "scale"  # the product with a constant
_C = '({0} COLLATE "C")'  # of a text that is made of another kind: what is compared with it is of that collation too

# Functions of our own by the names of the registry; those that use an argument more than once have a twin.
_TWINS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "round": "round", "exp": "exp"}
_TWINS |= {"upper": "upper", "lower": "lower", "day of": "day_of"}
_TWINS |= {name: name.replace(" ", "_") for name in ("hour", "minute", "second", "start of hour", "start of minute")}
_OWN = {"mod": "modulo", "power": "power", "finite": "finite", "ln": "ln", "log10": "log10", "sqrt": "sqrt"}
_OWN |= {name: name for name in ("like", "ends_with", "contains", "matches", "substring", "right")}
_OWN |= {name: name for name in ("year", "quarter", "month", "week", "day", "doy", "dow", "isodow")}
_OWN |= {f"start of {unit}": f"start_of_{unit}" for unit in ("year", "quarter", "month", "week")}
_OWN |= {"days between": "days_between", "shift": "shift", "shift months": "shift_months", "midnight": "midnight"}
_OWN |= {"boolean as number": "number", "text as number": "read_number", "text as date": "read_date"}
_OWN |= {"text as boolean": "read_boolean"}
# Texts that are made of other kinds: elsewhere their order would be that of the database.
_WRITTEN = {"number as text": "write_number", "boolean as text": "write_boolean", "date as text": "write_date"}
_WRITTEN |= {"format": "format"}
_PLACES = {**dict.fromkeys(("+", "-", "*", "/", "mod", "power", "like", "ends_with", "contains", "matches"), 2)}
_PLACES |= {**dict.fromkeys(("right", "days between", "shift", "shift months", "format"), 2), "substring": 3}

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


def _call(own: str, places: int) -> str:
    return f"{PREFIX}{own}({', '.join(f'{{{place}}}' for place in range(places))})"


def _phrases(names: dict[str, str], around: str = "{0}", end: str = "") -> dict[str, str]:
    """How functions are called, by the names of the registry."""
    return {name: around.format(_call(own + end, _PLACES.get(name, 1))) for name, own in names.items()}


def _inlined(name: str, own: str = "") -> Spelling:
    """The function itself where its arguments are cheap enough to be inlined, else the one that computes them once."""
    names = {name: own or _TWINS[name]}
    plain, once = _phrases(names)[name].format, _phrases(names, end=ONCE)[name].format

    def spelling(*arguments: str) -> str:
        return (plain if max(map(_cost, arguments)) <= _CHEAP else once)(*arguments)

    return spelling


def _multiply(one: str, other: str) -> str:
    """By a constant that makes no number smaller, what is looked at is not both numbers but one, and more cheaply."""
    for number, constant in ((one, other), (other, one)):
        if (written := _CONSTANT.fullmatch(constant)) and abs(float(written[1])) >= 1:
            return _inlined("*", _SCALE)(number, constant)
    return _inlined("*")(one, other)


def _cost(sql: str) -> int:
    """How many operators an expression has, at most; a function of ours has several."""
    return sum(sql.count(sign) for sign in ("(", " BETWEEN ", " AND ", " IN ")) + _OWN_COST * sql.count(PREFIX)


def _cut(sql: str) -> Spelling:
    return f"{PREFIX}cut({sql})".format


_NATIVE: tuple[str, ...] = ("negative", "abs", "floor", "ceil", "trunc", "greatest", "least", "clamp", "inside")
_NATIVE += ("=", "<>", "<", "<=", ">", ">=", "same", "and", "or", "not", "is null", "coalesce", "nullif", "case")
_NATIVE += ("starts_with", "trim", "ltrim", "rtrim")

FUNCTIONS: dict[str, Spelling] = {
    **{name: DUCKDB.functions[name] for name in _NATIVE},
    **{name: _inlined(name) for name in _TWINS},
    **{name: phrase.format for name, phrase in {**_phrases(_OWN), **_phrases(_WRITTEN, _C)}.items()},
    "sign": "CAST(SIGN({0}) AS DOUBLE PRECISION)".format,
    "length": "CAST(LENGTH({0}) AS DOUBLE PRECISION)".format,
    "position": "CAST(STRPOS({0}, {1}) AS DOUBLE PRECISION)".format,
    "replace": _cut("REPLACE({0}, {1}, {2})"),
    "||": _cut("({0} || {1})"),
    "*": _multiply,
    "seconds between": _inlined("-"),
    "shift seconds": lambda moment, seconds: f"{PREFIX}in_years({_inlined('+')(moment, seconds)})",
}
"""What every function of the registry is in PostgreSQL, total on every row and equal to DuckDB's."""

READINGS: dict[str, str] = {
    phrase: DUCKDB.functions[name](*(f"{{{place}}}" for place in range(_PLACES.get(name, 1))))
    for phrases in (
        *(_phrases(names, end=end) for names in (_TWINS, {"*": _SCALE}) for end in ("", ONCE)),
        _phrases(_OWN),
        _phrases(_WRITTEN, _C),
    )
    for name, phrase in phrases.items()
} | {
    f"{PREFIX}cut({{0}})": f"SUBSTRING({{0}}, CAST(1e0 AS BIGINT), CAST({LONGEST_TEXT}e0 AS BIGINT))",
    f"{PREFIX}in_years({{0}})": f"CASE WHEN {{0}} BETWEEN {FIRST_SECOND}e0 AND {LAST_SECOND}e0 THEN {{0}} END",
    f"{PREFIX}long({{0}})": "TRY_CAST({0} AS BIGINT)",
}
"""What the calls of our own functions mean, as DuckDB writes it."""

REASONS: dict[str, str] = {
    "log2": "PostgreSQL has no logarithm to base 2, and a quotient of two others differs from it in its last bits",
}
"""Why the others are not offered."""

BY_LIBRARY = frozenset({"ln", "log10", "exp", "power"})
"""What the C library of the server computes: its last bits are looked at when the engine is opened."""

REMARKS: dict[str, str] = dict.fromkeys(
    sorted(BY_LIBRARY), "where the server's C library gives the same last bits, which is looked at when it is opened"
)
"""When a function is offered, if not always."""

RAISES = frozenset({"Add", "Sub", "Mul", "Div", "IntDiv", "Mod", "Pow", "Exp", "Ln", "Log", "Sqrt", "Round"})
RAISES |= {"Like", "RegexpLike", "RegexpExtract", "TimeToStr", "TimestampTrunc"}
"""Nodes that a row can make fail, or that mean something else in PostgreSQL, unless they are read from a phrase."""


"""The functions of our own that they call."""
