"""Reads MEDIAN, QUANTILE, MIN and MAX: from the parser's tree to statistics.

All quantiles of one value that a question asks for are one measurement, so that each must know the others.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import prod

from sqlglot import exp

from adomnia.mechanisms.quantiles import FINEST_SHARE, MOST_VALUES
from adomnia.messages.references import Setting
from adomnia.messages.texts import Message
from adomnia.plans.formulas import DATE, Formula, statistics_of
from adomnia.plans.plan import Plan
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Expression
from adomnia.privacy.keys import key_cells
from adomnia.privacy.kinds import Day, Moment
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Histogram
from adomnia.sql.reading.refusals import refusal, render_node
from adomnia.sql.values.date_functions import count_days
from adomnia.sql.values.groups import Groups, domain_of, require_number
from adomnia.sql.values.scalars import read_number
from adomnia.sql.values.scope import check_parts
from adomnia.statistics.contract import Statistic
from adomnia.statistics.extreme import Extreme
from adomnia.statistics.quantile import PlainQuantile, Quantile

MOST_SHARES = 100
MOST_CHOICES = 4_000
_LARGEST_VALUE = 2**61  # in steps


def quantile(groups: Groups, node: exp.Expr) -> Statistic | Formula:
    """QUANTILE(value, share)."""
    check_parts(node, "this", "quantile")
    share = _share(node, node.args.get("quantile"))
    return _read(groups, node, "QUANTILE", share, Quantile if groups.interval else PlainQuantile)


def median(groups: Groups, node: exp.Expr) -> Statistic | Formula:
    """MEDIAN(value): the quantile of a half."""
    check_parts(node, "this")
    return _read(groups, node, "MEDIAN", Fraction(1, 2), Quantile if groups.interval else PlainQuantile)


def extreme(groups: Groups, node: exp.Expr) -> Statistic | Formula:
    """MIN(value) or MAX(value)."""
    check_parts(node, "this")
    greatest = isinstance(node, exp.Max)
    name, share = ("MAX", Fraction(1)) if greatest else ("MIN", Fraction(0))
    return _read(groups, node, name, share, lambda query, _: Extreme(query, greatest))


def merge_quantiles(select: exp.Select, plan: Plan) -> Plan:
    """Merge all quantiles of one value into one measurement, at the confidence that formulas around them need."""
    shares, crowd = defaultdict[Query, set[Fraction]](set), defaultdict[Query, int](int)
    for term in plan.terms:
        parts = dict.fromkeys(statistics_of(term))
        for query in (part.query for part in parts):
            if query.form == "histogram":
                alone = _without_shares(query)
                shares[alone].update(query.histogram.shares)
                crowd[alone] = max(crowd[alone], len(parts))
    _refuse_many(select, shares, prod(len(key_cells(key)) for key in plan.keys))

    def simultaneous(statistic: Statistic) -> Statistic:
        query = statistic.query
        if query.form != "histogram":
            return statistic
        alone, asked = _without_shares(query), query.histogram
        sure = asked.confidence and 1 - (1 - asked.confidence) / crowd[alone]
        aggregate = replace(asked, shares=tuple(sorted(shares[alone])), confidence=sure)
        return replace(statistic, query=replace(query, aggregate=aggregate))  # type: ignore[type-var]  # a dataclass

    return plan.with_statistics(simultaneous)


def _without_shares(query: Query) -> Query:
    """A query without its shares, which quantiles of one value have in common; an extreme keeps its own."""
    shares = query.histogram.shares
    return replace(query, aggregate=replace(query.histogram, shares=() if 0 < shares[0] < 1 else shares))


def _refuse_many(select: exp.Select, shares: dict[Query, set[Fraction]], cells: int) -> None:
    for asked in shares.values():
        if len(asked) > MOST_SHARES:
            why = f"asks for {len(asked):,} quantiles of one value, more than {MOST_SHARES}"
            raise refusal("too_complex", select, why, "ask for fewer", "The question")
    choices = cells * sum(map(len, shares.values()))
    if choices > MOST_CHOICES:
        why = f"asks for {choices:,} quantiles, minima and maxima, more than {MOST_CHOICES:,}"
        raise refusal("too_many_cells", select, why, "ask for fewer of them, or for fewer groups", "The question")


def _read(
    groups: Groups, node: exp.Expr, name: str, share: Fraction, build: Callable[[Query, Fraction], Statistic]
) -> Statistic | Formula:
    """A value of the argument at a share of all ranks; dates are chosen by their number, and read as dates again."""
    value = groups.argument(node.this, name)
    if isinstance(value.kind, Moment):
        fix = f"ask for {name} of DATE({render_node(node.this)}) or of HOUR({render_node(node.this)})"
        raise refusal("type_error", node.this, "is a timestamp, of which no single value is chosen", fix)
    if isinstance(value.kind, Day):
        return Formula(DATE, (build(_query(groups, node, name, share, _count_days(node.this, value)), share),))
    return build(_query(groups, node, name, share, require_number(node.this, value, name)), share)


def _count_days(node: exp.Expr, value: Expression) -> Expression:
    if isinstance(value.kind, Day) and None in (value.kind.lower, value.kind.upper):
        fix = Message(Setting("days", (("name", render_node(node.this).strip('"')),)))
        raise refusal("unbounded_expression", node.this, "is a date without declared bounds", fix)
        raise refusal("unbounded_expression", node, "is a date without declared bounds", fix)
    return count_days(value)


def _query(groups: Groups, node: exp.Expr, name: str, share: Fraction, value: Expression) -> Query:
    # The confidence of an interval that is not bought must not tell two questions apart. An extreme has its interval
    # from the rank that it is chosen at, and pays nothing for it.
    bought = groups.interval or not 0 < share < 1
    confidence = Fraction(str(groups.confidence)) if bought else Fraction(0)
    aggregate = Histogram(value, _tell_apart(domain_of(node.this, value)), (share,), confidence)
    if aggregate.values > MOST_VALUES:
        why = f"can take over {MOST_VALUES:,} values, too many to choose from"
        raise refusal("scale_out_of_range", node.this, why, "divide by a constant, or bound it with CLAMP", name)
    return groups.query(aggregate)


def _tell_apart(domain: Numbers) -> Numbers:
    """The same bounds in steps that an engine can count to; bounds that hardly differ are one value."""
    if domain.magnitude < _LARGEST_VALUE:
        return domain
    return Numbers(domain.lower, domain.upper, min(abs(domain.lower), abs(domain.upper)))


def _share(node: exp.Expr, written: exp.Expr | None) -> Fraction:
    number = isinstance(written, exp.Literal) and not written.is_string
    share = read_number(written, str(written.this)).value if number and written is not None else None
    if not isinstance(share, Fraction) or not 0 < share < 1 or FINEST_SHARE % share.denominator:
        why, fix = "takes a share between 0 and 1 with at most three digits", "write QUANTILE(salary, 0.9)"
        raise refusal("bad_literal", node, why, fix, "QUANTILE")
    return share
