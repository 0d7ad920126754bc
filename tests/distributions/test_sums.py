"""The noise of cells added up."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from adomnia.distributions.combinations import farthest
from adomnia.distributions.ratios import critical_value
from adomnia.distributions.simulations import draw_again
from adomnia.distributions.sums import SummedNoise, round_noise, sum_noise
from adomnia.distributions.tulap import smooth_cdf
from adomnia.mechanisms.contract import Continuous, Cumulants
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.interval import narrowest
from adomnia.mechanisms.laplace import DiscreteLaplace

LAPLACE = DiscreteLaplace(Fraction(4))
DRAWS = 40_000
MOST = 0.0555  # of 40,000 sums, more beyond their 95% with a probability below 1e-6


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
