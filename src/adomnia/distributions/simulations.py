"""The noise of a measurement, drawn again: what simulations after the noise add to what they draw."""

from math import expm1
from typing import Any, TypeAlias

import numpy as np

from adomnia.mechanisms.contract import Floats, Noise
from adomnia.mechanisms.laplace import DiscreteLaplace

Generator: TypeAlias = Any  # NumPy's, of which `noise.afterwards` gives one: nobody else names a source of randomness

_WHOLE_SCALE = 1e9  # of Laplace noise: above it whole numbers are as good as all
_LARGEST_RATE = 500.0  # of Laplace noise: beyond it none is ever seen
_LISTED_DEVIATION = 8.0  # above it a rounded continuous number has the same distribution, to 1e-3 of its variance
_UNLISTED = 1e-15  # the probability of all that is left out of a list


def draw_again(noise: Noise, generator: Generator, shape: tuple[int, ...]) -> Floats:
    """Noise of the same distribution."""
    tails, scale, times = noise.continuous
    drawn: Floats
    if isinstance(noise, DiscreteLaplace) and scale <= _WHOLE_SCALE:
        ended = -expm1(-min(1 / scale, _LARGEST_RATE))
        drawn = (generator.geometric(ended, shape) - generator.geometric(ended, shape)).astype(np.float64)
    elif noise.continuous.deviation < _LISTED_DEVIATION:
        places, chances = list_probabilities(noise)
        drawn = generator.choice(places, size=shape, p=chances)
    else:
        draw = generator.laplace if tails == "laplace" else generator.normal
        drawn = np.rint(draw(0.0, scale, (times, *shape)).sum(axis=0))
    return drawn


def list_probabilities(noise: Noise) -> tuple[Floats, Floats]:
    """The integers that occur, and how probable each is: of noise that is not too large for a list."""
    reach = noise.interval(1 - _UNLISTED).half_width
    places = np.arange(-reach, reach + 1, dtype=np.float64)
    weights = np.exp(noise.log_probability(places))
    return places, weights / weights.sum()
