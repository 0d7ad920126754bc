"""What was spent and what is left of an account, sum by sum, and which of the sums it is held to now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.explaining.balances import say_left
from adomnia.privacy.amounts import DELTA_UNIT, EPSILON_UNIT, show_down, show_up

if TYPE_CHECKING:
    from fractions import Fraction

    from adomnia.privacy.filters import Filter, Spent


@dataclass(frozen=True)
class Currency:
    """What a budget is counted in now, with its sign."""

    word: str
    sign: str


EPSILON, RHO, DELTA = Currency("epsilon", "ε"), Currency("rho", "ρ"), Currency("delta", "δ")


@dataclass(frozen=True)
class SumGauge:
    """One sum of an account. `counts`: it is within its limit, so that questions can be paid by it."""

    currency: Currency
    spent: str
    whole: str
    left: str
    share: float
    counts: bool


@dataclass(frozen=True)
class Gauge:
    """An account: the sum that it is held to first, then the others; in words which that is, and what is left."""

    main: SumGauge
    others: tuple[SumGauge, ...]
    held: str
    left: str
    empty: bool


def find_currency(account: Filter) -> Currency:
    """Epsilon while that sum is within its limit, or where there is no other; else rho."""
    return EPSILON if account.branches().epsilon or not account.budget.rho else RHO


def count_units(spent: Spent, currency: Currency) -> int:
    """What was spent of epsilon or rho, in whole units."""
    return spent.epsilon_units if currency is EPSILON else spent.rho_units


def build_gauge(account: Filter) -> Gauge:
    """The gauge of an account."""
    budget, spent, within, left = account.budget, account.spent, account.branches(), account.left()
    sums = [_sum(EPSILON, spent.epsilon_units * EPSILON_UNIT, budget.epsilon, left.epsilon, within.epsilon)]
    if budget.rho:
        sums.append(_sum(RHO, spent.rho_units * EPSILON_UNIT, budget.rho, left.rho, within.rho))
    if budget.approximate and budget.event_delta:
        sums.append(_sum(DELTA, spent.delta_units * DELTA_UNIT, budget.event_delta, left.delta, any(within)))
    main = next(each for each in sums if each.currency is find_currency(account))
    others = tuple(each for each in sums if each is not main)
    return Gauge(main, others, _say_held(account), say_left(account), not left.epsilon and not left.rho)


def _sum(currency: Currency, spent: Fraction, whole: Fraction, left: Fraction, counts: bool) -> SumGauge:
    share = min(float(spent / whole), 1.0) if whole else 1.0
    return SumGauge(currency, show_up(spent), show_down(whole), show_down(left), share, counts)


def _say_held(account: Filter) -> str:
    """Which of its sums an account is held to now, and why."""
    budget, spent, within = account.budget, account.spent, account.branches()
    if not any(within):
        return "More was spent than the budget is now, so that nothing can be paid."
    if not budget.rho:
        return "It is held to the sum of all epsilons, because it has no delta."
    if all(within):
        return "Two sums are kept, of epsilons and of rhos. It is enough that one of them stays within its limit."
    if within.epsilon:
        return "It is held to the sum of all epsilons: the sum of rhos is beyond its limit."
    if spent.in_epsilon:
        return "It is held to the sum of all rhos: the sum of epsilons is beyond its limit."
    return "It is held to the sum of all rhos, because something was paid in rho, which has no epsilon."
