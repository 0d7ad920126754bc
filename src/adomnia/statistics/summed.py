"""The noise of many cells added up: what a total over groups that were measured is off by."""

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, expm1, log

import numpy as np

from adomnia.mechanisms.contract import Noise
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.interval import Interval
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.noise import Integers
from adomnia.statistics.contract import Measured
from adomnia.statistics.laplace_sums import reach_of_laplace

_SMOOTH = 4  # from this variance on, a sum of discrete Gaussians is one, as far as doubles can tell
_ROUNDED = 0.5  # noise is whole, and its law is taken as that of any numbers
_FITS = 2**62


@dataclass(frozen=True)
class SummedLaplace:
    """The law of so many independent discrete Laplace noises, added up. It is known, and nothing is released by it."""

    scale: Fraction
    times: int

    def interval(self, confidence: float, cells: int = 1) -> Interval:
        """The interval around a noisy sum that holds the exact one; around all of `cells` at once."""
        missed = -expm1(log(confidence) / cells)
        reach = float(self.scale) * float(reach_of_laplace((self.times,), np.ones((1, 1)), missed)[0])
        return Interval(ceil(reach + _ROUNDED), confidence)


def summed_noise(noise: Noise, times: int) -> Noise:
    """The law of the sum of so many independent noises of one law."""
    if times == 1:
        return noise
    if isinstance(noise, DiscreteGaussian):
        # Of smaller variance it is nearer to zero than of this one, and so is the sum: docs/proofs/results.md.
        return DiscreteGaussian(times * max(noise.variance, Fraction(_SMOOTH)))
    if isinstance(noise, SummedLaplace):
        return SummedLaplace(noise.scale, times * noise.times)  # type: ignore[return-value]
    assert isinstance(noise, DiscreteLaplace)  # noqa: S101 - there is no other noise on counts and sums
    return SummedLaplace(noise.scale, times)  # type: ignore[return-value]  # it has the law, and releases nothing


def sum_over(measured: Measured, axes: tuple[int, ...]) -> Measured:
    """What was measured, added up along axes, which stay with a length of 1."""
    times = int(np.prod([measured.values.shape[axis] for axis in axes], dtype=np.int64))
    return part_of(measured, add_up(measured.values, axes), times, ("over", axes))


def part_of(measured: Measured, values: Integers, times: int, name: Hashable) -> Measured:
    """Sums of so many of the cells that were measured; sums of one name hold one noise."""
    return Measured(values, summed_noise(measured.noise, times), (measured, name))


def add_up(values: Integers, axes: tuple[int, ...]) -> Integers:
    """Integers added up along axes, which stay; in Python's integers where 64 bits may not hold the sum."""
    return np.asarray(as_addable(values).sum(axis=axes, keepdims=True))


def as_addable(values: Integers) -> Integers:
    """The integers, as Python's own where a sum of all of them might not fit into 64 bits."""
    fits = values.dtype != object and float(np.abs(values).max(initial=0)) * max(1, values.size) < _FITS
    return values if fits else values.astype(object)
