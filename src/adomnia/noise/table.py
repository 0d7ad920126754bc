"""Cumulative tables of the distributions exp(-(linear k + quadratic k**2)), k >= 0: integers that enclose the truth."""

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import Failure
from adomnia.noise.bits import Bits
from adomnia.noise.uniform import MOST_REFINEMENTS, Uniform
from adomnia.privacy.enclosures import exp_bounds

_GUARD_BITS = 48
_GUIDE_BITS = 11
_MOST_FIRST_BITS = 62  # the boundary 2**first_bits must fit an int64, and the sign needs a bit of its own


@dataclass(frozen=True)
class Boundaries:
    """Where one cell of [0, 1) ends and the next begins, in units of 2**-precision.

    P[k < j + 1] lies in [lower[j], upper[j]] / 2**precision. What is above the last boundary is not resolved.
    """

    lower: tuple[int, ...]
    upper: tuple[int, ...]

    def cell(self, value: int) -> int | None:
        """The cell that holds all of [value, value + 1), or None where more bits are needed."""
        cell = bisect_right(self.upper, value)
        resolved = cell == bisect_right(self.lower, value) and cell < len(self.lower)
        return cell if resolved else None


@lru_cache(maxsize=64)
def boundaries(linear: Fraction, quadratic: Fraction, precision: int) -> Boundaries:
    """Enclosures of the cumulative distribution; the unresolved tail has a mass below 2**-precision."""
    lower_weights, upper_weights, upper_tail = enclosed_weights(linear, quadratic, precision)
    lower_heads, upper_heads = list(accumulate(lower_weights)), list(accumulate(upper_weights))
    lower_all, upper_all = lower_heads[-1], upper_heads[-1] + upper_tail
    # head / (head + rest) grows with the head and falls with the rest: take each at its worse end, round outward.
    lower, upper = [], []
    for lower_head, upper_head in zip(lower_heads, upper_heads, strict=True):
        upper_rest = upper_all - upper_head
        lower_rest = lower_all - lower_head
        lower.append((lower_head << precision) // (lower_head + upper_rest))
        upper.append(-((-upper_head << precision) // (upper_head + lower_rest)))
    return Boundaries(tuple(lower), tuple(upper))


def enclosed_weights(linear: Fraction, quadratic: Fraction, precision: int) -> tuple[list[int], list[int], int]:
    """Enclosures of 2**bits exp(-(linear k + quadratic k**2)) until the rest is below 2**-precision, and a bound of it.

    Each weight is the one before times a ratio, each ratio the one before times exp(-2 quadratic): products of
    enclosures, rounded outward, stay enclosures. The ratios never grow, so the rest is at most a geometric series.
    """
    bits = precision + _GUARD_BITS
    lower, upper = 1 << bits, 1 << bits
    lower_ratio, upper_ratio = exp_bounds(-(linear + quadratic), bits)
    lower_step, upper_step = exp_bounds(-2 * quadratic, bits)
    lowers, uppers = [lower], [upper]
    while True:
        lower, upper = lower * lower_ratio >> bits, -(-upper * upper_ratio >> bits)
        remainder = (1 << bits) - upper_ratio
        if upper << precision < remainder:
            return lowers, uppers, -(-(upper << bits) // remainder)
        lowers.append(lower)
        uppers.append(upper)
        lower_ratio, upper_ratio = lower_ratio * lower_step >> bits, -(-upper_ratio * upper_step >> bits)


class CumulativeTable:
    """Draws cells of a distribution from the first bits of a uniform number, or from more where those leave it open."""

    def __init__(self, linear: Fraction, quadratic: Fraction, first_bits: int) -> None:
        if not 1 <= first_bits <= _MOST_FIRST_BITS:
            raise ValueError(f"CumulativeTable first_bits must be between 1 and {_MOST_FIRST_BITS}, got {first_bits}.")
        self._coefficients = (linear, quadratic)
        self._first_bits = first_bits
        first = boundaries(linear, quadratic, first_bits)
        self._lower = np.array(first.lower, dtype=np.int64)
        self._upper = np.array(first.upper, dtype=np.int64)
        self._shift = max(first_bits - _GUIDE_BITS, 0)
        starts = np.arange(1 << (first_bits - self._shift), dtype=np.int64) << self._shift
        self._guide = self._cells(starts, starts + ((1 << self._shift) - 1))

    def cells(self, values: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
        """The cell of each uniform number, given its first bits."""
        cells: NDArray[np.int64] = self._guide[values >> self._shift]
        near = np.flatnonzero(cells < 0)
        cells[near] = self._cells(values[near], values[near])
        for index in near[cells[near] < 0]:
            cells[index] = self.refine(Uniform(int(values[index]), self._first_bits), bits)
        return cells

    def refine(self, uniform: Uniform, bits: Bits) -> int:
        """Draw more bits of a uniform number until they decide its cell."""
        for _ in range(MOST_REFINEMENTS):
            uniform = uniform.refine(bits)
            cell = boundaries(*self._coefficients, uniform.length).cell(uniform.value)
            if cell is not None:
                return cell
        raise Failure()

    def _cells(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.int64]:
        """The cell that holds all of [first, last + 1), or -1."""
        cell = np.searchsorted(self._upper, first, side="right")
        resolved = (cell == np.searchsorted(self._lower, last, side="right")) & (cell < len(self._lower))
        return np.where(resolved, cell, -1)
