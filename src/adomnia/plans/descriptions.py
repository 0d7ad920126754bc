"""Plans in words: one line that says all of a plan, for people, tests and the sorting of conditions."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from fractions import Fraction
from math import prod

from adomnia.plans.formulas import DATE, Formula, Grouping, Keyed, Order, Term, WindowFunction
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Call, Column, Expression, Literal, columns_of, conjuncts, quote_name
from adomnia.privacy.keys import Bucket, Key, Label, Names
from adomnia.privacy.kinds import Boolean
from adomnia.privacy.queries import Aggregate, Query
from adomnia.privacy.relations import OwnValue, PublicValue, Relation, Where
from adomnia.privacy.scans import (
    DistinctValues,
    Histogram,
    NonNull,
    Own,
    OwnChoice,
    OwnExtreme,
    OwnMedian,
    OwnSpread,
    People,
    Rows,
    Total,
)
from adomnia.privacy.transforms.distances import Distances
from adomnia.privacy.transforms.estimates import BlockEstimates, EstimateCounts
from adomnia.privacy.vectors import Vector
from adomnia.statistics.contract import Statistic
from adomnia.statistics.count import is_parted

_NAMES = {"day of": "DATE"}
_PREFIXES = {"negative": "-", "not": "NOT "}
_SIGNS = {"mod": "%", "same": "IS NOT DISTINCT FROM", "and": "AND", "or": "OR", "like": "LIKE"}
_SIGNS |= {sign: sign for sign in ("+", "-", "*", "/", "=", "<>", "<", "<=", ">", ">=", "||")}
_WRITTEN: dict[str, Callable[..., str]] = {
    "negative": "(-{0})".format,
    "at least 1": "GREATEST({0}, 1)".format,
    "round": "ROUND({0}, {1})".format,
    DATE: "{0}".format,
    "not": "(NOT {0})".format,
    "is null": "({0} IS NULL)".format,
    "inside": "({0} IN {1}..{2})".format,
}
_INFIX = ("+", "-", "*", "/", "=", "<>", "<", "<=", ">", ">=", "and", "or")
_CONSTANTS = ("TRUE", "FALSE", "NULL")  # a column may be called that, and must not read like it


def describe_set(keys: tuple[Key, ...]) -> str:
    """The keys of one grouping among several."""
    return f"({', '.join(map(_key_name, keys))})"


def describe_key(key: Key) -> str:
    """What rows are grouped by."""
    if not isinstance(key, Bucket):
        return describe(key)
    match key.among:
        case Numbers(lower=lower, upper=upper, step=step) if key.shown == "number":
            return f"{describe(key.written)} in {lower}..{upper} by {step}"
        case Numbers():
            return f"{describe(key.written)} in {key.labels[0]}..{key.labels[-1]}"
        case Names():
            return f"values of {describe(key.written)} that are found"
        case None:
            return describe(key.written)
    return f"{describe(key.written)} among {', '.join(map(_label, key.among))}"


def _label(value: Label) -> str:
    return _constant(value if isinstance(value, bool | str | date) else Fraction(value))


def describe_term(term: Term, rows: Relation | None = None) -> str:  # noqa: PLR0911 - one for each kind
    """A statistic, or what is computed from statistics and constants in brackets of its own, over groups of `rows`."""
    match term:
        case Fraction():
            return _number(term)
        case Keyed(key=key, value=value):
            return f"({describe_key(key)} {term.sign} {_label(value)})"
        case Grouping(key=key):
            return f"GROUPING({_key_name(key)})"
        case WindowFunction():
            return _over(term, rows)
        case Formula():
            return _formula(term, rows)
    if not term.operands:  # a method, whose text says all of it
        return f"{term.name}()"
    return describe_statistic(term) + _filter_in_words(term.query, rows, " FILTER (WHERE {})")


def _formula(term: Formula, rows: Relation | None) -> str:  # noqa: PLR0911 - one for each way to write one
    if term.function == DATE and isinstance(term.terms[0], Fraction):
        return _constant(date.min + timedelta(days=int(term.terms[0])))
    words = [describe_term(each, rows) for each in term.terms]
    match term.function:
        case "and" | "or" if not words:
            return _constant(term.function == "and")
        case "null":
            return _constant(None)
        case "case":
            return _case(words)
        case function if function in _INFIX:
            return f"({f' {_SIGNS[function]} '.join(words)})"
        case function if function in _WRITTEN:
            return _WRITTEN[function](*words)
    return f"{term.function.upper()}({', '.join(words)})"


def _over(term: WindowFunction, rows: Relation | None) -> str:
    by = f"BY {', '.join(map(_key_name, term.keys))}" if term.keys else ""
    order = f"ORDER BY {', '.join(_order(order, rows) for order in term.order)}" if term.order else ""
    counted = "*" if term.function == "count" else ""
    stage = f" AT {term.stage}" if term.stage else ""
    inside = " ".join(filter(None, (by, order)))
    terms = ", ".join(describe_term(each, rows) for each in term.terms)
    return f"{term.function.upper()}({terms or counted}) OVER ({inside}){stage}"


def describe_statistic(statistic: Statistic) -> str:
    """AVG(salary in 0..500000 by 1/4)."""
    return f"{statistic.name}({', '.join(map(_operand, statistic.operands))})"


def _operand(operand: Aggregate | Fraction) -> str:  # noqa: PLR0911 - one for each aggregate
    match operand:
        case Fraction():
            return _number(operand)
        case Rows():
            return "*"
        case People(person=person):
            return f"DISTINCT {'person' if person is None else describe(person)}"
        case DistinctValues(value=value):
            return f"DISTINCT {describe(value)}"
        case NonNull(value=value):
            return describe(value)
        case Histogram(value=Call(function="days between", arguments=(day, Literal(value=date.min))), domain=domain):
            return f"{describe(day)} in {'..'.join(map(str, date_range(domain)))}"
        case Total(value=value, domain=domain) | Histogram(value=value, domain=domain):
            return f"{describe(value)} in {domain.lower}..{domain.upper} by {domain.step}"
    return _several(operand)


def date_range(days: Numbers) -> tuple[date, date]:
    """The first and the last of dates that are counted from the first of the calendar."""
    return date.min + timedelta(days=days.grid_lower), date.min + timedelta(days=days.grid_upper)


def _several(aggregate: Aggregate) -> str:
    """How many numbers of what an aggregate gives."""
    match aggregate:
        case Vector():
            of = ", ".join(describe(each.value) for each in aggregate.variables)
            absent = ", and the rows without it" if aggregate.absent else ""
            return f"{len(aggregate.entries)} sums of {of or 'rows'}{absent}"
        case BlockEstimates():
            parameters = f"{len(aggregate.domains)} parameter{'s' * (len(aggregate.domains) > 1)}"
            columns = {name for value in aggregate.expressions for name in map(describe, columns_of(value))}
            of = ", ".join(sorted(columns))
            found = "blocks by their estimates" if isinstance(aggregate, EstimateCounts) else "estimates of blocks"
            return f"{found} of {parameters} from {of}"
        case Distances():
            tables = f"{len(aggregate.tables):,} tables of rows"
            return f"a choice of one of {aggregate.results:,} by distances from {tables}"
    return f"{prod(aggregate.result_shape(()))} combinations of rows"


def describe_query(query: Query, rows: Relation | None = None) -> str:
    """One exact aggregate over groups of `rows`, as a measurement is called in a quote."""
    match query.aggregate:
        case Rows():
            what = "rows"
        case People():
            what = "people" + _filter_in_words(query, rows, " with a row where {}")
        case DistinctValues(value=value):
            what = f"different values of {describe(value)}"
        case NonNull(value=value):
            what = f"values of {describe(value)}"
        case Total(value=value, centre=0):
            what = f"sum of {describe(value)}"
        case Total(value=value, domain=domain, centre=centre):
            what = f"sum of {describe(value)} - {_number(centre * domain.step)}"
        case Histogram(value=Call(function="days between", arguments=(day, Literal(value=date.min)))):
            what = f"values of {describe(day)} by rank"
        case Histogram(value=value):
            what = f"values of {describe(value)} by rank"
        case several:
            what = _several(several)
    return f"{what}, with a value and without" if is_parted(query) else what


def _filter_in_words(query: Query, rows: Relation | None, words: str) -> str:
    """The conditions of a query that the other measurements of its question do not have."""
    if rows is None or query.relation == rows or not isinstance(query.relation, Where):
        return ""
    common = list(conjuncts(rows.condition)) if isinstance(rows, Where) else []
    return words.format(" AND ".join(describe(c) for c in conjuncts(query.relation.condition) if c not in common))


def describe_value(value: OwnValue | PublicValue) -> str:
    """An aggregate of one person's rows, and what it is clamped to; or one of public rows."""
    if isinstance(value, PublicValue):
        of = "*" if value.value is None else describe(value.value)
        name, _, distinct = value.function.upper().partition(" ")
        return f"{name}({distinct}{' ' * bool(distinct)}{of})"
    domain = value.domain
    return describe_own(value.aggregate) + (f" in {domain.lower}..{domain.upper} by {domain.step}" if domain else "")


