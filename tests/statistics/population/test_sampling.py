"""What sampling adds to the variance of a quotient, and how it is raised."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.distributions.combinations import SummedNoise, farthest, farthest_in_sample
from adomnia.distributions.quotients import Noisy, Quotient
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.statistics.population.sampling import SampledQuotient, Sampling, raise_variance

LAPLACE, GAUSSIAN = DiscreteLaplace(Fraction(20)), DiscreteGaussian(Fraction(900))
NOISES = {"a": LAPLACE, "b": LAPLACE}
NOTHING = np.zeros(3)


def noisy(*values, of="a"):
    return Noisy(np.array(values, dtype=float), {of: np.ones(3)}, NOTHING)


def quotient(sampling):
    above, below = noisy(500, 5000, 50_000), noisy(1000, 10_000, 100_000, of="b")
    return SampledQuotient(above, below, (below,), (0.0, 1.0), NOISES, sampling=sampling)


def test_without_sampling_it_is_the_quotient_of_noise_alone():
    sampled = quotient(Sampling(NOTHING, NOTHING, NOTHING))
    plain = Quotient(sampled.numerator, sampled.denominator, sampled.needed, (0.0, 1.0), NOISES)
    for one, other in zip(sampled.bounds(0.95, 1), plain.bounds(0.95, 1), strict=True):
        assert one == pytest.approx(other, rel=0.01)


def test_sampling_widens_it_and_fewer_rows_widen_it_more():
    scatter = np.array([250.0, 2500.0, 25_000.0])
    cases = [Sampling(NOTHING, NOTHING, NOTHING), Sampling(scatter, NOTHING, NOTHING)]
    cases += [Sampling(scatter, NOTHING, NOTHING, np.full(3, rows)) for rows in (100.0, 4.0)]
    widths = [np.subtract(*reversed(quotient(each).bounds(0.95, 1))) for each in cases]
    assert (widths[0] < widths[1]).all()
    assert (widths[1] < widths[2]).all()
    assert (widths[2] < widths[3]).all()


def test_a_noisy_variance_is_raised_cut_and_never_below_zero():
    raised = raise_variance(noisy(-100, 100, 10_000), NOISES, np.full(3, 4.0), np.full(3, 5000.0))
    assert raised == pytest.approx([800**0.5 / 2, 100 + 1200**0.5 / 2, 5000])


@pytest.mark.parametrize(
    "noises",
    [(LAPLACE, LAPLACE), (GAUSSIAN, GAUSSIAN), (SummedNoise(DiscreteLaplace(Fraction(20)), 5), LAPLACE)],
    ids=str,
)
@pytest.mark.parametrize("sampled", [0.0, 400.0, 40_000.0])
@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.001])
def test_what_noise_and_sampling_reach_together_is_exceeded_as_often_as_it_says(noises, sampled, alpha):
    random, coefficients = np.random.default_rng(9), (1.0, 0.4)
    drawn = random.normal(0, sampled**0.5, 400_000)
    for noise, coefficient in zip(noises, coefficients, strict=True):
        drawn = drawn + coefficient * _draw(noise, random)
    reach = farthest_in_sample(noises, [np.array(each) for each in coefficients], np.array(sampled), alpha)
    beyond = float(np.mean(np.abs(drawn) > float(reach)))
    # Half a unit is added, the saddlepoint is up to 8% off, and five deviations of the count are allowed for.
    assert 0.85 * alpha - 5 * (alpha / 400_000) ** 0.5 <= beyond
    assert beyond <= 1.03 * alpha + 5 * (alpha / 400_000) ** 0.5
    assert sampled == 0 or reach > farthest(noises, [np.array(each) for each in coefficients], alpha)


def _draw(noise, random):
    match noise:
        case DiscreteGaussian(variance=variance):
            return random.normal(0, float(variance) ** 0.5, 400_000)
        case SummedNoise(noise=DiscreteLaplace(scale=scale), times=times):
            return random.laplace(0, float(scale), (times, 400_000)).sum(axis=0)
    return random.laplace(0, float(noise.scale), 400_000)


def test_constants_without_noise_reach_as_far_as_sampling_does():
    reach = farthest_in_sample([LAPLACE], [np.zeros(1)], np.array([4.0]), 0.05)
    assert reach == pytest.approx([2 * 1.95996], rel=1e-4)
