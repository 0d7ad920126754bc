"""The share of two noisy sums: its interval covers whatever the sums are, and at a false-alarm rate of 1e-6 a test."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.distributions.ratios import share_bounds
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.noise import discrete_laplace
from adomnia.statistics.contract import Measured
from kit.bits import SeededBits
from kit.spreads import at_most

NOISE = DiscreteLaplace(Fraction(500))
DRAWS = 10_000


def bounds(part, rest, wider=1, confidence=0.95):
    noise = discrete_laplace(NOISE.scale * wider, (2, DRAWS), SeededBits(1))
    return share_bounds(Measured(part + noise[0], NOISE), Measured(rest + noise[1], NOISE), confidence, 1)


@pytest.mark.parametrize(("part", "rest"), [(0, 0), (0, 900), (5000, 5000), (20_000, 100), (100, 20_000), (900, 300)])
def test_it_covers_the_share_at_every_size(part, rest):
    lower, upper = bounds(part, rest)
    share = part / (part + rest) if part + rest else 0.3
    assert at_most(int(((lower <= share) & (share <= upper)).sum()), DRAWS) >= 0.95
    fits = lower <= upper
    assert (lower[fits] >= 0).all()
    assert (upper[fits] <= 1).all()


def test_it_is_no_wider_than_the_distribution_of_the_share():
    lower, upper = bounds(50_000, 30_000)
    noise = discrete_laplace(NOISE.scale, (2, DRAWS), SeededBits(2))
    part, rest = 50_000 + noise[0], 30_000 + noise[1]
    low, high = np.quantile(part / (part + rest), [0.025, 0.975])
    assert (upper - lower).mean() < 1.06 * (high - low)


def test_noise_twice_as_wide_as_stated_is_found_out():
    lower, upper = bounds(50_000, 30_000, wider=2)
    assert at_most(int(((lower <= 0.625) & (upper >= 0.625)).sum()), DRAWS) < 0.9


def test_where_no_share_fits_the_interval_is_beside_the_nearest_one_and_never_as_if_it_were_exact():
    seen = ([-9_000, 45_000], [45_000, -9_000])
    lower, upper = share_bounds(*(Measured(np.array(each), NOISE) for each in seen), 0.95, 1)
    (inside_lower,), (inside_upper,) = share_bounds(*(Measured(np.array([n]), NOISE) for n in (4_000, 41_000)), 0.95, 1)
    width = inside_upper - inside_lower
    assert (lower[0], upper[1]) == (0.0, 1.0)
    assert upper[0] == pytest.approx(1 - lower[1])
    assert 0.05 * width < upper[0] < width
