"""Refusals of SQL: each has a stable code, the position in the text, the reason and a fix."""

import re
from difflib import get_close_matches

from sqlglot import ErrorLevel, exp

from adomnia.errors import Refusal
from adomnia.messages.fixes import guess
from adomnia.messages.references import Option
from adomnia.messages.texts import Message
from adomnia.privacy.expressions import quote_name

Position = tuple[int, int]

_ALIAS = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")  # what an output may be called
WRITTEN = "written"  # under which a function's node keeps the name that the analyst gave it

_AGGREGATES = "COUNT, SUM, AVG, VAR, STDDEV, COVAR, CORR, QUANTILE, MIN or MAX"
_SCALARS = "arithmetic, comparisons, CASE, CAST, LIKE or a function such as ROUND, LENGTH or YEAR"
_LONGEST_NAME = 63
_LISTED = 12

OTHER_ROWS = "looks at other rows than its own"
ROW_OF_EACH = "for one row of each person: SELECT id, FIRST(x ORDER BY y) AS x FROM t GROUP BY id, by the person's id"
_SUBQUERY = ("stands where no subquery is answered", "put it into FROM, or into WHERE about the person")
_CLOCK = ("gives another value each time", "write the date as a constant")
_CHANCE = ("gives another value each time", "leave it out")
_DATES = ("is not a constant number of days or weeks beside a date", "write born + INTERVAL 7 DAY, or the date itself")

# What a node of the parser's tree is refused with, by its class; the first that fits.
_NODES: tuple[tuple[type[exp.Expr], str, str, str], ...] = (
    (
        exp.Placeholder,
        "syntax_not_allowed",
        "is a parameter without a value",
        Message("pass it: ", Option("parameters", "{...}"), " beside the text"),
    ),
    (exp.Window, "window_function", OTHER_ROWS, f"ask another question; {ROW_OF_EACH}"),
    (exp.Exists, "private_subquery", *_SUBQUERY),
    (exp.Query, "private_subquery", *_SUBQUERY),
    (exp.Rand, "nondeterministic_function", *_CHANCE),
    (exp.Uuid, "nondeterministic_function", *_CHANCE),
    (exp.CurrentDate, "nondeterministic_function", *_CLOCK),
    (exp.CurrentTime, "nondeterministic_function", *_CLOCK),
    (exp.CurrentDatetime, "nondeterministic_function", *_CLOCK),
    (exp.CurrentTimestamp, "nondeterministic_function", *_CLOCK),
    (exp.RegexpExtract, "function_not_allowed", "may take a time that depends on the data", "use LIKE with % and _"),
    (exp.AggFunc, "aggregate_not_allowed", "is not an aggregate that can be answered", f"use {_AGGREGATES}"),
    (exp.Filter, "aggregate_not_allowed", "is not answered", "put the condition into WHERE"),
    (exp.Func, "function_not_allowed", "is not a function that can be answered", f"use {_SCALARS}"),
    (exp.Interval, "function_not_allowed", *_DATES),
    (
        exp.AtTimeZone,
        "function_not_allowed",
        "converts between time zones, which is done once, when the data is read",
        "leave it out: timestamps are local times of the zone that the catalog declares",
    ),
    (exp.Binary, "function_not_allowed", "has an operator that cannot be answered", f"use {_SCALARS}"),
)
# Functions that the parser has no class for.
_VOLATILE = ("NOW", "RANDOM", "UUID", "GEN_RANDOM_UUID", "SETSEED", "TODAY", "NEXTVAL", "CURRVAL")
_UNKNOWN_AGGREGATES = ("PRODUCT", "ENTROPY", "MAD", "HISTOGRAM", "FAVG", "FSUM", "KAHAN_SUM", "BITSTRING_AGG")
_LINE = "fit the line, with standard errors: SELECT * FROM lm((SELECT y, x FROM ...), formula => 'y ~ x')"
_OUR_WORDS = {
    "LEN": "write LENGTH(a), which counts spaces at the end too",
    "CHARINDEX": "write STRPOS(a, 'b'), with the text first; upper and lower case differ",
    "LOCATE": "write STRPOS(a, 'b'), with the text first",
    "AGE": "write EXTRACT(YEAR FROM AGE(b, a)) for whole years, or DATE_DIFF('day', a, b) for days",
    "ADD_MONTHS": "write a + INTERVAL 3 MONTH; the last of a month then stays the same day where it can",
    "MONTHS_BETWEEN": "write DATE_DIFF('month', a, b), which counts how often a month began",
    "DATENAME": "write MONTHNAME(a) or DAYNAME(a)",
    "CONVERT": "write CAST(a AS DATE)",
    "TO_DATE": "write CAST(a AS DATE), of a text like 2024-01-31",
    "STR_TO_DATE": "write CAST(a AS DATE), of a text like 2024-01-31",
    "REGEXP_SUBSTR": "write REGEXP_MATCHES(a, 'pattern'), which says whether it is there",
    "SPLIT_PART": "write LEFT(a, 3), SUBSTRING(a, 2, 3) or STRPOS(a, '-')",
}
_OUR_AGGREGATES = {
    "MODE": "count each value, the most frequent first: SELECT a, COUNT(*) AS n FROM ... GROUP BY a ORDER BY n DESC",
    "APPROX_COUNT_DISTINCT": "write COUNT(DISTINCT a)",
    "APPROX_DISTINCT": "write COUNT(DISTINCT a)",
    "REGR_SLOPE": _LINE,
    "REGR_INTERCEPT": _LINE,
    "REGR_R2": "write POWER(CORR(y, x), 2), or " + _LINE,
    "REGR_COUNT": "count rows that have both: COUNT(*) FILTER (WHERE y IS NOT NULL AND x IS NOT NULL)",
}
_UNNAMED: dict[str, tuple[str, str, str]] = {
    **dict.fromkeys(_VOLATILE, ("nondeterministic_function", *_CHANCE)),
    **dict.fromkeys(_UNKNOWN_AGGREGATES, ("aggregate_not_allowed", "cannot be answered", f"use {_AGGREGATES}")),
    **{name: ("function_not_allowed", "is a word of another database", fix) for name, fix in _OUR_WORDS.items()},
    **{name: ("aggregate_not_allowed", "is not an aggregate here", fix) for name, fix in _OUR_AGGREGATES.items()},
    "BLOCK": (
        "blocks",
        "is answered only in the GROUP BY of a SELECT inside, which makes one row of each block of people",
        "write SELECT AVG(z) FROM (SELECT AVG(x) AS z FROM t GROUP BY BLOCK(200))",
    ),
}


