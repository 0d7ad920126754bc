"""Noise that is drawn again has the law of the mechanism."""

from fractions import Fraction

import numpy as np
import pytest

from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.methods.densities.fresh_noise import draw_again, variance_of

NOISES = [DiscreteLaplace(Fraction(1)), DiscreteLaplace(Fraction(7, 2)), DiscreteGaussian(Fraction(20))]
DRAWS = 200_000


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_its_variance_is_that_of_the_probabilities(noise):
    exact = sum(k * k * noise.probability(k) for k in range(-300, 301))
    assert variance_of(noise) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_draws_have_the_quantiles_of_the_law(noise):
    """Shares of 200,000 draws are off by 0.006 in one of 10**7 runs; noise of twice the variance would be far off."""
    drawn = draw_again(noise, np.random.default_rng(1), (DRAWS,))
    for reach in (1, 3, 6):
        inside = sum(noise.probability(k) for k in range(-reach, reach + 1))
        assert (np.abs(drawn) < reach + 0.5).mean() == pytest.approx(inside, abs=0.006)
    wider = draw_again(noise, np.random.default_rng(1), (DRAWS,)) * np.sqrt(2)
    inside = sum(noise.probability(k) for k in range(-3, 4))
    assert (np.abs(wider) < 3.5).mean() != pytest.approx(inside, abs=0.02)


def test_hardly_any_noise_is_none():
    noise = DiscreteLaplace(Fraction(1, 100))
    assert variance_of(noise) < 1e-30
    assert not draw_again(noise, np.random.default_rng(1), (100,)).any()


def test_other_laws_are_refused():
    with pytest.raises(TypeError, match="Laplace or Gaussian"):
        variance_of("loud")
