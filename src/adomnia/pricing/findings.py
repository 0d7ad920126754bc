"""What it costs to find the values of keys that nobody declared, and how they are found."""

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from adomnia.catalog.model import Catalog
from adomnia.errors import Refusal
from adomnia.mechanisms.threshold import KeyPrice
from adomnia.messages.references import Option, Setting
from adomnia.messages.texts import Message, write
from adomnia.plans.plan import Plan
from adomnia.plans.undeclared import KeyDiscovery
from adomnia.pricing.parts import amount
from adomnia.pricing.questions import Priced
from adomnia.privacy.amounts import DELTA_UNIT, Number
from adomnia.privacy.events import Price, Pure, add_delta
from adomnia.privacy.keys import Names, is_open
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import recap
from adomnia.privacy.scans import People

UNPRICED = Fraction(1, 10**9)  # what a plan is shown with as long as nobody named one


def explain_need(catalog: Catalog) -> str:
    """What it takes to have values found."""
    if catalog.budget.approximate:
        return write("have those found that enough people share: add {delta=1e-9}")
    return write("have them found: {first} add {delta=1e-9}", first=Setting("approximate_first"))


def price_finding(plan: Plan, part: Price, delta: Number, catalog: Catalog) -> KeyDiscovery:
    """How the values of a plan's open keys are found, for the price of one of its measurements and delta.

    With Laplace noise one row of a person in each table is enough: with more, the threshold rises faster than the
    number of people who are seen to have a value (docs/proofs/threshold.md).
    """
    open_keys = tuple(filter(is_open, plan.keys))
    if not open_keys:
        why = "pays for finding the values of keys, and all keys of this question are declared"
        raise Refusal(write("{delta=}"), why, "leave it out", code="bad_price")
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


def total_price(asked: Priced) -> Price:
    """The price that was named for a question: of its measurements, and of finding values before them."""
    found = asked.finding
    return asked.price if found is None else asked.price * (1 + found.amount / amount(asked.price))


def refuse_delta(delta: Number, most: str) -> Refusal:
    """The refusal of a delta that is not between what is counted and what is allowed."""
    named, fix = Message(Option("delta", str(delta))), write("write {delta=1e-9}")
    return Refusal(named, f"is not between 1e-30 and {most}", fix, code="bad_price")
