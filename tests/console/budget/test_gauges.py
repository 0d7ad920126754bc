from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.console.budget.gauges import build_gauge, find_currency
from adomnia.privacy.events import Approximate, Concentrated, Pure
from adomnia.privacy.filters import Budget, Filter

PURE = Filter(Budget(epsilon=2))
BOTH = Filter(Budget(epsilon=2, delta=Fraction(1, 10**6), approximate=True))


def spend(account: Filter, *events) -> Filter:
    for event in events:
        account = account.after(event)
    return account


def test_a_budget_without_delta_has_one_sum():
    gauge = build_gauge(spend(PURE, Pure(0.5)))
    assert (gauge.main.currency.word, gauge.main.spent, gauge.main.left, gauge.main.share) == (
        "epsilon",
        "0.5",
        "1.5",
        0.25,
    )
    assert gauge.others == ()
    assert "no delta" in gauge.held


@pytest.mark.parametrize(
    ("events", "held", "currency"),
    [
        ((), "Two sums are kept", "epsilon"),
        ((Pure(0.01),), "Two sums are kept", "epsilon"),
        ((Pure(1.5),), "sum of rhos is beyond its limit", "epsilon"),
        ((Concentrated(Fraction(1, 100)),), "something was paid in rho", "rho"),
        (tuple(Pure(Fraction(1, 40)) for _ in range(90)), "sum of epsilons is beyond its limit", "rho"),
    ],
)
def test_words_say_which_sum_the_budget_is_held_to(events, held, currency):
    account = spend(BOTH, *events)
    gauge = build_gauge(account)
    assert held in gauge.held
    assert find_currency(account).word == gauge.main.currency.word == currency
    assert {each.currency.word for each in (gauge.main, *gauge.others)} == {"epsilon", "rho", "delta"}
    assert {each.currency.word: each.counts for each in (gauge.main, *gauge.others)} == {
        "epsilon": account.branches().epsilon,
        "rho": account.branches().rho,
        "delta": True,
    }


def test_deltas_are_counted():
    gauge = build_gauge(spend(BOTH, Approximate(Fraction(1, 10), Fraction(1, 10**7))))
    (delta,) = (each for each in gauge.others if each.currency.word == "delta")
    assert (delta.spent, delta.whole, delta.left) == ("1e-7", "5e-7", "4e-7")


def test_what_is_used_up_is_empty_and_what_is_overdrawn_says_so():
    assert not build_gauge(spend(PURE, Pure(1.5))).empty
    full = spend(PURE, Pure(2))
    assert build_gauge(full).empty
    assert build_gauge(full).main.share == 1
    overdrawn = build_gauge(Filter(Budget(epsilon=1), full.spent))
    assert overdrawn.empty
    assert "More was spent" in overdrawn.held