def position_of(node: exp.Expr) -> Position | None:
    """The line and column where a node begins, or where its parent does if the parser kept no position for it."""
    places = [
        (part.meta["line"], part.meta["col"] - (part.meta["end"] - part.meta["start"]))
        for part in node.walk()
        if "line" in part.meta
    ]
    return min(places) if places else position_of(node.parent) if node.parent is not None else None


def refusal(code: str, node: exp.Expr, why: str, fix: str, what: str | None = None) -> Refusal:
    """A refusal at a node of the tree; `what` is the text of the node unless it is given."""
    return Refusal(what or render_node(node), why, fix, position_of(node) or (1, 1), code=code)


def refusal_of_node(node: exp.Expr) -> Refusal:
    """The refusal of a node that cannot be answered, by the type of the node."""
    if isinstance(node, exp.IgnoreNulls | exp.RespectNulls):
        return refusal_of_node(node.this)
    name = _name_of(node) if isinstance(node, exp.Func) else ""
    if isinstance(node, exp.Anonymous):
        name = str(node.this).upper()
    if name in _UNNAMED:
        code, why, fix = _UNNAMED[name]
        return refusal(code, node, why, fix, name)
    if isinstance(node, exp.Query) and isinstance(node.parent, exp.Binary) and not node.find(exp.AggFunc):
        why = "may have more than one row, and whether it has depends on the data"
        return refusal("private_scalar_subquery", node, why, _SUBQUERY[1], "A subquery as a value")
    for kind, code, why, fix in _NODES:
        if isinstance(node, kind):
            return refusal(code, node, why, fix, _name_of(node))
    return refusal("syntax_not_allowed", node, "has no meaning here", f"use {_SCALARS}", _name_of(node))


def check_name(name: str, node: exp.Expr) -> None:
    """Refuse a name that an output cannot have."""
    if not _ALIAS.fullmatch(name):
        fix = "use a letter or _, then at most 62 letters, digits or _"
        raise refusal("bad_alias", node, "cannot name an output", fix, shorten(name))


def refusal_of_name(code: str, node: exp.Expr, name: str, things: str, known: list[str]) -> Refusal:
    """The refusal of a name that is not declared; it repeats only the analyst's own word and public names."""
    spelt = {word.lower(): word for word in known}
    close = get_close_matches(name.lower(), spelt, n=1)
    meant = [quote_name(spelt[each]) for each in close]
    some = ", ".join(map(quote_name, known[:_LISTED])) + (", ..." if len(known) > _LISTED else "")
    return refusal(
        code, node, f"is not among the {things}", guess(meant, f"they are {some}", f"There are {some}"), shorten(name)
    )


def shorten(text: str) -> str:
    """Shorten a word of the analyst, so that it can be repeated."""
    return text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}..."


def render_node(node: exp.Expr) -> str:
    """Render a node as SQL, shortened so that it can be repeated."""
    return shorten(node.sql(dialect="duckdb", comments=False, unsupported_level=ErrorLevel.IGNORE))


def _name_of(node: exp.Expr) -> str:
    match node:
        case exp.Window() | exp.Filter():
            return f"{_name_of(node.this)} {'OVER' if isinstance(node, exp.Window) else 'FILTER'}"
        case exp.Query():
            return "A subquery"
        case exp.Placeholder():
            return f":{shorten(node.name)}"
        case exp.Func():
            return str(node.meta.get(WRITTEN, node.sql_name())).upper()
    return render_node(node)
