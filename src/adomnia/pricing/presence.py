"""Questions that count rows and values: how many rows there are with the value, and without it, in one measurement.

COUNT(*) beside AVG(x) or COUNT(x) needs two counts. A row has a value or has none, so that a person moves the two
counts together no further than one of them: measured as one they cost what one does, and all else gets more of the
price. COUNT(*) is then the sum of both.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from adomnia.catalog.model import Catalog
from adomnia.plans.formulas import Formula, WindowFunction
from adomnia.plans.plan import Plan
from adomnia.pricing.questions import PlannedQuestion
from adomnia.privacy.events import Price
from adomnia.privacy.keys import MOST_CELLS, is_open
from adomnia.statistics.rewrites import find_counted, part_by


def join_counts(drafts: Sequence[PlannedQuestion], _price: Price, _catalog: Catalog) -> list[PlannedQuestion]:
    """Rule: a question that is asked alone, with normal effort, measures both counts as one."""
    if [each.question.effort for each in drafts] != ["normal"]:
        return list(drafts)
    return [replace(each, plan=with_presence(each.plan)) for each in drafts]


def with_presence(plan: Plan) -> Plan:
    """The plan that measures both counts as one, if it needs both and is about one value and nothing else.

    Another value would be read in a scan of its own, and the interval of a formula would have to know the shared noise.
    """
    if (
        plan.weights
        or any(isinstance(term, Formula | WindowFunction) for term in plan.terms)
        or any(map(is_open, plan.keys))
    ):
        return plan
    counted = [find_counted(one) if 2 * prod(one.query.shape) <= MOST_CELLS else None for one in plan.statistics]
    found = [each for each in counted if each is not None]
    values = {each.value for each in found if each.value is not None}
    both = any(each.rows for each in found) and any(each.values for each in found)
    if len(found) < len(counted) or len(values) != 1 or not both:
        return plan
    (value,) = values
    return plan.with_statistics(lambda one: part_by(one, value))
