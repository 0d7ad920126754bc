"""Reads VAR, STDDEV, COVAR and CORR: from the parser's tree to statistics."""

from collections.abc import Callable

from sqlglot import exp

from adomnia.plans.descriptions import describe
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Total
from adomnia.sql.reading.refusals import refusal
from adomnia.sql.values.groups import Groups
from adomnia.sql.values.scope import check_parts
from adomnia.statistics.correlation import Correlation
from adomnia.statistics.covariance import Covariance
from adomnia.statistics.moments import multiply_totals
from adomnia.statistics.variance import Variance


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
