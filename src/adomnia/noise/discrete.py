"""Exact integer noise: the four samplers the mechanisms draw from."""

from fractions import Fraction
from math import prod

import numpy as np
from numpy.typing import NDArray

from adomnia.noise.bits import Bits
from adomnia.noise.sampler import Integers, log_quadratic
from adomnia.noise.uniform import Uniform, below_exp
from adomnia.privacy.amounts import Number, positive
from adomnia.privacy.enclosures import exp_bounds

Shape = tuple[int, ...]

SCALES = (Fraction(1, 100), Fraction(10**30))
_FIRST_BITS = 62


def discrete_laplace(scale: Number, shape: Shape, bits: Bits) -> Integers:
    """Integers k with probability proportional to exp(-|k| / scale)."""
    rate = 1 / _within(scale, "discrete_laplace", "scale", *SCALES)
    return log_quadratic(rate, Fraction(0)).draw(prod(shape), bits).reshape(shape)


def discrete_gaussian(variance: Number, shape: Shape, bits: Bits) -> Integers:
    """Integers k with probability proportional to exp(-k**2 / (2 variance))."""
    smallest, largest = SCALES
    rate = 1 / (2 * _within(variance, "discrete_gaussian", "variance", smallest**2, largest**2))
    return log_quadratic(Fraction(0), rate).draw(prod(shape), bits).reshape(shape)


def geometric(scale: Number, shape: Shape, bits: Bits) -> Integers:
    """Integers k >= 0 with probability proportional to exp(-k / scale)."""
    rate = 1 / _within(scale, "geometric", "scale", *SCALES)
    return log_quadratic(rate, Fraction(0)).magnitudes(prod(shape), bits).reshape(shape)


def bernoulli_exp(rate: Number, shape: Shape, bits: Bits) -> NDArray[np.bool_]:
    """True with probability exp(-rate)."""
    exponent = positive(rate, "bernoulli_exp", "rate")
    values = (bits.words(prod(shape)) >> np.uint64(64 - _FIRST_BITS)).view(np.int64)
    lower, upper = exp_bounds(-exponent, _FIRST_BITS)
    drawn = values < lower
    for index in np.flatnonzero((values >= lower) & (values < upper)):
        drawn[index] = below_exp(Uniform(int(values[index]), _FIRST_BITS), exponent, bits)
    return drawn.reshape(shape)


def _within(value: Number, owner: str, field: str, smallest: Fraction, largest: Fraction) -> Fraction:
    exact = positive(value, owner, field)
    if not smallest <= exact <= largest:
        raise ValueError(f"{owner} {field} must be between {float(smallest):g} and {float(largest):g}, got {value}.")
    return exact
