"""Ratios of two noisy numbers are held as often as said."""

import numpy as np
import pytest

from adomnia.distributions.fieller import NoisyPair, fieller
from adomnia.distributions.margins import margin

MANY = 40_000


@pytest.mark.parametrize("whole", [400.0, 12.0])
def test_a_ratio_is_held_as_often_as_said_where_both_sums_share_noise(whole):
    generator = np.random.default_rng(4)
    covariance = np.array([[9.0, 6.0], [6.0, 16.0]])
    noise = generator.multivariate_normal((0, 0), covariance, MANY)
    above, below = 0.3 * whole + noise[:, 0], whole + noise[:, 1]
    errors = (np.full(MANY, 3.0), np.full(MANY, 4.0))

    def held(shared: np.ndarray | None) -> float:
        lower, upper = NoisyPair(above, below, *errors, shared).bound_ratio(margin("gaussian", 0.05))
        return float(((lower <= 0.3) & (upper >= 0.3)).mean())

    # Where the divisor may be zero, all ratios fit, and more are held.
    slack = 5 * np.sqrt(0.0475 / MANY)
    assert held(np.full(MANY, 6.0)) >= 0.95 - slack
    assert held(None) > 0.95 + slack  # of which nothing is known
    if whole > 100:
        assert held(np.full(MANY, 6.0)) <= 0.95 + slack
        assert held(np.full(MANY, 10.0)) < 0.95 - slack  # of a wrong covariance they are found out


def test_a_divisor_below_zero_is_one_above_it_turned_round():
    one, zero = np.ones(1), np.zeros(1)
    ends = [NoisyPair(side * 3.0, side * 9.0, one, one, zero).bound_ratio(2.0) for side in (one, -one)]
    assert ends[0] == ends[1]


def test_a_divisor_that_may_be_noise_has_infinite_ends_unless_some_of_it_is_taken_for_granted():
    known = fieller(np.array(3.0), np.array(1.0), (1.0, 0.0, 1.0), 2.0)
    floored = fieller(np.array(3.0), np.array(1.0), (1.0, 0.0, 1.0), 2.0, floor=0.25)
    assert [float(end) for end in known] == [-np.inf, np.inf]
    assert np.isfinite(floored).all()
    assert floored[0] < 3 < floored[1]


def test_a_floor_below_the_square_changes_nothing():
    asked = (np.array(10.0), np.array(5.0), (1.0, 0.5, 1.0), 2.0)
    assert fieller(*asked) == fieller(*asked, floor=20.0) != fieller(*asked, floor=24.0)
