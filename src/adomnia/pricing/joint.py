"""Under epsilon, what is known of one value or of a pair is measured as one vector, where that has less noise.

Distances from both ends of the bounds, and products of those, add up to the same for every row: a person moves all of
them together as far as a count. What that gains, and that it gains nothing under rho: docs/decisions/0020.
"""

from collections.abc import Sequence
from dataclasses import replace

from adomnia.catalog.model import Catalog
from adomnia.plans.formulas import Formula, WindowFunction, statistics_of
from adomnia.plans.plan import Plan
from adomnia.pricing.questions import PlannedQuestion
from adomnia.pricing.ways import MOST_COMPARED, error_together, with_ways
from adomnia.privacy.events import Price, Pure
from adomnia.statistics.joint import find_joint

_SINGLE = ("COUNT", "SUM")  # that have one noise where they are measured by themselves


def join_sums(drafts: Sequence[PlannedQuestion], price: Price, _catalog: Catalog) -> list[PlannedQuestion]:
    """Rule: for a price in epsilon, and with normal effort, sums of one value are measured jointly."""
    if not isinstance(price, Pure) or any(each.question.effort != "normal" for each in drafts):
        return list(drafts)
    plans = [each.plan for each in drafts]
    joint = with_joint_sums(plans)
    if _are_divided(plans, joint) and not _is_better(joint, plans, price):
        return list(drafts)
    return [replace(each, plan=plan) for each, plan in zip(drafts, joint, strict=True)]


def with_joint_sums(plans: Sequence[Plan]) -> list[Plan]:
    """The same plans, whose statistics of one value or pair share a measurement.

    The number of rows is among them unless outputs have weights: it then has a price of its own.
    """
    statistics = (each for plan in plans for each in plan.statistics)
    found = find_joint(statistics, counting=not any(plan.weights for plan in plans))
    return [plan.with_statistics(lambda each: found.get(each, each)) if found else plan for plan in plans]


def _are_divided(plans: Sequence[Plan], joint: Sequence[Plan]) -> bool:
    """Whether a formula computes with a sum or a count that would be made of several noises instead of one."""
    before, after = (
        [
            each
            for plan in some
            for term in plan.terms
            if isinstance(term, Formula | WindowFunction)
            for each in statistics_of(term)
        ]
        for some in (plans, joint)
    )
    return any(one != two and one.name in _SINGLE for one, two in zip(before, after, strict=True))


def _is_better(joint: Sequence[Plan], plans: Sequence[Plan], price: Price) -> bool:
    if sum(len(plan.terms) for plan in plans) > MOST_COMPARED:
        return True
    return error_together(joint, price) < error_together(with_ways(plans, price), price)
