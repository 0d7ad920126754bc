"""The exponential mechanism against known answers; the half is dropped only where scores are proved monotone."""

from __future__ import annotations

from fractions import Fraction
from math import log

import numpy as np
import pytest

from adomnia.mechanisms import Exponential, Secret
from adomnia.privacy.events import BoundedRange, Pure
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
    """Scores and sensitivity doubled: the same law on integers."""
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