def describe_own(aggregate: Own, bounds: bool = True) -> str:  # noqa: PLR0911 - one for each aggregate
    """An aggregate of one person's rows, with the bounds of what is added up or without."""
    match aggregate:
        case Rows():
            return "COUNT(*)"
        case NonNull(value=value):
            return f"COUNT({describe(value)})"
        case DistinctValues(value=value):
            return f"COUNT(DISTINCT {describe(value)})"
        case OwnExtreme(value=value, greatest=greatest):
            name = {True: ("ALL", "ANY"), False: ("MIN", "MAX")}[isinstance(value.kind, Boolean)][greatest]
            return f"{name}({describe(value)})"
        case OwnChoice(value=value, by=by, greatest=greatest):
            return f"{'ARG_MAX' if greatest else 'ARG_MIN'}({describe(value)}, {describe(by)})"
        case OwnMedian(value=value):
            return f"MEDIAN({describe(value)})"
        case OwnSpread(root=root, sample=sample):
            name = f"{'STDDEV' if root else 'VAR'}_{'SAMP' if sample else 'POP'}"
            return f"{name}({describe(aggregate.value)}{_within(aggregate.domain, bounds)})"
    name = "SUM" if isinstance(aggregate, Total) else "AVG"
    return f"{name}({describe(aggregate.value)}{_within(aggregate.domain, bounds)})"


