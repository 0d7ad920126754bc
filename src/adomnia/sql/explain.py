"""Plans in words: one line that says all of a plan, for people, tests and the sorting of conditions."""

from datetime import date
from fractions import Fraction

from adomnia.privacy.expressions import Call, Column, Expression, Literal
from adomnia.privacy.queries import People, Present, Query, Rows, Total
from adomnia.privacy.relations import Relation, Where
from adomnia.sql.plan import Order, Output, Plan
from adomnia.statistics.contract import Statistic
from adomnia.statistics.registry import STATISTICS

_PREFIXES = {"negative": "-", "not": "NOT "}
_CONSTANTS = ("TRUE", "FALSE", "NULL")  # a column may be called that, and must not read like it


def line(plan: Plan) -> str:
    """The whole plan.

    Keys stand in brackets; a clamped expression is followed by its bounds and step.
    """
    keys = f" BY {', '.join(key.name for key in plan.keys)}" if plan.keys else ""
    outputs = ", ".join(map(_output, plan.outputs))
    order = f" ORDER BY {', '.join(map(_order, plan.order))}" if plan.order else ""
    limit = f" LIMIT {plan.limit}" if plan.limit is not None else ""
    return f"{describe_relation(plan.relation)}{keys}: {outputs}{order}{limit}"


def describe_statistic(statistic: Statistic) -> str:
    """AVG(salary in 0..500000 by 1/4)."""
    (name,) = (name for name, kind in STATISTICS.items() if isinstance(statistic, kind))
    query: Query = statistic.query  # type: ignore[attr-defined]  # every registered statistic is made of one
    match query.aggregate:
        case Rows():
            return f"{name}(*)"
        case People():
            return f"{name}(DISTINCT person)"
        case Present(value=value):
            return f"{name}({describe(value)})"
        case Total(value=value, domain=domain):
            return f"{name}({describe(value)} in {domain.lower}..{domain.upper} by {domain.step})"


def describe_query(query: Query) -> str:
    """One exact aggregate, as a measurement is called in a quote."""
    match query.aggregate:
        case Rows():
            what = "rows"
        case People():
            what = "people"
        case Present(value=value):
            what = f"values of {describe(value)}"
        case Total(value=value, centre=0):
            what = f"sum of {describe(value)}"
        case Total(value=value, domain=domain, centre=centre):
            what = f"sum of {describe(value)} - {_number(centre * domain.step)}"
    return what


def describe_relation(relation: Relation) -> str:
    """The table, how many rows of a person count, and the condition."""
    if isinstance(relation, Where):
        return f"{describe_relation(relation.source)} WHERE {describe(relation.condition)}"
    return f"{relation.name}[{relation.rows_per_person}]"


def describe(expression: Expression) -> str:
    """An expression in brackets of its own; two that differ are described differently."""
    match expression:
        case Column(name=name):
            return f'"{name}"' if name.upper() in _CONSTANTS else name
        case Literal(value=value):
            return _constant(value)
        case Call(function="finite", arguments=(inner,)):
            return describe(inner)
        case Call(function="is null", arguments=(inner,)):
            return f"({describe(inner)} IS NULL)"
        case Call(function=function, arguments=(inner,)):
            return f"({_PREFIXES[function]}{describe(inner)})"
        case Call(function=function, arguments=(left, right)):
            return f"({describe(left)} {function.upper()} {describe(right)})"
    raise TypeError(f"describe expression must be an expression, got {expression!r}.")


def _constant(value: Fraction | str | bool | date | None) -> str:
    match value:
        case bool() | None:
            return {True: "TRUE", False: "FALSE", None: "NULL"}[value]
        case Fraction():
            return _number(value)
        case date():
            return f"DATE '{value.isoformat()}'"
    return "'" + value.replace("'", "''") + "'"


def _number(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else repr(float(value))


def _output(output: Output) -> str:
    if isinstance(output.source, Column):
        return f"{output.name} = [{output.source.name}]"
    return f"{output.name} = {describe_statistic(output.source)}"


def _order(order: Order) -> str:
    by = order.by.name if isinstance(order.by, Column) else describe_statistic(order.by)
    return f"{by} DESC" if order.descending else by
