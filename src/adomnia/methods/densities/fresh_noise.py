"""The noise of a measurement, drawn again: what simulations after the noise add to what they draw."""

from math import expm1, sqrt
from typing import Any

import numpy as np

from adomnia.mechanisms.contract import Noise
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.statistics.contract import Floats

_LARGEST_RATE = 500.0  # beyond it no noise is ever seen


def variance_of(noise: Noise) -> float:
    """The variance of one coordinate."""
    match noise:
        case DiscreteLaplace(scale=scale):
            rate = min(float(1 / scale), _LARGEST_RATE)
            return float(0.5 / np.sinh(rate / 2) ** 2)
        case DiscreteGaussian(variance=variance):
            return float(variance)
    raise TypeError(f"variance_of noise must be Laplace or Gaussian, got {type(noise).__name__}.")


def draw_again(noise: Noise, generator: Any, shape: tuple[int, ...]) -> Floats:  # noqa: ANN401 - numpy's
    """Noise of the same law; of Gaussian noise the continuous one, which simulations cannot tell apart."""
    if isinstance(noise, DiscreteLaplace):
        ended = -expm1(-min(float(1 / noise.scale), _LARGEST_RATE))
        return np.asarray((generator.geometric(ended, shape) - generator.geometric(ended, shape)).astype(np.float64))
    return np.asarray(generator.normal(0.0, sqrt(variance_of(noise)), shape))
