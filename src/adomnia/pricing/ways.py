"""Which way to a sum: measured itself, or put together from what the questions measure anyway.

A sum is the values' distances from the middle of their bounds, added up, and the middle times their number. An AVG of
the same values measures both, a COUNT of them one. By itself a sum is never better put together: docs/decisions/0012.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import inf, log

from adomnia.catalog.model import Catalog
from adomnia.plans.formulas import Formula, Term, WindowFunction, statistics_of
from adomnia.plans.plan import Plan
from adomnia.pricing.parts import split_together, weigh_starts
from adomnia.pricing.questions import PlannedQuestion
from adomnia.pricing.supposed import Supposed
from adomnia.privacy.events import Price
from adomnia.statistics.contract import Statistic
from adomnia.statistics.rewrites import alternatives

MOST_COMPARED = 200  # a second of the processor's time
_CONFIDENCE = 0.95
_SMALLEST = 1e-300  # an error of none, or without bound, is one of this or of its reciprocal


def choose_ways(drafts: Sequence[PlannedQuestion], price: Price, _catalog: Catalog) -> list[PlannedQuestion]:
    """Rule: each sum is measured the way that has the smallest error."""
    plans = with_ways([each.plan for each in drafts], price)
    return [replace(each, plan=plan) for each, plan in zip(drafts, plans, strict=True)]


def with_ways(plans: Sequence[Plan], price: Price) -> list[Plan]:
    """The same plans, each sum the way that has the smallest error to expect when one price pays for all of them.

    Comparing takes as long as there are sums times terms: where they are too many, each sum is measured itself.
    """
    chosen = list(plans)
    others = [
        (place, each, other)
        for place, plan in enumerate(plans)
        for each in plan.statistics
        for other in alternatives(each)
    ]
    if len(others) * sum(len(plan.terms) for plan in plans) > MOST_COMPARED:
        return chosen
    for place, statistic, other in others:
        if _is_shared(other, chosen):
            chosen = _better(chosen, place, statistic, other, price)
    return chosen


def _is_shared(other: Statistic, plans: list[Plan]) -> bool:
    """Whether something that the statistic could be put together from is measured anyway."""
    measured = {query for plan in plans for query, _ in weigh_starts(plan)}
    return any(query in measured for query in other.queries)


def _better(plans: list[Plan], place: int, statistic: Statistic, other: Statistic, price: Price) -> list[Plan]:
    changed = plans[place].with_statistics(lambda each: other if each == statistic else each)
    swapped = [*plans[:place], changed, *plans[place + 1 :]]
    # Where it is an output by itself and nothing is weighted, it is always better (docs/decisions/0012).
    if not any(plan.weights or any(_is_within(statistic, term) for term in plan.terms) for plan in plans):
        return swapped
    return swapped if error_together(swapped, price) < error_together(plans, price) else plans


def _is_within(statistic: Statistic, term: Term) -> bool:
    return isinstance(term, Formula | WindowFunction) and statistic in statistics_of(term)


def error_together(plans: Sequence[Plan], price: Price) -> float:
    """How large the errors to expect of all outputs are, by the logarithm of their product."""
    return sum(_errors(plan, part) for plan, part in zip(plans, split_together(plans, price), strict=True))


def _errors(plan: Plan, price: Price) -> float:
    supposed = Supposed(plan, price)
    try:
        errors = [supposed.error(term, _CONFIDENCE) for term in plan.terms]
    except ValueError:  # no noise can be drawn for so little, which is refused later
        return inf
    return sum(log(min(max(error, _SMALLEST), 1 / _SMALLEST)) for error in errors)
