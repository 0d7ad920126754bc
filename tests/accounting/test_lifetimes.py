"""The loss of a person in several datasets: each theorem where it is the least, and never below what must be."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.accounting.calculators import numerical_composition
from adomnia.accounting.lifetimes import SLACK, compose_datasets
from adomnia.privacy.events import Approximate, Pure
from adomnia.privacy.filters import Budget


def losses(*budgets):
    return [loss.total for loss in compose_datasets(budgets)]


def test_one_dataset_costs_what_it_may_spend():
    basic, _, optimal = losses(Budget(1))
    assert (basic.epsilon, basic.delta) == (1, 0)
    assert optimal.epsilon <= 1  # but for the slack
    assert optimal.delta == SLACK


def test_budgets_add_up_and_the_others_take_the_largest_of_them():
    basic, advanced, optimal = losses(Budget(1, 1e-6), Budget(0.5), Budget(0.25, 1e-7))
    assert (basic.epsilon, basic.delta) == (Fraction(7, 4), Fraction(11, 10**7))
    same = losses(*[Budget(1, 1e-6)] * 3)
    assert [advanced, optimal] == same[1:]
    assert advanced.delta == optimal.delta == 3 * Fraction(1, 10**6) + SLACK


def test_many_small_budgets_cost_less_than_their_sum_and_the_optimal_is_the_least():
    basic, advanced, optimal = losses(*[Budget(0.05)] * 100)
    assert optimal.epsilon < advanced.epsilon < basic.epsilon == 5
    few = losses(*[Budget(2)] * 3)
    assert few[2].epsilon <= few[0].epsilon < few[1].epsilon  # where there are few, sums are better than DRV


@pytest.mark.parametrize(
    ("budgets", "bounded"),
    [
        ([Budget(1, 0.5)] * 3, [False, False, False]),  # deltas add up to 1
        ([Budget(1000)] * 3, [True, False, True]),
        ([Budget(10_000, 1e-6)] * 5, [True, False, True]),
        ([Budget(10**6)] * 2, [True, False, False]),
    ],
)
def test_a_theorem_that_says_nothing_is_no_error(budgets, bounded):
    assert [total is not None for total in losses(*budgets)] == bounded


def test_what_is_not_optimal_is_not_called_so():
    """For budgets that differ, the optimum is hard to compute; taking each for the largest is a bound."""
    assert [loss.theorem.endswith("each taken for the largest") for loss in compose_datasets([Budget(1)] * 2)] == [
        False
    ] * 3
    different = compose_datasets([Budget(1), Budget(0.1)])
    assert [loss.theorem.endswith("each taken for the largest") for loss in different] == [False, True, True]


@pytest.mark.parametrize(("epsilon", "delta", "count"), [(0.1, 0, 50), (0.5, 1e-7, 8), (1, 1e-6, 3)])
def test_the_optimal_one_is_what_an_accountant_of_others_finds(epsilon, delta, count):
    budgets = [Budget(epsilon, delta)] * count
    (*_, optimal) = losses(*budgets)
    event = Approximate(epsilon, delta) if delta else Pure(epsilon)
    reference = numerical_composition([event] * count, optimal.delta).epsilon
    assert float(optimal.epsilon) == pytest.approx(float(reference), rel=2e-3)
