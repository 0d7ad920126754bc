"""Cells that were measured, added up over groups: the values, and the noise that they hold."""

from collections.abc import Hashable

import numpy as np

from adomnia.distributions.combinations import sum_noise
from adomnia.noise import Integers
from adomnia.statistics.contract import Measured

_FITS = 2**62


def sum_over(measured: Measured, axes: tuple[int, ...]) -> Measured:
    """What was measured, added up along axes, which stay with a length of 1."""
    times = int(np.prod([measured.values.shape[axis] for axis in axes], dtype=np.int64))
    return part_of(measured, add_up(measured.values, axes), times, ("over", axes))


def part_of(measured: Measured, values: Integers, times: int, name: Hashable) -> Measured:
    """Sums of so many of the cells that were measured; sums of one name hold one noise."""
    return Measured(values, sum_noise(measured.noise, times), (measured, name))


def add_up(values: Integers, axes: tuple[int, ...]) -> Integers:
    """Integers added up along axes, which stay; in Python's integers where 64 bits may not hold the sum."""
    return np.asarray(as_addable(values).sum(axis=axes, keepdims=True))


def as_addable(values: Integers) -> Integers:
    """The integers, as Python's own where a sum of all of them might not fit into 64 bits."""
    fits = values.dtype != object and float(np.abs(values).max(initial=0)) * max(1, values.size) < _FITS
    return values if fits else values.astype(object)
