"""How a question writes each scalar function: templates over parts of a kind, for kit.grammar to fill in.

Kinds are letters: n a number, w a whole number, t a text, b a condition, d a day, m a timestamp. A
capital N is a number with bounds.
"""

from __future__ import annotations

from typing import NamedTuple


class Spelling(NamedTuple):
    """A template, the kinds of what stands in it, and the kind of its value."""

    template: str
    takes: str
    gives: str


def _all(gives: str, takes: str, *templates: str) -> list[Spelling]:
    return [Spelling(template, takes, gives) for template in templates]


SPELLINGS: dict[str, list[Spelling]] = {
    "+": [*_all("n", "nn", "({0} + {1})"), *_all("N", "NN", "({0} + {1})"), *_all("w", "ww", "({0} + {1})")],
    "-": [*_all("n", "nn", "({0} - {1})"), *_all("N", "NN", "({0} - {1})"), *_all("w", "ww", "({0} - {1})")],
    "*": [*_all("n", "nn", "({0} * {1})"), *_all("N", "N", "({0} * 0.5)", "({0} * -3)", "({0} * 1000)")],
    "/": [*_all("n", "nn", "({0} / {1})"), *_all("N", "N", "({0} / 3)", "({0} / -0.7)")],
    "mod": [*_all("n", "nn", "({0} % {1})", "MOD({0}, {1})"), *_all("N", "Nn", "({0} % {1})")],
    "negative": [*_all("n", "n", "(- {0})"), *_all("N", "N", "(- {0})"), *_all("w", "w", "(- {0})")],
    "finite": _all("n", "n", "({0} * 1e300)"),
    "abs": [*_all("n", "n", "ABS({0})"), *_all("N", "N", "ABS({0})")],
    "sign": [*_all("w", "n", "SIGN({0})"), *_all("N", "n", "SIGN({0})")],
    "round": [
        *_all("w", "n", "ROUND({0})"),
        *_all("n", "n", "ROUND({0}, 1)", "ROUND({0}, -2)"),
        *_all("N", "N", "ROUND({0})", "CAST({0} AS INTEGER)", "CAST({0} AS DECIMAL(12, 2))"),
    ],
    "floor": [*_all("w", "n", "FLOOR({0})"), *_all("N", "N", "FLOOR({0})")],
    "ceil": [*_all("w", "n", "CEIL({0})", "CEILING({0})"), *_all("N", "N", "CEIL({0})")],
    "trunc": [*_all("w", "n", "TRUNC({0})"), *_all("N", "N", "TRUNC({0})")],
    "ln": _all("n", "n", "LN({0})"),
    "log10": _all("n", "n", "LOG10({0})", "LOG({0})"),
    "log2": _all("n", "n", "LOG2({0})"),
    "exp": _all("n", "n", "EXP({0})", "EXP({0} / 1000)"),
    "sqrt": [*_all("n", "n", "SQRT({0})"), *_all("N", "N", "SQRT({0})")],
    "power": [*_all("n", "nn", "POWER({0}, {1})", "POW({0}, {1})"), *_all("N", "N", "POWER({0}, 2)")],
    "greatest": [
        *_all("n", "nn", "GREATEST({0}, {1})"),
        *_all("n", "nnn", "GREATEST({0}, {1}, {2})"),
        *_all("N", "NN", "GREATEST({0}, {1})"),
        *_all("d", "dd", "GREATEST({0}, {1})"),
        *_all("m", "mm", "GREATEST({0}, {1})"),
    ],
    "least": [
        *_all("n", "nn", "LEAST({0}, {1})"),
        *_all("N", "NN", "LEAST({0}, {1})"),
        *_all("d", "dd", "LEAST({0}, {1})"),
    ],
    "clamp": _all("N", "n", "CLAMP({0}, -5, 5)", "CLAMP({0}, 0, 1e5)", "CLAMP({0}, 0.25, 7.3)", "CLAMP({0}, 0, 0)"),
    "inside": [
        *_all("w", "n", "CAST({0} AS TINYINT)", "CAST({0} AS UINTEGER)", "{0}::BIGINT"),
        *_all("n", "n", "TRY_CAST({0} AS DECIMAL(5, 2))"),
    ],
    "=": _all("b", "nn", "({0} = {1})")
    + _all("b", "tt", "({0} = {1})")
    + _all("b", "dd", "({0} = {1})")
    + _all("b", "md", "({0} = {1})"),
    "<>": _all("b", "nn", "({0} <> {1})") + _all("b", "tt", "({0} != {1})") + _all("b", "bb", "({0} <> {1})"),
    "<": _all("b", "nn", "({0} < {1})")
    + _all("b", "dd", "({0} < {1})")
    + _all("b", "mm", "({0} < {1})")
    + _all("b", "tt", "({0} < {1})"),
    "<=": _all("b", "nn", "({0} <= {1})") + _all("b", "mm", "({0} <= {1})") + _all("b", "dd", "({0} <= {1})"),
    ">": _all("b", "nn", "({0} > {1})", "({0} NOT BETWEEN {1} AND 50)")
    + _all("b", "n", "({0} > 18)")
    + _all("b", "dd", "({0} > {1})"),
    ">=": _all("b", "nn", "({0} >= {1})", "({0} BETWEEN {1} AND 100)")
    + _all("b", "tt", "({0} >= {1})", "({0} BETWEEN {1} AND 'P')")
    + _all("b", "n", "({0} >= 0.5)")
    + _all("b", "dd", "({0} >= {1})")
    + _all("b", "m", "({0} BETWEEN '2019-12-31 06:00' AND '2020-03-01')"),
    "same": [
        *_all("b", "nn", "({0} IS NOT DISTINCT FROM {1})", "({0} IS DISTINCT FROM {1})"),
        *_all("b", "tt", "({0} IS NOT DISTINCT FROM {1})"),
        *_all("b", "dd", "({0} IS DISTINCT FROM {1})"),
    ],
    "and": _all("b", "bb", "({0} AND {1})"),
    "or": _all("b", "bb", "({0} OR {1})"),
    "not": _all("b", "b", "(NOT {0})"),
    "is null": [
        *_all("b", "n", "({0} IS NULL)", "({0} IS NOT NULL)"),
        *_all("b", "t", "({0} IS NULL)"),
        *_all("b", "d", "({0} IS NOT NULL)"),
        *_all("b", "b", "({0} IS NULL)"),
    ],
    "coalesce": [
        *_all("b", "b", "({0} IS TRUE)", "({0} IS NOT FALSE)"),
        *_all("n", "nn", "COALESCE({0}, {1})", "IFNULL({0}, {1})"),
        *_all("N", "NN", "COALESCE({0}, {1})", "COALESCE({0}, {1}, 3)"),
        *_all("t", "tt", "COALESCE({0}, {1})"),
        *_all("d", "d", "COALESCE({0}, '2020-01-01')"),
        *_all("m", "m", "COALESCE({0}, '2020-01-01 23:59:59')"),
        *_all("b", "bb", "COALESCE({0}, {1})"),
    ],
    "nullif": [
        *_all("n", "nn", "NULLIF({0}, {1})"),
        *_all("N", "Nn", "NULLIF({0}, {1})"),
        *_all("t", "tt", "NULLIF({0}, {1})"),
        *_all("d", "dd", "NULLIF({0}, {1})"),
    ],
    "case": [
        *_all("n", "bnn", "CASE WHEN {0} THEN {1} ELSE {2} END", "IF({0}, {1}, {2})"),
        *_all("N", "bNN", "CASE WHEN {0} THEN {1} ELSE {2} END", "IIF({0}, {1}, {2})"),
        *_all("N", "bNb", "CASE WHEN {0} THEN {1} WHEN {2} THEN 7 END"),
        *_all("N", "ttN", "CASE {0} WHEN {1} THEN {2} WHEN 'F' THEN 1 ELSE 0 END"),
        *_all("t", "bt", "CASE WHEN {0} THEN {1} ELSE 'else' END"),
        *_all("b", "bbb", "CASE WHEN {0} THEN {1} ELSE {2} END"),
        *_all("d", "bd", "CASE WHEN {0} THEN {1} END"),
        *_all("m", "bmm", "CASE WHEN {0} THEN {1} ELSE {2} END"),
    ],
    "like": _all("b", "t", "({0} LIKE 'A%')", "({0} NOT LIKE '_o%')", "({0} ILIKE '%E%')", "({0} LIKE '')"),
    "matches": [
        *_all("b", "t", "({0} ~ '^[A-Z].*e')", "({0} !~ 'n{{2}}|O(s|x)')", "REGEXP_MATCHES({0}, '\\d+$')"),
        *_all("b", "t", "REGEXP_FULL_MATCH({0}, '[^ ]+')", "({0} LIKE '%!%%' ESCAPE '!')", "({0} SIMILAR TO '[A-Z]1')"),
    ],
    "starts_with": _all("b", "tt", "STARTS_WITH({0}, {1})"),
    "ends_with": _all("b", "tt", "ENDS_WITH({0}, {1})"),
    "contains": _all("b", "tt", "CONTAINS({0}, {1})"),
    "upper": _all("t", "t", "UPPER({0})"),
    "lower": _all("t", "t", "LOWER({0})"),
    "trim": _all("t", "t", "TRIM({0})"),
    "ltrim": _all("t", "t", "LTRIM({0})"),
    "rtrim": _all("t", "t", "RTRIM({0})"),
    "length": _all("w", "t", "LENGTH({0})"),
    "position": [*_all("w", "tt", "STRPOS({0}, {1})", "INSTR({0}, {1})"), *_all("N", "t", "POSITION('n' IN ({0}))")],
    "replace": _all(
        "t", "t", "REPLACE({0}, 'n', 'nn')", "REPLACE({0}, 'Os', '')", "LPAD({0}, 5, '0')", "RPAD({0}, 2, ' ')"
    ),
    "substring": _all(
        "t", "t", "SUBSTRING({0}, 2, 3)", "SUBSTRING({0} FROM 2 FOR 1)", "SUBSTR({0}, 2)", "LEFT({0}, 2)"
    ),
    "right": _all("t", "t", "RIGHT({0}, 2)", "RIGHT({0}, 0)"),
    "||": _all("t", "tt", "({0} || {1})", "CONCAT({0}, {1}, '-')"),
    "year": _all("w", "d", "YEAR({0})", "EXTRACT(year FROM {0})"),
    "quarter": _all("w", "d", "QUARTER({0})"),
    "month": [*_all("w", "d", "MONTH({0})", "DATE_PART('month', {0})"), *_all("N", "d", "MONTH({0})")],
    "week": _all("w", "d", "WEEK({0})"),
    "day": [*_all("w", "d", "DAY({0})", "DAYOFMONTH({0})"), *_all("N", "d", "DAY({0})")],
    "doy": _all("w", "d", "DAYOFYEAR({0})"),
    "dow": _all("w", "d", "DAYOFWEEK({0})", "EXTRACT(dow FROM {0})"),
    "isodow": _all("w", "d", "ISODOW({0})"),
    **{f"start of {unit}": _all("d", "d", f"DATE_TRUNC('{unit}', {{0}})") for unit in ("year", "quarter", "month")},
    "start of week": _all("d", "d", "DATE_TRUNC('week', {0})"),
    "days between": _all(
        "w",
        "dd",
        "({0} - {1})",
        "DATE_DIFF('day', {0}, {1})",
        "DATE_DIFF('month', {0}, {1})",
        "DATE_DIFF('week', {0}, {1})",
        "DATE_DIFF('quarter', {0}, {1})",
    ),
    "shift": _all("d", "d", "({0} + 31)", "({0} - 400)", "({0} + INTERVAL 2 DAY)", "DATE_TRUNC('day', {0})"),
    "shift months": _all(
        "d",
        "d",
        "({0} + INTERVAL '1 month')",
        "({0} - INTERVAL 2 YEAR)",
        "DATE_ADD({0}, INTERVAL 1 QUARTER)",
        "LAST_DAY({0})",
    ),
    "format": _all("t", "d", "STRFTIME({0}, '%Y-%m')", "STRFTIME({0}, '%A %d %B')", "DAYNAME({0})", "MONTHNAME({0})"),
    "hour": [*_all("w", "m", "HOUR({0})", "EXTRACT(hour FROM {0})"), *_all("N", "m", "HOUR({0})")],
    "minute": _all("w", "m", "MINUTE({0})"),
    "second": _all("w", "m", "SECOND({0})", "DATE_PART('second', {0})"),
    "start of hour": _all("m", "m", "DATE_TRUNC('hour', {0})"),
    "start of minute": _all("m", "m", "DATE_TRUNC('minute', {0})"),
    "day of": [*_all("d", "m", "CAST({0} AS DATE)"), *_all("w", "m", "MONTH({0})", "ISODOW({0})")],
    "midnight": _all("m", "d", "CAST({0} AS TIMESTAMP)"),
    "seconds between": _all("w", "mm", "DATE_DIFF('second', {0}, {1})", "DATE_DIFF('hour', {0}, {1})"),
    "shift seconds": _all("m", "m", "({0} + INTERVAL 5 HOUR)", "({0} - INTERVAL '90 minutes')"),
    "boolean as number": [*_all("w", "b", "CAST({0} AS INTEGER)"), *_all("N", "b", "CAST({0} AS INTEGER)")],
    "text as number": _all("n", "t", "CAST({0} AS DOUBLE)"),
    "text as date": _all("d", "t", "CAST({0} AS DATE)"),
    "text as boolean": _all("b", "t", "CAST({0} AS BOOLEAN)"),
    "number as text": _all("t", "w", "CAST({0} AS VARCHAR)"),
    "boolean as text": _all("t", "b", "CAST({0} AS VARCHAR)"),
    "date as text": _all("t", "d", "CAST({0} AS VARCHAR)"),
}

