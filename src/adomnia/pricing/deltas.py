"""Methods that are private but for a delta: the question names it, and the method is told."""

from dataclasses import replace
from fractions import Fraction

from adomnia.catalog.model import Catalog
from adomnia.errors import Refusal
from adomnia.messages.fixes import ADD_DELTA
from adomnia.messages.references import Option
from adomnia.messages.texts import Fix, Message, write
from adomnia.methods.analysis import Analysis
from adomnia.plans.plan import Plan
from adomnia.pricing.questions import Question
from adomnia.privacy.amounts import DELTA_UNIT, Number, exact
from adomnia.statistics.contract import Statistic

UNPRICED = Fraction(1, 10**9)  # what a plan is shown with as long as nobody named one
_LARGEST = Fraction(1, 100)


def name_delta(question: Question, plan: Plan, catalog: Catalog) -> tuple[Question, Plan]:
    """The plan with its delta, where a method takes it; the question then has none left for anything else."""
    if not needs_delta(plan):
        return question, plan
    if question.delta is None:
        allowed = catalog.budget.approximate
        fix = write("add {delta=1e-9}") if allowed else "choose another method, or have the owner allow delta"
        why = "is private but for a delta, and none was named"
        raise Refusal("The method", why, Fix(fix, ADD_DELTA), code="bad_price")
    return replace(question, delta=None), with_delta(plan, _read(question.delta))


def needs_delta(plan: Plan) -> bool:
    """Whether something in a plan is private but for a delta."""
    return any(isinstance(each, Analysis) and each.needs_delta for each in plan.statistics)


def with_delta(plan: Plan, delta: Fraction) -> Plan:
    """The plan with a delta for whatever needs one."""

    def tell(statistic: Statistic) -> Statistic:
        return statistic.with_delta(delta) if isinstance(statistic, Analysis) and statistic.needs_delta else statistic

    return plan.with_statistics(tell) if needs_delta(plan) else plan


def refuse_delta(delta: Number, most: str) -> Refusal:
    """The refusal of a delta that is not between what is counted and what is allowed."""
    named, fix = Message(Option("delta", str(delta))), write("write {delta=1e-9}")
    return Refusal(named, f"is not between 1e-30 and {most}", fix, code="bad_price")


def _read(delta: Number) -> Fraction:
    try:
        found = exact(delta, "Question", "delta")
    except (ValueError, TypeError):
        found = Fraction(-1)
    if not DELTA_UNIT <= found <= _LARGEST:
        raise refuse_delta(delta, "0.01")
    return found
