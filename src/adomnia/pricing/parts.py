"""How a price is split: over the outputs of a question by their weights, over queries, and over several questions."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from types import MappingProxyType
from typing import TypeAlias

from adomnia.catalog.model import Catalog
from adomnia.errors import Refusal
from adomnia.messages.references import Option
from adomnia.messages.texts import Message
from adomnia.plans.formulas import statistics_of
from adomnia.plans.plan import Plan, canonical
from adomnia.pricing.questions import PlannedQuestion, Priced, list_findings
from adomnia.privacy.amounts import Number, positive
from adomnia.privacy.events import AnyPrice, Composed, Concentrated, Event, Price
from adomnia.privacy.keys import Key
from adomnia.privacy.queries import Query
from adomnia.statistics.clipped import Clipped
from adomnia.statistics.contract import Statistic

_KEPT = 256  # plans of which the split is remembered: every question asks for it several times

Start: TypeAlias = tuple[Query, Hashable]  # a query, and how statistics go on from it
_HEAVIEST = Fraction(10**9)
_FINEST = 10**6


@lru_cache(maxsize=_KEPT)
def split_price(plan: Plan, price: Price) -> tuple[tuple[Statistic, Price], ...]:
    """Each statistic of the plan, in the plan's order, with its part of the price.

    Statistics that start from the same query are given the same part for it, so that it is measured, and paid, once.
    Their parts then add up to more than the price: what is charged is `bill`.
    """
    portions = portion(plan)
    split = (_share(statistic, [portions[each] for each in _starts(statistic)], price) for statistic in plan.statistics)
    return tuple((Clipped(one), part) for one, part in split) if plan.effort == "high" else tuple(split)


@lru_cache(maxsize=_KEPT)
def bill(*priced: tuple[Plan, Price]) -> Event:
    """What plans cost together: the events of their statistics, and what two of them share once."""
    return Composed(event for _, event in dict.fromkeys(each for pair in priced for each in _charges(*pair)))


def cost(priced: Sequence[Priced]) -> Event:
    """What all questions cost together."""
    measured = bill(*((each.plan, each.price) for each in priced))
    found = list_findings(priced)
    return Composed([*(each.price for each in found), measured]) if found else measured


def split_together(plans: Sequence[Plan], price: Price) -> list[Price]:
    """The parts of one price for several plans: every distinct query of all of them costs the same."""
    return list(_split_together(tuple(plans), price))


@lru_cache(maxsize=_KEPT)
def _split_together(plans: tuple[Plan, ...], price: Price) -> tuple[Price, ...]:
    spent = dict.fromkeys(each for plan in plans for each in _parts_as_charged(plan, price))
    times_too_much = sum((part for _, part in spent), start=Fraction(0))
    return tuple(_take(price, len(portion(plan)) / times_too_much) for plan in plans)


def identify(plan: Plan, price: Price, version: int) -> bytes:
    """What an answer is stored under: all that its measurements depend on, each one's price included."""
    alike = plan.identity(price, version)
    if not plan.weights and plan.effort == "normal":
        return alike
    return sha256(alike + canonical((plan.effort, *(price * part for part in portion(plan).values())))).digest()


@lru_cache(maxsize=_KEPT)
def portion(plan: Plan) -> Mapping[Start, Fraction]:
    """Each query that the plan starts from with its part of the price; they add up to 1."""
    amounts = weigh_starts(plan)
    whole = sum(amounts.values(), start=Fraction(0))
    return MappingProxyType({start: part / whole for start, part in amounts.items()})


def weigh_starts(plan: Plan) -> dict[Start, Fraction]:
    """Each query with how much of it is wanted: the weight of an output goes evenly to what it needs."""
    needed = {statistic: _starts(statistic) for statistic in plan.statistics}
    distinct = dict.fromkeys(start for starts in needed.values() for start in starts)
    if not plan.weights:
        return dict.fromkeys(distinct, Fraction(1))
    weights = dict(plan.weights)
    amounts = dict.fromkeys(distinct, Fraction(0))
    for term in plan.terms:
        starts = dict.fromkeys(each for statistic in statistics_of(term) for each in needed[statistic])
        for each in starts:
            amounts[each] = max(amounts[each], weights.get(term, Fraction(1)) / len(starts))
    return amounts


def amount(price: AnyPrice) -> Fraction:
    """The epsilon or the rho of a price."""
    return price.rho if isinstance(price, Concentrated) else price.epsilon


def _starts(statistic: Statistic) -> tuple[Start, ...]:
    return tuple(zip(statistic.queries, statistic.continuations, strict=True))


def _charges(plan: Plan, price: Price) -> Iterator[tuple[Start, Event]]:
    for statistic, part in split_price(plan, price):
        yield from zip(_starts(statistic), statistic.event(part).events, strict=True)


def _parts_as_charged(plan: Plan, price: Price) -> Iterator[tuple[Start, Fraction]]:
    """What statistics start from once the price is split, as in `bill`, with its part of as much for every query."""
    parts = portion(plan)
    for statistic, (split, _) in zip(plan.statistics, split_price(plan, price), strict=True):
        for start, charged in zip(_starts(statistic), _starts(split), strict=True):
            yield charged, parts[start] * len(parts)


def _share(statistic: Statistic, parts: list[Fraction], price: Price) -> tuple[Statistic, Price]:
    whole = sum(parts, start=Fraction(0))
    if len(set(parts)) > 1:
        statistic = statistic.split(tuple(part / whole for part in parts))
    return statistic, _take(price, whole)


def _take(price: Price, part: Fraction) -> Price:
    return price if part == 1 else price * part  # which most questions are: of one measurement


def apply_weights(drafts: Sequence[PlannedQuestion], _price: Price, _catalog: Catalog) -> list[PlannedQuestion]:
    """Rule: a price is split as its question says."""
    return [replace(each, plan=weigh_outputs(each.plan, each.question.weights or {})) for each in drafts]


def weigh_outputs(plan: Plan, weights: Mapping[str, Number]) -> Plan:
    """The plan whose price is split over its outputs in these proportions; outputs without a weight have 1.

    Without any weight it is split over the queries.
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
    exact = {name: _read_weight(name, weight) for name, weight in weights.items()}
    return replace(plan, weights=tuple((source, exact.get(name, Fraction(1))) for name, source in measured.items()))


def _read_weight(name: str, weight: Number) -> Fraction:
    try:
        exact = positive(weight, "Plan", "weight")
    except ValueError:
        exact = Fraction(0)
    if not 1 / _HEAVIEST <= exact <= _HEAVIEST:
        why = f"is {weight}, which is not a positive number from 1e-9 to 1e9"
        fix = Message("write ", Option("weights", ((name, "2"),)))
        raise Refusal(f"The weight of {name}", why, fix, code="bad_weight")
    # Proportions need no more digits, and parts of a price with thousands of them would fill ledgers.
    return exact if exact.denominator <= _FINEST else Fraction(round(exact * _HEAVIEST)) / _HEAVIEST