# Functions of which every database with SQL gives the same, without errors, for values that are small and known.
PLAIN = frozenset(
    {
        *(
            "+",
            "-",
            "*",
            "negative",
            "abs",
            "sign",
            "floor",
            "ceil",
            "trunc",
            "greatest",
            "least",
            "=",
            "<>",
            "<",
            "<=",
            ">",
            ">=",
        ),
        *("same", "and", "or", "not", "is null", "coalesce", "nullif", "case", "like", "starts_with", "ends_with"),
        *(
            "matches",
            "position",
            "replace",
            "format",
            "contains",
            "upper",
            "lower",
            "trim",
            "ltrim",
            "rtrim",
            "length",
            "substring",
            "right",
            "||",
            "year",
        ),
        *("quarter", "month", "week", "day", "doy", "dow", "isodow", "days between", "boolean as number"),
        *("hour", "minute", "second", "start of hour", "start of minute", "day of", "midnight", "seconds between"),
        *(
            "shift seconds",
            "start of year",
            "start of quarter",
            "start of month",
            "start of week",
            "boolean as text",
            "date as text",
        ),
    }
)

# Constants of each kind, and lists of them.
CONSTANTS: dict[str, tuple[str, ...]] = {
    "n": ("0", "1", "-1", "0.5", "50000", "3.7", "120", "1e-300", "1e300"),
    "w": ("0", "1", "-3", "18", "2020"),
    "N": ("0", "1", "-2", "0.5", "3.7", "18"),
    "t": ("''", "'F'", "'H1'", "'Oslo'", "'Ann Lee'", "'nobody'", "'O''Neil'", "'%'", "'12.5'", "'2020-02-30'"),
    "b": ("TRUE", "FALSE"),
    "m": ("TIMESTAMP '2020-01-01 00:00:00'", "TIMESTAMP '2019-12-31 23:59:59'", "TIMESTAMP '2000-02-29T06:30:01'"),
    "d": ("DATE '2020-01-01'", "DATE '2019-12-31'", "DATE '2000-02-29'"),
}
