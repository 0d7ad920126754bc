"""Under epsilon, what is known of one value or of a pair is measured as one vector, where that has less noise.

Distances from both ends of the bounds, and products of those, add up to the same for every row: a person moves all of
them together as far as a count. What that gains, and that it gains nothing under rho: docs/decisions/0020.
"""

from collections.abc import Sequence
from dataclasses import replace

from adomnia.catalog.model import Catalog
from adomnia.plans.plan import Plan
from adomnia.pricing.questions import PlannedQuestion
from adomnia.privacy.events import Price, Pure
from adomnia.statistics.joint import find_joint


def join_sums(drafts: Sequence[PlannedQuestion], price: Price, _catalog: Catalog) -> list[PlannedQuestion]:
    """Rule: for a price in epsilon, and with normal effort, sums of one value are measured jointly."""
    if not isinstance(price, Pure) or any(each.question.effort != "normal" for each in drafts):
        return list(drafts)
    plans = with_joint_sums([each.plan for each in drafts])
    return [replace(each, plan=plan) for each, plan in zip(drafts, plans, strict=True)]


def with_joint_sums(plans: Sequence[Plan]) -> list[Plan]:
    """The same plans, whose statistics of one value or pair share a measurement.

    The number of rows is among them unless outputs have weights: it then has a price of its own.
    """
    found = find_joint(
        (each for plan in plans for each in plan.statistics), counting=not any(plan.weights for plan in plans)
    )
    return [plan.with_statistics(lambda each: found.get(each, each)) if found else plan for plan in plans]
