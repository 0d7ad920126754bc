"""Intervals of noise whose variance is known hold as often as they say."""

import numpy as np
import pytest

from adomnia.releases.reach import NoisyPair, count_deviations

MANY = 40_000


@pytest.mark.parametrize("weights", [(1.0,), (1.0, 1.0), (5.0, 1.0, 1.0), (1.0,) * 12, (3.0, 2.0, 1.0, 0.5)])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
def test_a_sum_of_laplace_noise_is_within_its_reach_as_often_as_said(weights, confidence):
    """Of 40,000 sums, five standard deviations below the stated share: a right one fails once in three million runs."""
    noise = np.random.default_rng(1).laplace(size=(MANY, len(weights))) @ np.array(weights)
    error = np.sqrt(2 * np.sum(np.square(weights)))
    held = (np.abs(noise) <= count_deviations("laplace", confidence, 1) * error).mean()
    assert held >= confidence - 5 * np.sqrt(confidence * (1 - confidence) / MANY)


def test_the_reach_of_gaussian_noise_would_be_too_short_for_one_laplace_noise():
    noise = np.random.default_rng(2).laplace(size=MANY)
    held = (np.abs(noise) <= count_deviations("gaussian", 0.999, 1) * np.sqrt(2)).mean()
    assert held < 0.999 - 5 * np.sqrt(0.999 * 0.001 / MANY)


@pytest.mark.parametrize("tails", ["gaussian", "laplace"])
def test_many_sums_at_once_are_held_together_however_they_depend_on_each_other(tails):
    generator = np.random.default_rng(3)
    draw = generator.normal if tails == "gaussian" else generator.laplace
    mixed = generator.normal(size=(6, 10))
    noise = draw(size=(MANY, 6)) @ mixed
    errors = np.sqrt((1 if tails == "gaussian" else 2) * np.square(mixed).sum(axis=0))
    held = (np.abs(noise) <= count_deviations(tails, 0.9, 10) * errors).all(axis=1).mean()
    assert held >= 0.9 - 5 * np.sqrt(0.09 / MANY)
    assert (np.abs(noise) <= count_deviations(tails, 0.9, 1) * errors).all(axis=1).mean() < 0.85


@pytest.mark.parametrize("whole", [400.0, 12.0])
def test_a_ratio_is_held_as_often_as_said_where_both_sums_share_noise(whole):
    generator = np.random.default_rng(4)
    covariance = np.array([[9.0, 6.0], [6.0, 16.0]])
    noise = generator.multivariate_normal((0, 0), covariance, MANY)
    above, below = 0.3 * whole + noise[:, 0], whole + noise[:, 1]
    errors = (np.full(MANY, 3.0), np.full(MANY, 4.0))

    def held(shared: np.ndarray | None) -> float:
        lower, upper = NoisyPair(above, below, *errors, shared).bound_ratio(count_deviations("gaussian", 0.95, 1))
        return float(((lower <= 0.3) & (upper >= 0.3)).mean())

    # Where the divisor may be zero, all ratios fit, and more are held.
    margin = 5 * np.sqrt(0.0475 / MANY)
    assert held(np.full(MANY, 6.0)) >= 0.95 - margin
    assert held(None) > 0.95 + margin  # of which nothing is known
    if whole > 100:
        assert held(np.full(MANY, 6.0)) <= 0.95 + margin
        assert held(np.full(MANY, 10.0)) < 0.95 - margin  # of a wrong covariance they are found out
