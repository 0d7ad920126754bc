"""effort="high": the same answers at the same price with less noise, for a longer look at the data.

The measurements that statistics begin with decide what is paid. What follows from each of them, in all rounds together,
costs its price at most, and what two statistics begin with goes on alike in both: so the bill is that of the plan.
"""

from collections.abc import Iterator
from dataclasses import replace

from adomnia.errors import Refusal
from adomnia.plans.plan import Plan
from adomnia.pricing.parts import shares
from adomnia.privacy.events import Concentrated, Price
from adomnia.statistics.clipped import Clipped
from adomnia.statistics.contract import Measure, Statistic
from adomnia.statistics.located import Located, can_locate
from adomnia.statistics.mean import Mean
from adomnia.statistics.sum import Sum


def with_effort(plan: Plan, effort: str, price: Price) -> Plan:
    """The plan as it is measured with that effort."""
    if effort == "normal":
        return plan
    if effort != "high":
        raise Refusal(f"effort={effort!r}", "is not known", 'write effort="high", or leave it out', code="bad_effort")
    if not isinstance(price, Concentrated):
        why = "shortens what each person adds, by a length that only Gaussian noise can make use of"
        raise Refusal('effort="high"', why, "pay with rho= instead", code="bad_effort")
    return replace(plan.with_statistics(_located), effort="high")


def usual(plan: Plan) -> Plan:
    """The same plan with normal effort."""
    return replace(plan.with_statistics(lambda one: one.inner if isinstance(one, Located) else one), effort="normal")


def asked(plan: Plan, price: Price) -> Iterator[Measure]:
    """What the statistics of a plan will ask for, as far as it is known before."""
    for statistic, share in shares(plan, price):
        yield from statistic.rehearsed(share) if isinstance(statistic, Clipped) else next(statistic.steps(share))


def _located(statistic: Statistic) -> Statistic:
    """Means, and sums that are put together like them, counted from near the mean."""
    near = isinstance(statistic, Mean) or (isinstance(statistic, Sum) and statistic.centred)
    if not isinstance(statistic, Mean | Sum) or not near or not can_locate(statistic.query):
        return statistic
    return Located(statistic.query, mean=isinstance(statistic, Mean))
