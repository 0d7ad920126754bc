"""How a price is split: over the measurements of a question, or of several that are paid together.

Every distinct measurement is paid once. Without weights all get the same part. With weights, an output's part goes
evenly to the measurements that it needs; one that several outputs need gets the largest of its parts, and then all are
scaled to the price, exactly.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256

from adomnia.errors import Refusal
from adomnia.plans.canonical import canonical
from adomnia.plans.formulas import statistics_of
from adomnia.plans.plan import Plan
from adomnia.privacy.amounts import Number, positive
from adomnia.privacy.events import Composed, Event, Price, Pure
from adomnia.privacy.keys import Key
from adomnia.statistics.clipped import Clipped
from adomnia.statistics.contract import Estimate, Measure, Round, Statistic, Steps
from adomnia.statistics.located import Located

_HEAVIEST = Fraction(10**9)
_FINEST = 10**6


@dataclass(frozen=True)
class Uneven:
    """A statistic whose measurements get different portions of its price; they add up to 1."""

    statistic: Statistic
    portions: tuple[Fraction, ...]

    def steps(self, price: Price) -> Steps:
        flow = self.statistic.steps(price)
        asked = next(flow)
        asked = tuple(replace(each, price=price * part) for each, part in zip(asked, self.portions, strict=True))
        while True:
            answers = yield asked
            try:
                asked = flow.send(answers)
            except StopIteration as end:
                estimate: Estimate = end.value
                return estimate

    def event(self, price: Price) -> Event:
        return Composed(price * part for part in self.portions)


def shares(plan: Plan, price: Price) -> tuple[tuple[Statistic, Price], ...]:
    """Each statistic of the plan, in the plan's order, with its part of the price.

    Statistics that need the same measurement are given the same part for it, so that it is measured, and paid, once.
    Their shares then add up to more than the price: what is charged is `event`.
    """
    parts = _parts(plan, price)
    split = (
        _share(statistic, [parts[each] for each in _needed(statistic, price)], price) for statistic in plan.statistics
    )
    return tuple((Clipped(one), part) for one, part in split) if plan.effort == "high" else tuple(split)


def paid(plan: Plan, price: Price) -> Round:
    """Every distinct measurement that a statistic begins with, at the price of all that follows from it."""
    return tuple(replace(each, price=price * part) for each, part in _parts(plan, price).items())


def event(*priced: tuple[Plan, Price]) -> Event:
    """What plans cost together: their measurements composed, and what is equal, price included, once."""
    measured = dict.fromkeys((each, plan.effort) for plan, price in priced for each in paid(plan, price))
    return Composed(each.price for each, _ in measured)


def together(plans: Sequence[Plan], price: Price) -> list[Price]:
    """The parts of one price for several plans: every distinct measurement of all of them costs the same."""
    sizes = [len(_parts(plan, price)) for plan in plans]
    spent = dict.fromkeys(
        (each, plan.effort)
        for plan, size in zip(plans, sizes, strict=True)
        for each in paid(plan, price * Fraction(size))
    )
    times_too_much = sum(amount(each.price) for each, _ in spent) / amount(price)
    return [price * (size / times_too_much) for size in sizes]


def identity(plan: Plan, price: Price, version: int) -> bytes:
    """What an answer is stored under: all that its measurements depend on, each one's price included."""
    alike = plan.identity(price, version)
    if not plan.weights and plan.effort == "normal":
        return alike
    return sha256(alike + canonical((plan.effort, *(each.price for each in paid(plan, price))))).digest()


def weighted(plan: Plan, weights: Mapping[str, Number]) -> Plan:
    """The plan whose price is split over its outputs in these proportions; outputs without a weight have 1.

    Without any weight it is split over the measurements.
    """
    if not weights:
        return plan
    measured = {output.name: output.source for output in plan.outputs if not isinstance(output.source, Key)}
    for name in weights:
        if name not in measured:
            keyed = any(output.name == name for output in plan.outputs)
            why = "is a key, and keys cost nothing" if keyed else "is no output of the question"
            fix = f"give weights to {', '.join(measured)}"
            raise Refusal(f"The weight of {name}", why, fix, code="bad_weight")
    exact = {name: _weight(name, weight) for name, weight in weights.items()}
    return replace(plan, weights=tuple((source, exact.get(name, Fraction(1))) for name, source in measured.items()))


def wanted(plan: Plan, price: Price) -> dict[Measure, Fraction]:
    """Each distinct measurement with how much of it is wanted: the weight of an output goes evenly to what it needs."""
    needed = {statistic: _needed(statistic, price) for statistic in plan.statistics}
    distinct = dict.fromkeys(measure for measures in needed.values() for measure in measures)
    if not plan.weights:
        return dict.fromkeys(distinct, Fraction(1))
    weights = dict(plan.weights)
    amounts = dict.fromkeys(distinct, Fraction(0))
    for term in plan.terms:
        measures = dict.fromkeys(each for statistic in statistics_of(term) for each in needed[statistic])
        for each in measures:
            amounts[each] = max(amounts[each], weights.get(term, Fraction(1)) / len(measures))
    return amounts


def amount(price: Price) -> Fraction:
    """The epsilon or the rho of a price."""
    return price.epsilon if isinstance(price, Pure) else price.rho


def _weight(name: str, weight: Number) -> Fraction:
    try:
        exact = positive(weight, "Plan", "weight")
    except ValueError:
        exact = Fraction(0)
    if not 1 / _HEAVIEST <= exact <= _HEAVIEST:
        why = f"is {weight}, which is not a positive number from 1e-9 to 1e9"
        raise Refusal(f"The weight of {name}", why, f'write weights={{"{name}": 2}}', code="bad_weight")
    # Proportions need no more digits, and parts of a price with thousands of them would fill ledgers.
    return exact if exact.denominator <= _FINEST else Fraction(round(exact * _HEAVIEST)) / _HEAVIEST


def _share(statistic: Statistic, parts: list[Fraction], price: Price) -> tuple[Statistic, Price]:
    whole = sum(parts, start=Fraction(0))
    if isinstance(statistic, Located):
        statistic = replace(statistic, share=parts[0] / whole)
    elif len(set(parts)) > 1:
        statistic = Uneven(statistic, tuple(part / whole for part in parts))
    return statistic, price * whole


def _needed(statistic: Statistic, price: Price) -> Round:
    """What a statistic begins with, all at the same price: equal measurements are then equal."""
    return tuple(replace(measure, price=price) for measure in next(statistic.steps(price)))


def _parts(plan: Plan, price: Price) -> dict[Measure, Fraction]:
    """Each distinct measurement with its part of the price."""
    amounts = wanted(plan, price)
    whole = sum(amounts.values(), start=Fraction(0))
    return {measure: part / whole for measure, part in amounts.items()}
