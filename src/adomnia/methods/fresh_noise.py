"""The noise of a measurement, drawn again: what simulations after the noise add to what they draw."""

from math import expm1, sinh, sqrt
from typing import Any, TypeAlias

import numpy as np

from adomnia.mechanisms.contract import Noise
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.statistics.contract import Floats

Generator: TypeAlias = Any  # NumPy's, of which `noise.afterwards` gives one: nobody else names a source of randomness

_WHOLE_SCALE = 1e9  # of Laplace noise: above it whole numbers are as good as all
_LARGEST_RATE = 500.0  # of Laplace noise: beyond it none is ever seen
_LISTED_DEVIATION = 8.0  # of Gaussian noise: above it a rounded normal number has the same law, to 1e-3 of its variance


def variance_of(noise: Noise) -> float:
    """The variance of one coordinate."""
    match noise:
        case DiscreteLaplace(scale=scale):
            return float(0.5 / sinh(min(float(1 / scale), _LARGEST_RATE) / 2) ** 2)
        case DiscreteGaussian() as gaussian if sqrt(gaussian.variance) < _LISTED_DEVIATION:
            places, chances = _list_law(gaussian)
            return float(places**2 @ chances)
        case DiscreteGaussian(variance=variance):
            return float(variance)
    raise TypeError(f"variance_of noise must be Laplace or Gaussian, got {type(noise).__name__}.")


def draw_again(noise: Noise, generator: Generator, shape: tuple[int, ...]) -> Floats:
    """Noise of the same law."""
    match noise:
        case DiscreteLaplace(scale=scale) if scale > _WHOLE_SCALE:
            drawn: Floats = generator.laplace(0.0, float(scale), shape)
        case DiscreteLaplace(scale=scale):
            ended = -expm1(-min(float(1 / scale), _LARGEST_RATE))
            drawn = (generator.geometric(ended, shape) - generator.geometric(ended, shape)).astype(np.float64)
        case DiscreteGaussian() as gaussian if sqrt(gaussian.variance) < _LISTED_DEVIATION:
            places, chances = _list_law(gaussian)
            drawn = generator.choice(places, size=shape, p=chances)
        case _:
            drawn = np.rint(generator.normal(0.0, sqrt(variance_of(noise)), shape))
    return drawn


def _list_law(noise: DiscreteGaussian) -> tuple[Floats, Floats]:
    """The integers that occur, and how probable each is."""
    reach = 2 + int(10 * sqrt(noise.variance))
    places = np.arange(-reach, reach + 1, dtype=np.float64)
    weights = np.exp(-(places**2) / (2 * float(noise.variance)))
    return places, weights / weights.sum()
