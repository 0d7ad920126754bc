"""The exponential mechanism against known answers; the half is dropped only where scores are proved monotone."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import log, log1p

import numpy as np
import pytest

from adomnia.mechanisms import Exponential, Secret
from adomnia.privacy.events import Approximate, BoundedRange, Concentrated, Pure
from adomnia.privacy.losses import covers, loss
from adomnia.privacy.sensitivity import Sensitivity
from kit.bits import SeededBits

ONE = Sensitivity(l1=1)


def test_the_vector_of_four_candidates_holds(vectors):
    known = vectors["exponential"]
    choice = Exponential.calibrated(ONE, Pure(known["eps"]))
    probabilities = choice.probabilities(np.array(known["q"]))
    assert probabilities == pytest.approx(known["em"], rel=1e-12)
    error = sum(probability * (4 - score) for probability, score in zip(probabilities, known["q"], strict=True))
    assert error == pytest.approx(known["E_err_em"], rel=1e-12)


def test_the_quantile_grid_vector_holds(vectors):
    """Scores and sensitivity doubled: the same distribution on integers."""
    known = vectors["quantile_em_grid"]
    scores = np.array([round(2 * score) for score in known["score"]])
    choice = Exponential.calibrated(Sensitivity(l1=2 * known["Delta"]), Pure(known["eps"]))
    assert choice.probabilities(scores) == pytest.approx(known["probs"], abs=1e-6)


def test_the_factor_of_one_half_is_dropped_for_monotone_scores_alone():
    assert Exponential.calibrated(ONE, Pure(1)).rate == Fraction(1, 2)
    assert Exponential.calibrated(Sensitivity(l1=1, monotone=True), Pure(1)).rate == 1
    assert Exponential(Fraction(1)).event(ONE) == BoundedRange(2)
    assert Exponential(Fraction(1)).event(Sensitivity(l1=1, monotone=True)) == BoundedRange(1)


def test_calibration_uses_the_largest_move_of_one_score():
    assert Exponential.calibrated(Sensitivity(l1=100, l2_squared=100, linf=1), Pure(1)).rate == Fraction(1, 2)
    assert Exponential.calibrated(Sensitivity(l1=100, l2_squared=100, linf=10), Pure(1)).rate == Fraction(1, 20)


def test_without_the_half_scores_that_move_both_ways_would_cost_twice_the_price():
    """One candidate up and the others down: the counter-example behind the factor."""
    sharp = Exponential(Fraction(1))  # what a dropped factor would use for epsilon 1
    before = sharp.probabilities(np.array([-50, 0, 0]))
    after = sharp.probabilities(np.array([-49, -1, -1]))
    assert log(after[0] / before[0]) == pytest.approx(2, abs=1e-9)


@pytest.mark.parametrize("gap", [10**6, 2**61])
def test_score_gaps_that_underflow_floats_choose_the_best(gap):
    choice = Exponential.calibrated(ONE, Pure(1))
    scores = np.array([-gap, 0, -gap])
    assert choice.probabilities(scores).tolist() == [0, 1, 0]
    secret = Secret(scores, ONE, choice.event(ONE))
    assert choice.release(secret, SeededBits(gap)) == 1


def test_scores_that_were_saturated_still_choose(seeded_bits):
    choice = Exponential.calibrated(ONE, Pure(1))
    for scores in ([2**63 - 1, 2**63 - 1], [-(2**63), 2**63 - 1]):
        assert choice.release(Secret(np.array(scores), ONE, choice.event(ONE)), seeded_bits) in (0, 1)


AMOUNTS = [Fraction(text) for text in ("1e-30", "1/1000", "1/8", "1/7", "1/3", "1/2", "1", "2", "9/8", "17", "1e9")]


@pytest.mark.parametrize("rho", AMOUNTS, ids=str)
@pytest.mark.parametrize(
    "sensitivity", [ONE, Sensitivity(3, monotone=True), Sensitivity(9, 27, Fraction(7, 3))], ids=["1", "3", "7/3"]
)
def test_a_choice_bought_with_rho_costs_no_more_and_hardly_less(rho, sensitivity):
    event = Exponential.calibrated(sensitivity, Concentrated(rho)).event(sensitivity)
    assert covers(Concentrated(rho), event)
    assert loss(event).rho >= rho * (1 - Fraction(1, 10**40))


@pytest.mark.parametrize(("rho", "epsilon"), [(Fraction(1, 8), 1), (Fraction(1, 2), 2), (2, 4), (Fraction(9, 8), 3)])
def test_a_root_that_is_rational_is_bought_whole(rho, epsilon):
    assert Exponential.calibrated(ONE, Concentrated(rho)).event(ONE) == BoundedRange(epsilon)


def divergence(one, other, order):
    """That of Renyi, of two distributions on the same candidates."""
    return log1p(float(np.sum(one**order * other ** (1 - order))) - 1) / (order - 1)


def most_divergence(epsilon, order):
    """Over all scores of three candidates that are apart by at most 4, and all moves by at most one each."""
    choice = Exponential(Fraction(epsilon) / 2)
    changes = [
        (choice.probabilities(np.array([0, *scores])), choice.probabilities(np.array([0, *scores]) + moved))
        for scores, moved in product(product((0, 1, 4), repeat=2), product((-1, 0, 1), repeat=3))
    ]
    return max(divergence(one, other, order) for one, other in changes)


@pytest.mark.parametrize("rho", ["1/200", "1/8", "1/2", "3"])
@pytest.mark.parametrize("order", [1.0001, 1.5, 2, 5, 30])
def test_the_distribution_on_neighbours_is_as_concentrated_as_was_paid(rho, order):
    """Of every order no more than rho times it; twice the epsilon would be above that."""
    epsilon = Exponential.calibrated(ONE, Concentrated(Fraction(rho))).event(ONE).epsilon
    assert most_divergence(epsilon, order) <= float(Fraction(rho)) * order * (1 + 1e-9)


@pytest.mark.parametrize("rho", ["1/200", "1/8"])
def test_twice_the_epsilon_would_not_be(rho):
    epsilon = Exponential.calibrated(ONE, Concentrated(Fraction(rho))).event(ONE).epsilon
    assert most_divergence(2 * epsilon, 2) > float(Fraction(rho)) * 2


def test_it_is_bought_with_epsilon_or_rho_alone():
    with pytest.raises(TypeError, match=r"bought with Pure\(epsilon\) or Concentrated\(rho\)"):
        Exponential.calibrated(ONE, Approximate(1, Fraction(1, 10**6)))
