"""Exact integer noise: the samplers the mechanisms draw from."""

from fractions import Fraction
from math import prod

from adomnia.noise.bits import Bits
from adomnia.noise.sampler import log_quadratic
from adomnia.privacy.amounts import Number, positive
from adomnia.privacy.scans import Integers

Shape = tuple[int, ...]

_SMALLEST_SCALE, _LARGEST_SCALE = Fraction(1, 100), Fraction(10**30)


class NotDrawableError(ValueError):
    """Noise that is too small or too large for the sampler."""


def discrete_laplace(scale: Number, shape: Shape, bits: Bits) -> Integers:
    """Draw integers k with probability proportional to exp(-|k| / scale)."""
    rate = 1 / laplace_scale(scale, "discrete_laplace")
    return log_quadratic(rate, Fraction(0)).draw(_size(shape), bits).reshape(shape)


def discrete_gaussian(variance: Number, shape: Shape, bits: Bits) -> Integers:
    """Draw integers k with probability proportional to exp(-k**2 / (2 variance))."""
    rate = 1 / (2 * gaussian_variance(variance, "discrete_gaussian"))
    return log_quadratic(Fraction(0), rate).draw(_size(shape), bits).reshape(shape)


def geometric(scale: Number, shape: Shape, bits: Bits) -> Integers:
    """Draw integers k >= 0 with probability proportional to exp(-k / scale)."""
    rate = 1 / laplace_scale(scale, "geometric")
    return log_quadratic(rate, Fraction(0)).magnitudes(_size(shape), bits).reshape(shape)


def laplace_scale(scale: Number, owner: str) -> Fraction:
    """The scale as an exact fraction, if the sampler can draw at that scale."""
    return _require_between(scale, owner, "scale", _SMALLEST_SCALE, _LARGEST_SCALE)


def gaussian_variance(variance: Number, owner: str) -> Fraction:
    """The variance as an exact fraction, if the sampler can draw with that variance."""
    return _require_between(variance, owner, "variance", _SMALLEST_SCALE**2, _LARGEST_SCALE**2)


def _require_between(value: Number, owner: str, field: str, smallest: Fraction, largest: Fraction) -> Fraction:
    exact = positive(value, owner, field)
    if not smallest <= exact <= largest:
        must = f"must be between {float(smallest):g} and {float(largest):g}"
        raise NotDrawableError(f"{owner} {field} {must}, got {value}.")
    return exact


def _size(shape: Shape) -> int:
    return prod(map(int, shape))  # NumPy integers wrap
