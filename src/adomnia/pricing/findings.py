"""What it costs to find the values of keys that nobody declared, and the delta that a question names for it."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from adomnia.catalog.model import Catalog
from adomnia.errors import Refusal
from adomnia.mechanisms.threshold import KeyPrice
from adomnia.messages.fixes import ADD_DELTA
from adomnia.messages.references import Option, Setting
from adomnia.messages.texts import Fix, Message, write
from adomnia.methods.analysis import Analysis
from adomnia.plans.plan import Plan
from adomnia.plans.undeclared import KeyDiscovery
from adomnia.pricing.parts import amount, bill
from adomnia.pricing.questions import Priced, Question
from adomnia.privacy.amounts import DELTA_UNIT, Number, exact
from adomnia.privacy.events import Composed, Event, Price, Pure, add_delta
from adomnia.privacy.keys import Names, is_open
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import recap
from adomnia.privacy.scans import People
from adomnia.statistics.contract import Statistic

UNPRICED = Fraction(1, 10**9)  # what a plan is shown with as long as nobody named one
_LARGEST = Fraction(1, 100)


def explain_need(catalog: Catalog) -> str:
    """What it takes to have values found."""
    if catalog.budget.approximate:
        return write("have those found that enough people share: add {delta=1e-9}")
    return write("have them found: {first} add {delta=1e-9}", first=Setting("approximate_first"))


def price_finding(plan: Plan, part: Price, delta: Number | None, catalog: Catalog) -> KeyDiscovery | None:
    """How the values of a plan's open keys are found, for the price of one of its measurements and delta.

    With Laplace noise one row of a person in each table is enough: with more, the threshold rises faster than the
    number of people who are seen to have a value (docs/proofs/threshold.md).
    """
    open_keys = tuple(filter(is_open, plan.keys))
    if not open_keys or delta is None:
        if delta is not None:
            why = "pays for finding the values of keys, and all keys of this question are declared"
            raise Refusal(write("{delta=}"), why, "leave it out", code="bad_price")
        return None
    pure = isinstance(part, Pure)
    relation = recap(plan.relation, {table.name: 1 for table in catalog.tables}) if pure else plan.relation
    price = _price(part, delta)
    keys = (
        replace(key, among=Names(key.labels, len(key.cells), price, catalog.minimum_frequency)) for key in open_keys
    )
    found = KeyDiscovery(Query(relation, tuple(keys), People()), price)
    try:
        _ = found.threshold  # what cannot be bought is found here, not later
    except ValueError:
        why = "makes noise that is too small or too large for a threshold"
        raise Refusal("The price", why, "name one between 0.001 and 10", code="bad_price") from None
    return found


def _price(part: Price, delta: Number) -> KeyPrice:
    with suppress(ValueError):
        price = add_delta(part, delta)
        if price.delta >= DELTA_UNIT:
            return price
    raise refuse_delta(delta, "1")


def list_findings(priced: Sequence[Priced]) -> tuple[KeyDiscovery, ...]:
    """How the values of open keys are found, each once."""
    return tuple(dict.fromkeys(each.finding for each in priced if each.finding is not None))


def total_price(asked: Priced) -> Price:
    """The price that was named for a question: of its measurements, and of finding values before them."""
    found = asked.finding
    return asked.price if found is None else asked.price * (1 + found.amount / amount(asked.price))


def cost(priced: Sequence[Priced]) -> Event:
    """What all questions cost together."""
    measured = bill(*((each.plan, each.price) for each in priced))
    found = list_findings(priced)
    return Composed([*(each.price for each in found), measured]) if found else measured


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