def _within(domain: Numbers, bounds: bool) -> str:
    return f" in {domain.lower}..{domain.upper} by {domain.step}" if bounds else ""


class Words(str):
    """What a column is called in a description in place of its name."""

    __slots__ = ()


def describe(expression: Expression) -> str:
    """An expression in brackets of its own; two that differ are described differently."""
    match expression:
        case Column(name=name, source=source):
            if isinstance(name, Words):
                return name
            quoted = f'"{name}"' if name.upper() in _CONSTANTS else quote_name(name)
            return f"{source}.{quoted}" if source else quoted
        case Literal(value=value):
            return _constant(value)
        case Call():
            return _call(expression)
    raise TypeError(f"describe expression must be an expression, got {expression!r}.")


def _call(call: Call) -> str:
    words = [describe(argument) for argument in call.arguments]
    match call.function:
        case "finite":
            return words[0]
        case "is null":
            return f"({words[0]} IS NULL)"
        case "case":
            return _case(words)
        case function if function in _SIGNS:
            return f"({f' {_SIGNS[function]} '.join(words)})"
        case function if function in _PREFIXES:
            return f"({_PREFIXES[function]}{words[0]})"
    return f"{_NAMES.get(call.function, call.function.upper())}({', '.join(words)})"


def _case(words: list[str]) -> str:
    cases = (f"WHEN {test} THEN {outcome}" for test, outcome in zip(words[:-1:2], words[1::2], strict=True))
    return f"CASE {' '.join(cases)} ELSE {words[-1]} END"


def _constant(value: Fraction | str | bool | date | datetime | None) -> str:
    match value:
        case bool() | None:
            return {True: "TRUE", False: "FALSE", None: "NULL"}[value]
        case Fraction():
            return _number(value)
        case datetime():  # which is a date as well
            return f"TIMESTAMP '{value}'"
        case date():
            return f"DATE '{value.isoformat()}'"
    return "'" + value.replace("'", "''") + "'"


def _number(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else repr(float(value))


def _key_name(key: Key) -> str:
    return quote_name(key.name) if isinstance(key, Column) else describe(key.written)


def _order(order: Order, rows: Relation | None) -> str:
    by = _key_name(order.by) if isinstance(order.by, Key) else describe_term(order.by, rows)
    return by + (" DESC" if order.descending else "") + (" NULLS FIRST" if order.nulls_first else "")
