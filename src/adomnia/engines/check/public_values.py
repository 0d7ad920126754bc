"""Aggregates of public rows in a statement about nobody: none fails, and none is other than finite."""

from sqlglot import exp

from adomnia.engines.check.aggregates import counts, finite, value
from adomnia.engines.check.columns import ProvedColumn
from adomnia.engines.check.nodes import only, require
from adomnia.engines.check.scalars import Row

_CHOSEN: dict[type[exp.Expr], tuple[str, ...]] = {
    **dict.fromkeys((exp.Min, exp.Max), ("double", "day")),
    **dict.fromkeys((exp.LogicalOr, exp.LogicalAnd), ("boolean",)),
}
_COMPUTED = (exp.Sum, exp.Avg, exp.Median, exp.Variance, exp.VariancePop, exp.StddevSamp, exp.StddevPop)


def public_value(node: exp.Expr, row: Row) -> ProvedColumn:
    """A count as a double, one of the values that there are, or a finite double computed from them."""
    if type(node) is exp.Cast:
        only(node, "this", "to")
        require(node.to.this is row.words.double and counts(node.this, row, different=True), "a count")
        return ProvedColumn("number")
    if type(node) in _CHOSEN:
        only(node, "this")
        found = row.type(node.this)
        require(found in _CHOSEN[type(node)], "values of an order")
        return value(node.this, row) if found != "double" else ProvedColumn("number")
    computed = finite(node)
    require(type(computed) in _COMPUTED, "an aggregate of public rows")
    only(computed, "this")
    require(row.type(computed.this) == "double", "numbers")
    return ProvedColumn("number")
