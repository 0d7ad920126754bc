"""How far a sum of noises goes, beside distributions that are known or summed up exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import exp, log

import numpy as np
import pytest

from adomnia.distributions.combinations import SummedNoise, farthest, round_noise, saddlepoint_margin, sum_noise
from adomnia.distributions.ratios import critical_value
from adomnia.distributions.simulations import draw_again
from adomnia.distributions.tulap import smooth_cdf
from adomnia.mechanisms.contract import Continuous, Cumulants, narrowest
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace

UNIT = 1000  # steps to a unit: fine enough for a convolution to be nearly continuous
OPEN = (0.5, 0.1, 0.05, 0.01, 1e-3, 1e-6)
LAPLACE = DiscreteLaplace(Fraction(4))
DRAWS = 40_000
MOST = 0.0555  # of 40,000 sums, more beyond their 95% with a probability below 1e-6


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
def test_one_laplace_noise_has_its_own_distribution(alpha):
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
    """P[|noise| >= k] of the discrete distribution is at most that of the continuous one from k - 1/2 on."""
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


def draws(times):
    rng, share = np.random.default_rng(times), 1 - np.exp(-1 / 4)
    return sum(rng.geometric(share, DRAWS) - rng.geometric(share, DRAWS) for _ in range(times))


@pytest.mark.parametrize("times", [2, 5, 7, 30])
def test_a_sum_stays_within_its_interval_as_often_as_it_says(times):
    reach = sum_noise(LAPLACE, times).interval(0.95).half_width
    beyond = (np.abs(draws(times)) > reach).mean()
    assert 0.03 < beyond <= MOST


def test_a_sum_of_two_kinds_stays_within_its_critical_value():
    five, own = sum_noise(LAPLACE, 5), draws(1)
    limit = critical_value(LAPLACE, five, 0.5, 0.05)
    beyond = (np.abs(own + 0.5 * np.random.default_rng(3).permutation(draws(5))) >= limit).mean()
    assert 0.03 < beyond <= MOST
    assert limit < LAPLACE.interval(0.975).half_width + 0.5 * five.interval(0.975).half_width


def test_a_gaussian_sum_is_one_and_no_narrower_where_noise_is_small():
    assert sum_noise(DiscreteGaussian(Fraction(9)), 4) == DiscreteGaussian(Fraction(36))
    assert sum_noise(DiscreteGaussian(Fraction(1)), 4) == DiscreteGaussian(Fraction(16))
    assert sum_noise(LAPLACE, 1) is LAPLACE
    assert sum_noise(sum_noise(LAPLACE, 2), 3) == SummedNoise(LAPLACE, 6)


def test_a_sum_counts_as_often_as_its_cells():
    alone = farthest([LAPLACE] * 9, [np.asarray(1.0)] * 9, 0.05)
    simultaneous = farthest([sum_noise(LAPLACE, 9)], [np.asarray(1.0)], 0.05)
    assert float(simultaneous) == pytest.approx(float(alone))
    assert sum_noise(LAPLACE, 9).continuous.deviation == pytest.approx(3 * LAPLACE.continuous.deviation)
    assert sum_noise(LAPLACE, 9).cumulants == pytest.approx([9 * each for each in LAPLACE.cumulants])


def test_rounded_noise_is_no_narrower_than_it_is():
    noise = DiscreteGaussian(Fraction(400))
    parts = np.rint(np.random.default_rng(5).normal(0, 20, DRAWS))
    assert np.rint(parts / 16).std() ** 2 < 1.05 * round_noise(noise, 16).cumulants.variance
    with pytest.raises(TypeError, match="Gaussian, got DiscreteLaplace"):
        round_noise(LAPLACE, 16)


@dataclass(frozen=True)
class TwiceLaplace:
    """A noise that nobody knows of: two Laplace noises of one scale, by what a noise says of itself."""

    scale: Fraction

    @property
    def continuous(self):
        return Continuous("laplace", float(self.scale), 2)

    @property
    def cumulants(self):
        return Cumulants(*(2 * each for each in DiscreteLaplace(self.scale).cumulants))

    def log_probability(self, k):
        a, size = np.exp(-float(1 / self.scale)), np.abs(k)
        ratio = (1 + a * a) / (1 - a * a)
        return 2 * np.log((1 - a) / (1 + a)) + size * np.log(a) + np.log(size + ratio)

    def tail(self, k):
        a = np.exp(-float(1 / self.scale))
        first = k + 1 + (1 + a * a) / (1 - a * a)
        return float(2 * ((1 - a) / (1 + a)) ** 2 * a ** (k + 1) * (first / (1 - a) + a / (1 - a) ** 2))

    def interval(self, confidence, cells=1):
        return narrowest(self.tail, confidence, cells)


@pytest.mark.parametrize("scale", [2, 300])
def test_a_noise_of_any_class_is_added_up_drawn_again_and_divided_by_what_it_says_of_itself(scale):
    """False alarms below 1e-6: five standard errors of shares of 40,000."""
    noise, generator = TwiceLaplace(Fraction(scale)), np.random.default_rng(scale)
    drawn = draw_again(noise, generator, (DRAWS,))
    assert drawn.var() == pytest.approx(noise.cumulants.variance, rel=0.1)
    far = noise.interval(0.9)
    assert abs((np.abs(drawn) <= far.half_width).mean() - far.coverage) < 5 * (0.09 / DRAWS) ** 0.5
    at = np.array([-1.5, 0.2, 2.0]) * scale
    spread = drawn + generator.uniform(-0.5, 0.5, DRAWS)
    assert smooth_cdf(noise, at) == pytest.approx([(spread <= each).mean() for each in at], abs=0.0125)
    three = sum_noise(noise, 3)
    assert three.continuous.times == 6
    summed = sum(draw_again(noise, generator, (DRAWS,)) for _ in range(3))
    assert 0.02 < (np.abs(summed) > three.interval(0.95).half_width).mean() <= MOST
    other = draw_again(noise, generator, (DRAWS,))
    assert 0.02 < (np.abs(drawn - 0.5 * other) >= critical_value(noise, noise, 0.5, 0.05)).mean() <= MOST
