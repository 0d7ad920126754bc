"""Weights: how a question has its price split over its outputs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from adomnia.catalog.model import Catalog
from adomnia.errors import Refusal
from adomnia.messages.references import Option
from adomnia.messages.texts import Message
from adomnia.plans.plan import Plan
from adomnia.pricing.questions import PlannedQuestion
from adomnia.privacy.amounts import Number, positive
from adomnia.privacy.events import Price
from adomnia.privacy.keys import Key

_HEAVIEST = Fraction(10**9)
_FINEST = 10**6


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
