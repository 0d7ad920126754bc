"""Intervals of sums of noises."""

from __future__ import annotations

import numpy as np
import pytest

from adomnia.methods.synthesis.count_errors import estimate_counts, reach

RANDOM = np.random.default_rng(2)


@pytest.mark.parametrize("weights", [[1.0], [1.0, 1.0], [3.0, 1.0, 1.0], [1.0] * 40])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
def test_sums_of_laplace_noises_stay_within_reach(weights, confidence):
    """False alarms: below one in a million for each, five standard errors of a share of 200,000 draws."""
    draws = RANDOM.laplace(size=(200_000, len(weights))) @ np.array(weights)
    deviation = np.sqrt(2 * np.sum(np.square(weights)))
    inside = np.mean(np.abs(draws) <= reach("laplace", confidence) * deviation)
    assert inside >= confidence - 5 * np.sqrt(confidence * (1 - confidence) / 200_000)


def test_a_normal_reach_would_miss_single_laplace_noises():
    draws = RANDOM.laplace(size=200_000)
    assert np.mean(np.abs(draws) <= reach("gaussian", 0.999) * np.sqrt(2)) < 0.995


def test_intervals_of_many_are_wider():
    estimate = estimate_counts(np.array([5.0]), np.array([4.0]), "gaussian", "least squares")
    lower, upper = estimate.interval(0.95, 1)
    assert upper - lower == pytest.approx(2 * 2 * 1.959964)
    assert estimate.interval(0.95, 100)[1] > upper
