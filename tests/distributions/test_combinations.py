"""How far a sum of noises goes, beside laws that are known or summed up exactly."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import exp, log

import numpy as np
import pytest

from adomnia.distributions.combinations import farthest, saddlepoint_margin
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace

UNIT = 1000  # steps to a unit: fine enough for a convolution to be nearly continuous
OPEN = (0.5, 0.1, 0.05, 0.01, 1e-3, 1e-6)


def laplace(scales):
    return [DiscreteLaplace(Fraction(scale)) for scale in scales]


def reach(noises, coefficients, alpha):
    return float(farthest(noises, [np.asarray(float(each)) for each in coefficients], alpha))


def tail(scales, limit):
    """P[|sum| > limit] of continuous Laplace noises, by convolving their masses on a fine grid."""
    step, width = max(scales) / 100, 6000
    cells = np.arange(-width, width + 1) * step
    spectrum = np.ones(4 * width + 1, dtype=complex)
    for scale in scales:
        masses = np.exp(-np.abs(cells) / scale)
        spectrum = spectrum * np.fft.fft(masses / masses.sum(), 4 * width + 1)
    simultaneous = np.real(np.fft.ifft(spectrum))
    start = len(scales) * width  # where zero came to lie
    places = (np.arange(4 * width + 1) - start) % (4 * width + 1)
    distances = np.minimum(places, 4 * width + 1 - places) * step
    return float(simultaneous[distances > limit].sum())


SCALES = [(1,), (1, 1), (1, 1, 1), (1, 1, 1, 1, 1, 1), (5, 2, 1), (3, 1, 1, 0.9), (1, 2, 4, 8)]


@pytest.mark.parametrize("scales", SCALES, ids=str)
@pytest.mark.parametrize("alpha", [0.5, 0.05, 1e-3])
def test_laplace_noises_pass_their_reach_as_often_as_is_left_open_and_hardly_less(scales, alpha):
    found = reach(laplace(UNIT * Fraction(scale) for scale in scales), [1 / UNIT] * len(scales), alpha)
    assert tail(scales, found) <= alpha * 1.02
    assert tail(scales, found * 0.95) > alpha


@pytest.mark.parametrize("alpha", [0.5, 0.05, 1e-6, 1e-9, 1e-12])
def test_one_laplace_noise_has_its_own_law(alpha):
    assert reach(laplace([10**6]), [2], alpha) == pytest.approx(2e6 * log(1 / alpha) + 1, rel=1e-6)


def test_what_is_rarer_is_farther_away_beyond_what_doubles_can_tell_apart():
    reaches = [reach(laplace([100] * 4), [1] * 4, 10.0**-power) for power in range(1, 13)]
    steps = [after - before for before, after in pairwise(reaches)]
    assert all(step > 100 * log(10) for step in steps)
    assert steps[-1] < 1.3 * 100 * log(10)


def test_gaussian_noises_add_up_by_their_variances():
    noises = [DiscreteGaussian(Fraction(9)), DiscreteGaussian(Fraction(4))]
    assert reach(noises, [2, -3], 0.05) == pytest.approx(1.959964 * (36 + 36) ** 0.5 + 1.5, rel=1e-6)


def test_noises_of_different_tails_are_boxed():
    noises = [DiscreteLaplace(Fraction(1)), DiscreteGaussian(Fraction(1))]
    widths = [noise.interval(0.95, cells=2).half_width for noise in noises]
    assert reach(noises, [1, -3], 0.05) == pytest.approx(widths[0] + 3 * widths[1] + 1.5)


def test_half_of_the_coarsest_unit_covers_that_noise_is_whole():
    """P[|noise| >= k] of the discrete law is at most that of the continuous one from k - 1/2 on."""
    noise = DiscreteLaplace(Fraction(1, 2))
    for alpha in (0.3, 0.05, 0.01, 1e-4):
        limit = reach([noise], [1], alpha)
        beyond = 2 * sum(noise.probability(k) for k in range(int(limit) + 1, 80))
        assert beyond <= alpha
    assert 2 * exp(-2 * 1) / (1 + exp(-2)) > exp(-2 * 1)  # without the half it would not be


def test_each_cell_has_its_own_coefficients_and_zero_is_allowed():
    found = farthest(laplace([1000, 1000]), [np.array([1.0, 0.0, 0.0]), np.array([0.0, 2.0, 0.0])], 0.05)
    assert found[0] == pytest.approx(1000 * log(20) + 0.5, rel=1e-3)
    assert found[1] == pytest.approx(2000 * log(20) + 1, rel=1e-3)
    assert found[2] == 0


def exact_tail(scales, reach):
    """P[|sum| > reach] of scales that differ, by partial fractions."""
    squares = scales**2
    weights = [np.prod([one / (one - other) for other in squares if other != one]) for one in squares]
    return float(np.sum(np.array(weights) * np.exp(-reach / scales)))


def some_scales():
    random = np.random.default_rng(0)
    for count in (1, 2, 3, 4, 5, 6):
        for _ in range(30):
            scales = np.sort(random.uniform(0, 1, count) ** random.choice([1, 3]))
            for place in range(1, count):
                scales[place] = max(scales[place], scales[place - 1] * 1.05)
            yield scales / scales.max()


@pytest.mark.parametrize("alpha", OPEN)
def test_what_is_left_open_is_at_most_what_was_asked_and_hardly_less(alpha):
    for scales in some_scales():
        reach = float(saddlepoint_margin(scales[:, None], alpha, [1] * len(scales))[0])
        assert 0.9 * alpha < exact_tail(scales, reach) <= alpha


def test_many_equal_scales_lose_no_digits():
    nine = float(saddlepoint_margin(np.ones((9, 1)), 0.05, [1] * 9)[0])
    random = np.random.default_rng(1)
    sums = np.abs(random.laplace(size=(400_000, 9)).sum(axis=1))
    assert abs((sums > nine).mean() - 0.05) < 0.002  # six deviations of the share, and 2.5% of it


def test_cells_are_told_apart():
    scales = np.array([[1.0, 1.0], [1e-6, 1.0], [0.0, 0.5]])
    one, three = saddlepoint_margin(scales, 0.05, [1] * len(scales))
    assert one == pytest.approx(3.0, rel=0.03)
    assert three > 1.3 * one
