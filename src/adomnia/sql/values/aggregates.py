"""Reads aggregates: from the parser's tree to statistics. A new one is its builder and one line."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce

from sqlglot import exp

from adomnia.plans.descriptions import describe
from adomnia.plans.formulas import Formula
from adomnia.privacy.expressions import Column, Expression, Literal, text
from adomnia.privacy.kinds import LONGEST_TEXT, Boolean, Identity, Text
from adomnia.privacy.queries import Aggregate, Query
from adomnia.privacy.relations import Relation, Where
from adomnia.privacy.scans import DistinctValues, NonNull, People, Rows, Total
from adomnia.sql.reading.refusals import refusal
from adomnia.sql.values.building import build
from adomnia.sql.values.conditions import chain
from adomnia.sql.values.groups import PEOPLE, Groups, refusal_of_id
from adomnia.sql.values.quantiles import extreme, median, quantile
from adomnia.sql.values.scalars import read_expression
from adomnia.sql.values.scope import check_parts, strip_brackets
from adomnia.statistics.contract import Statistic
from adomnia.statistics.correlation import Correlation
from adomnia.statistics.count import Count
from adomnia.statistics.covariance import Covariance
from adomnia.statistics.mean import Mean
from adomnia.statistics.moments import multiply_totals
from adomnia.statistics.sum import Sum
from adomnia.statistics.variance import Variance

_BETWEEN = "|/;~"  # signs that may tell where one category ends and the next begins


@dataclass(frozen=True)
class SqlAggregate:
    """An aggregate of SQL: its name, and how its node becomes a statistic over groups."""

    name: str
    build: Callable[[Groups, exp.Expr], Statistic | Formula]


def read_aggregate(groups: Groups, node: exp.Expr) -> Statistic | Formula:
    """What an aggregate asks for: a statistic, or one read as a date; the type of its node must be in AGGREGATES."""
    aggregate = AGGREGATES[type(node)]
    for inner in node.find_all(*AGGREGATES):
        other = inner is not node and inner.parent_select is node.parent_select
        if other and not inner.find_ancestor(exp.Window):
            raise refusal("nested_aggregate", inner, f"stands inside {aggregate.name}", "use one of them alone")
    return aggregate.build(groups, node)


def _count(groups: Groups, node: exp.Expr) -> Count:
    check_parts(node, "this", "big_int")
    if node.this is None:
        raise refusal("syntax_not_allowed", node, "is empty", "write COUNT(...) of something", "COUNT")
    relation, counted = _filter_people(groups, node.this)
    return Count(replace(groups.query(_counted_aggregate(groups, counted)), relation=relation))


def _sum(groups: Groups, node: exp.Expr) -> Sum:
    check_parts(node, "this")
    return Sum(groups.query(groups.total(node.this, "SUM")))


def _mean(groups: Groups, node: exp.Expr) -> Mean:
    check_parts(node, "this")
    return Mean(groups.query(groups.total(node.this, "AVG")))


def _filter_people(groups: Groups, node: exp.Expr) -> tuple[Relation, exp.Expr]:
    """COUNT(DISTINCT CASE WHEN c THEN person END) counts people among the rows where c is true."""
    conditions, counted = [], node.expressions[0] if isinstance(node, exp.Distinct) and node.expressions else None
    counted = None if counted is None else strip_brackets(counted)
    while isinstance(counted, exp.Case) and _has_one_outcome(counted):
        (branch,) = counted.args["ifs"]
        conditions.append(branch)
        counted = strip_brackets(branch.args["true"])
    person = groups.scope.column(counted).kind if isinstance(counted, exp.Column) else None
    if not conditions or len(node.expressions) > 1 or not isinstance(person, Identity) or not person.person:
        return groups.relation, node
    meanings = [read_expression(each.this, groups.scope) for each in conditions]
    for meaning, each in zip(meanings, conditions, strict=True):
        if not isinstance(meaning.kind, Boolean):
            why = f"is of type {meaning.kind} and a condition is needed"
            raise refusal("type_error", each.this, why, "compare it with something")
    return _where(groups.relation, meanings), exp.Distinct(expressions=[counted])


def _has_one_outcome(case: exp.Case) -> bool:
    return case.this is None and len(case.args["ifs"]) == 1 and isinstance(case.args.get("default"), exp.Null | None)


def _where(relation: Relation, meanings: list[Expression]) -> Relation:
    """The rows of a relation for which all conditions hold, as WHERE would say it."""
    if isinstance(relation, Where):
        return Where(relation.source, chain("and", [relation.condition, *meanings]))
    return Where(relation, chain("and", meanings))


def _counted_aggregate(groups: Groups, node: exp.Expr) -> Aggregate:
    if isinstance(node, exp.Star):
        check_parts(node)
        return Rows()
    if isinstance(node, exp.Distinct):
        return _distinct_aggregate(groups, node)
    value = read_expression(node, groups.scope)
    if isinstance(value.kind, Identity) and not value.kind.person:
        raise refusal_of_id(node)
    # A person's id is never NULL here, because rows of nobody are not kept, except where a LEFT JOIN found none.
    always = (isinstance(value, Literal) and value.value is not None) or (
        isinstance(value.kind, Identity) and not _is_optional(value)
    )
    return Rows() if always else NonNull(value)


def _distinct_aggregate(groups: Groups, node: exp.Distinct) -> Aggregate:
    check_parts(node, "expressions")
    parts = [strip_brackets(part) for part in node.expressions]
    columns = [groups.scope.column(part) for part in parts if isinstance(part, exp.Column)]
    match columns:
        case [Column(kind=Identity(person=True), optional=optional) as column] if len(parts) == 1:
            return People(column if optional else None)
    values = [read_expression(part, groups.scope) for part in parts]
    if any(isinstance(value.kind, Identity) for value in values):
        raise refusal("aggregate_not_allowed", node, "counts ids of no people", PEOPLE, "COUNT(DISTINCT ...)")
    return DistinctValues(values[0] if len(values) == 1 else _combination(node, values))


def _combination(node: exp.Distinct, values: list[Expression]) -> Expression:
    """Several categories as one text, which tells all their combinations apart; NULL where one of them is."""
    declared = [value.kind.values for value in values if isinstance(value.kind, Text) and isinstance(value, Column)]
    listed = [each for each in declared if each is not None]
    between = next((sign for sign in _BETWEEN if not any(sign in text for each in listed for text in each)), None)
    longest = sum(1 + max(map(len, each)) for each in listed)
    if len(listed) < len(values) or between is None or longest > LONGEST_TEXT:
        why, fix = "takes one expression, or several categories with declared values", "count one of them at a time"
        raise refusal("aggregate_not_allowed", node, why, fix, "COUNT(DISTINCT ...)")
    parts = (part for value in values for part in (text(between), value))
    _, *spelled = parts
    return reduce(lambda left, right: build(node, "||", left, right), spelled)


def _is_optional(value: Expression) -> bool:
    return isinstance(value, Column) and value.optional


def variance(name: str) -> Callable[[Groups, exp.Expr], Variance]:
    """The builder of a variance or standard deviation."""

    def build(groups: Groups, node: exp.Expr) -> Variance:
        check_parts(node, "this")
        total = groups.total(node.this, name)
        _refuse_huge(node, total, total)
        return Variance(groups.query(total), name)

    return build


def covariance(name: str) -> Callable[[Groups, exp.Expr], Variance | Covariance]:
    """The builder of a covariance: that of a value with itself is its variance."""

    def build(groups: Groups, node: exp.Expr) -> Variance | Covariance:
        query, other = _pair(groups, node, name)
        if query.aggregate == other:
            return Variance(query, name.replace("COVAR", "VAR"))
        return Covariance(query, other, name)

    return build


def correlation(groups: Groups, node: exp.Expr) -> Correlation:
    """The builder of a correlation."""
    query, other = _pair(groups, node, "CORR")
    if query.aggregate == other:
        raise refusal("aggregate_not_allowed", node, "is 1 whatever the data", "name two values", "CORR")
    return Correlation(query, other)


def _pair(groups: Groups, node: exp.Expr, name: str) -> tuple[Query, Total]:
    """Two values in a fixed order, whatever their order in the question."""
    check_parts(node, "this", "expression")
    totals = [groups.total(part, name) for part in (node.this, node.expression)]
    first, second = sorted(totals, key=lambda total: describe(total.value))
    _refuse_huge(node, first, second)
    _refuse_huge(node, first, first)
    _refuse_huge(node, second, second)
    return groups.query(first), second


def _refuse_huge(node: exp.Expr, left: Total, right: Total) -> None:
    try:
        multiply_totals(left, right)
    except ValueError:
        why = "multiplies values that can be too large to add up exactly"
        raise refusal("scale_out_of_range", node, why, "multiply by smaller constants") from None


AGGREGATES: dict[type[exp.Expr], SqlAggregate] = {
    exp.Count: SqlAggregate("COUNT", _count),
    exp.Sum: SqlAggregate("SUM", _sum),
    exp.Avg: SqlAggregate("AVG", _mean),
    exp.VariancePop: SqlAggregate("VAR_POP", variance("VAR_POP")),
    exp.Variance: SqlAggregate("VAR_SAMP", variance("VAR_SAMP")),
    exp.StddevPop: SqlAggregate("STDDEV_POP", variance("STDDEV_POP")),
    exp.StddevSamp: SqlAggregate("STDDEV_SAMP", variance("STDDEV_SAMP")),
    exp.Stddev: SqlAggregate("STDDEV_SAMP", variance("STDDEV_SAMP")),
    exp.CovarPop: SqlAggregate("COVAR_POP", covariance("COVAR_POP")),
    exp.CovarSamp: SqlAggregate("COVAR_SAMP", covariance("COVAR_SAMP")),
    exp.Corr: SqlAggregate("CORR", correlation),
    exp.Median: SqlAggregate("MEDIAN", median),
    exp.Quantile: SqlAggregate("QUANTILE", quantile),
    exp.Min: SqlAggregate("MIN", extreme),
    exp.Max: SqlAggregate("MAX", extreme),
}
