"""effort="high": the same answers at the same price with less noise, for a longer look at the data.

The queries that statistics start from decide what is paid. What follows from each of them, in all rounds together,
costs its price at most, and what two statistics start from goes on alike in both: so the bill is that of the plan.
"""

from collections.abc import Sequence
from dataclasses import replace

from adomnia.catalog.model import Catalog
from adomnia.errors import Refusal
from adomnia.messages.references import Option
from adomnia.messages.texts import Message, write
from adomnia.options import OPTIONS
from adomnia.plans.plan import Plan
from adomnia.pricing.questions import PlannedQuestion
from adomnia.privacy.events import Concentrated, Price
from adomnia.statistics.located import locate, unlocate

_HIGH = write("{effort=high}")


def apply_effort(drafts: Sequence[PlannedQuestion], price: Price, _catalog: Catalog) -> list[PlannedQuestion]:
    """Rule: a question is measured with the effort that it names."""
    return [replace(each, plan=with_effort(each.plan, each.question.effort, price)) for each in drafts]


def check_effort(effort: str) -> None:
    """Refuse an effort that is not known."""
    if effort not in OPTIONS["effort"].choices:
        named, fix = Message(Option("effort", str(effort))), write("write {effort=high}, or leave it out")
        raise Refusal(named, "is not known", fix, code="bad_effort")


def with_effort(plan: Plan, effort: str, price: Price) -> Plan:
    """The plan as it is measured with that effort."""
    check_effort(effort)
    if effort == "normal":
        return plan
    if not isinstance(price, Concentrated):
        why = "shortens what each person adds, by a length that only Gaussian noise can make use of"
        raise Refusal(_HIGH, why, write("pay with {rho=} instead"), code="bad_effort")
    if plan.view is not None:
        why, fix = "shortens sums of one value, and methods add up several", "leave it out"
        raise Refusal(_HIGH, why, fix, code="bad_effort")
    if plan.relation.has_blocks:
        why, fix = "shortens what each person adds, and here rows are of blocks of people", "leave it out"
        raise Refusal(_HIGH, why, fix, code="bad_effort")
    if plan.sets:
        why, fix = (
            "finds a length for each group, and these do not add up over groups",
            "leave it out, or ask for each grouping",
        )
        raise Refusal(_HIGH, why, fix, code="bad_effort")
    return replace(plan.with_statistics(locate), effort="high")


def without_effort(plan: Plan) -> Plan:
    """The same plan with normal effort."""
    if plan.effort == "normal":
        return plan
    return replace(plan.with_statistics(unlocate), effort="normal")
