"""Questions that count rows and values: how many rows there are with the value, and without it, in one measurement.

COUNT(*) beside AVG(x) or COUNT(x) needs two counts. A row has a value or has none, so that a person moves the two
counts together no further than one of them: measured as one they cost what one does, and all else gets more of the
price. COUNT(*) is then the sum of both.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from adomnia.plans.formulas import Formula
from adomnia.plans.plan import Plan
from adomnia.privacy.aggregates import Present, Rows, Total
from adomnia.privacy.expressions import Expression
from adomnia.privacy.keys import MOST_CELLS, is_open
from adomnia.statistics.contract import Statistic
from adomnia.statistics.count import Count
from adomnia.statistics.mean import Mean
from adomnia.statistics.sum import Sum


def with_presence(plan: Plan) -> Plan:
    """The plan that measures both counts as one, if it needs both and is about one value and nothing else.

    Another value would be read in a scan of its own, and the interval of a formula would have to know the shared noise.
    """
    if plan.weights or any(isinstance(term, Formula) for term in plan.terms) or any(map(is_open, plan.keys)):
        return plan
    values = set(_values(plan.statistics))
    if len(values) != 1 or None in values or not _counts_both(plan.statistics):
        return plan
    (value,) = values
    return plan.with_statistics(lambda one: replace(one, parted=value))  # type: ignore[type-var]  # a dataclass


def _values(statistics: tuple[Statistic, ...]) -> Iterator[Expression | None]:
    """The values that statistics are about; None for one that cannot be measured so."""
    for statistic in statistics:
        match statistic:
            case Count(query=query) | Sum(query=query) | Mean(query=query) if 2 * prod(query.shape) <= MOST_CELLS:
                match query.aggregate:
                    case Present(value=value) | Total(value=value):
                        yield value
                    case Rows():
                        pass
                    case _:
                        yield None
            case _:
                yield None


def _counts_both(statistics: tuple[Statistic, ...]) -> bool:
    rows = any(isinstance(one, Count) and isinstance(one.query.aggregate, Rows) for one in statistics)
    values = (isinstance(one, Mean) or (isinstance(one, Sum) and one.centred) or _is_present(one) for one in statistics)
    return rows and any(values)


def _is_present(statistic: Statistic) -> bool:
    return isinstance(statistic, Count) and isinstance(statistic.query.aggregate, Present)
