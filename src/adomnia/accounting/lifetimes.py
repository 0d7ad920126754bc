"""What a person loses who is in several datasets, if each of them spends all that it may; docs/proofs/calculators.md.

Each dataset is one interactive mechanism with the guarantee of its budget. Such mechanisms compose as if each were
asked once, also when analysts go back and forth between them: Vadhan & Wang 2021, Lyu 2022, Vadhan & Zhang 2023.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from adomnia.accounting.calculators import advanced_composition, basic_composition, optimal_composition
from adomnia.privacy.events import Approximate, Pure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adomnia.privacy.filters import Budget

__all__ = ["SLACK", "LifetimeLoss", "compose_datasets"]

SLACK = Fraction(1, 10**6)  # the probability with which the loss may be larger, beside the datasets' own deltas


@dataclass(frozen=True)
class LifetimeLoss:
    """The loss of a person in all datasets by one theorem: its name, and the total (None: it bounds nothing)."""

    theorem: str
    total: Approximate | None


def compose_datasets(budgets: Sequence[Budget]) -> list[LifetimeLoss]:
    """The lifetime loss by three theorems; the latter two take each dataset for the one with the largest budget.

    >>> from adomnia.privacy.filters import Budget
    >>> [round(float(each.total.epsilon), 2) for each in compose_datasets([Budget(0.1)] * 50)]
    [5.0, 4.24, 3.17]
    """
    count, equal = len(budgets), len({(each.epsilon, each.delta) for each in budgets}) == 1
    epsilon, delta = max(each.epsilon for each in budgets), max(each.delta for each in budgets)
    events = [Approximate(each.epsilon, each.delta) if each.delta else Pure(each.epsilon) for each in budgets]
    theorems: dict[str, Callable[[], Approximate]] = {
        "basic": lambda: basic_composition(events),
        "advanced (Dwork, Rothblum and Vadhan)": lambda: advanced_composition(epsilon, delta, count, SLACK),
        "optimal (Kairouz, Oh and Viswanath)": lambda: optimal_composition(
            epsilon, delta, count, count * delta + SLACK
        ),
    }
    taken = "" if equal else ", each taken for the largest"
    return [LifetimeLoss(name + taken * (name != "basic"), _bound(compose)) for name, compose in theorems.items()]


def _bound(compose: Callable[[], Approximate]) -> Approximate | None:
    """The total; None where deltas add up to 1, or an epsilon is so large that its exponential is no number."""
    try:
        return compose()
    except ValueError:
        return None
