"""Rewrites FILTER, COUNTIF, VAR, quantiles, units and CURRENT_DATE to one spelling.

Two spellings of one question must have one plan, and it must mean the same whenever it is asked.
"""

from contextlib import suppress
from datetime import date
from decimal import Decimal

from sqlglot import exp

from adomnia.sql.reading.refusals import refusal

_SPELLINGS = (exp.PercentileCont, exp.PercentileDisc, exp.ApproxQuantile)
_NAMES = ("PERCENTILE", "APPROX_PERCENTILE")
_MOMENTS = (exp.VariancePop, exp.Variance, exp.StddevPop, exp.StddevSamp, exp.Stddev)
_PAIRS = (exp.CovarPop, exp.CovarSamp, exp.Corr)  # of rows that have both values: to take one of them away is enough
_FILTERED = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Median, exp.Quantile, *_MOMENTS, *_PAIRS)


def spell_out_quantiles(tree: exp.Expr) -> None:
    """Replace every spelling of a quantile by QUANTILE(value, share); others are left, to be refused later."""
    for node in list(tree.find_all(exp.WithinGroup, *_SPELLINGS, exp.Anonymous)):
        value, share = _arguments(node)
        if value is not None and share is not None:
            spelled = exp.Quantile(this=value, quantile=share)
            spelled.meta.update(node.meta or node.this.meta)
            node.replace(spelled)


def _arguments(node: exp.Expr) -> tuple[exp.Expr | None, exp.Expr | None]:
    """The value and the share of a spelling."""
    match node:
        case exp.WithinGroup(this=exp.PercentileCont() | exp.PercentileDisc() as inner):
            return _within_group(node, inner)
        case exp.Anonymous(this=str(name), expressions=[value, share]) if name.upper() in _NAMES:
            return value, share
        case exp.PercentileCont() | exp.PercentileDisc() if not isinstance(node.parent, exp.WithinGroup):
            return node.this, node.args.get("expression")
        case exp.ApproxQuantile() if not any(map(node.args.get, ("accuracy", "weight", "error_tolerance"))):
            return node.this, node.args.get("quantile")
    return None, None


def _within_group(node: exp.WithinGroup, inner: exp.Expr) -> tuple[exp.Expr | None, exp.Expr | None]:
    """PERCENTILE_CONT(share) WITHIN GROUP (ORDER BY value), from the other end if DESC."""
    order = node.expression.expressions if isinstance(node.expression, exp.Order) else []
    share = inner.this
    if len(order) != 1 or inner.args.get("expression") or not isinstance(share, exp.Literal) or share.is_string:
        return None, None
    if not order[0].args.get("desc"):
        return order[0].this, share
    with suppress(ArithmeticError):
        return order[0].this, exp.Literal.number(str(1 - Decimal(str(share.this))))
    return None, None


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


_UNITS = ("year", "quarter", "month", "week", "day", "doy", "dow", "isodow", "hour", "minute", "second", "epoch")
_BY_UNIT = (
    "DATENAME",
    "DATEADD",
    "DATE_DIFF",
    "DATEDIFF",
    "DATEPART",
    "DATE_PART",
    "DATE_TRUNC",
    "TIMESTAMPDIFF",
    "TIMESTAMPADD",
)


def spell_out_units(tree: exp.Expr) -> None:
    """Read the first word of DATEDIFF(day, a, b), DATEADD(day, 3, a) and DATEPART(day, a) as a unit, not as a column.

    Also FETCH FIRST 3 ROWS ONLY as LIMIT 3.
    """
    for node in tree.find_all(exp.Anonymous):
        first = node.expressions[0] if len(node.expressions) > 1 else None
        unit = first.name.lower() if isinstance(first, exp.Column) and not first.table else ""
        # DATEDIFF(day, a) of two arguments is the difference of two dates, of which one may be called day.
        alone = str(node.this).upper() != "DATEDIFF" or len(node.expressions) > 2
        if unit in _UNITS and alone and str(node.this).upper() in _BY_UNIT:
            node.expressions[0].replace(exp.Literal.string(unit))
    for fetch in list(tree.find_all(exp.Fetch)):
        if isinstance(fetch.args.get("count"), exp.Literal) and not _has_options(fetch):
            fetch.replace(exp.Limit(expression=fetch.args["count"]))


def _has_options(fetch: exp.Fetch) -> bool:
    """Whether it asks for a share of rows, or for those that are as good as the last."""
    options = fetch.args.get("limit_options")
    return options is not None and any(options.args.get(each) for each in ("percent", "with_ties"))


def _case(condition: exp.Expr, value: exp.Expr) -> exp.Case:
    outcome = exp.Literal.number(1) if isinstance(value, exp.Star) else value
    return exp.Case(ifs=[exp.If(this=condition, true=outcome)])


def _is_one_distinct(value: exp.Expr | None) -> bool:
    return isinstance(value, exp.Distinct) and not value.args.get("on") and len(value.expressions) == 1


def _is_plain(value: exp.Expr | None) -> bool:
    if isinstance(value, exp.Star):
        return not any(value.args.values())
    return value is not None and not isinstance(value, exp.Distinct | exp.Order)


_WITH_TIME = (exp.CurrentDatetime, exp.CurrentTimestamp, exp.CurrentTime)
_NOW = ("NOW", "GETDATE", "SYSDATE", "SYSDATETIME")
_TODAY = ("TODAY", "CURDATE")


def fill_in_today(tree: exp.Expr, today: date | None) -> None:
    """Write the declared date in the place of CURRENT_DATE; a Refusal where none is declared, or a time is asked."""
    for node in list(tree.find_all(exp.CurrentDate, exp.Anonymous, *_WITH_TIME)):
        called = str(node.this).upper() if isinstance(node, exp.Anonymous) and not node.expressions else ""
        name = called or str(node.sql_name()).upper()
        if isinstance(node, _WITH_TIME) or called in _NOW:
            why, fix = "changes from second to second", "write CURRENT_DATE, or the time as a constant"
            raise refusal("nondeterministic_function", node, why, fix, name)
        if not isinstance(node, exp.CurrentDate) and called not in _TODAY:
            continue
        if today is None:
            fix = "write the date as a constant, or ask the owner for today = 2024-12-31 in [dataset]"
            raise refusal("nondeterministic_function", node, "has no value in this catalog", fix, "CURRENT_DATE")
        constant = exp.Cast(this=exp.Literal.string(today.isoformat()), to=exp.DataType.build("DATE"))
        constant.meta.update(node.meta)
        node.replace(constant)
