"""Rewrites FILTER, COUNTIF and VAR to one spelling: two spellings of one question must have one plan."""

from sqlglot import exp

_MOMENTS = (exp.VariancePop, exp.Variance, exp.StddevPop, exp.StddevSamp, exp.Stddev)
_PAIRS = (exp.CovarPop, exp.CovarSamp, exp.Corr)  # of rows that have both values: to take one of them away is enough
_FILTERED = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Median, exp.Quantile, *_MOMENTS, *_PAIRS)


def spell_out_filters(tree: exp.Expr) -> None:
    """Replace `SUM(x) FILTER (WHERE c)` by `SUM(CASE WHEN c THEN x END)`, and `COUNTIF(c)` likewise.

    `COUNT(DISTINCT x) FILTER (WHERE c)` is `COUNT(DISTINCT CASE WHEN c THEN x END)`. Other DISTINCT and ORDER BY inside
    an aggregate are left as they are, to be refused where they stand.
    """
    for called in list(tree.find_all(exp.Anonymous)):
        if str(called.this).upper() == "VAR" and len(called.expressions) == 1:
            variance = exp.Variance(this=called.expressions[0])
            variance.meta.update(called.meta)
            called.replace(variance)
    for node in reversed(list(tree.find_all(exp.Filter, exp.CountIf))):  # from the inside out
        if isinstance(node, exp.CountIf):
            alone = not any(isinstance(part, exp.Expr) for name, part in node.args.items() if name != "this")
            if alone and _is_plain(node.this):
                node.replace(exp.Count(this=_case(node.this, exp.Star()), big_int=True))
        elif type(node.this) in _FILTERED and _is_plain(node.this.this):
            aggregate, condition = node.this, node.expression.this
            aggregate.set("this", _case(condition, aggregate.this))
            node.replace(aggregate)
        elif type(node.this) is exp.Count and _is_one_distinct(node.this.this):
            counted, condition = node.this, node.expression.this
            counted.this.set("expressions", [_case(condition, counted.this.expressions[0])])
            node.replace(counted)


def _case(condition: exp.Expr, value: exp.Expr) -> exp.Case:
    outcome = exp.Literal.number(1) if isinstance(value, exp.Star) else value
    return exp.Case(ifs=[exp.If(this=condition, true=outcome)])


def _is_one_distinct(value: exp.Expr | None) -> bool:
    return isinstance(value, exp.Distinct) and not value.args.get("on") and len(value.expressions) == 1


def _is_plain(value: exp.Expr | None) -> bool:
    if isinstance(value, exp.Star):
        return not any(value.args.values())
    return value is not None and not isinstance(value, exp.Distinct | exp.Order)
