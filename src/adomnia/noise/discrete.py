"""Exact integer noise: draws from P[k] proportional to exp(-(linear |k| + quadratic k**2)).

Laplace and Gaussian noise are one distribution; the mechanisms draw from it. The integers that noise is added to are
64-bit where a static bound allows, Python's own otherwise.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import Failure
from adomnia.noise.bits import Bits
from adomnia.noise.table import CumulativeTable
from adomnia.noise.uniform import Uniform, draw_below, is_below_exp
from adomnia.privacy.amounts import Number, positive
from adomnia.privacy.scans import Integers


def is_integers(array: object) -> bool:
    """Whether this is a plain array of 64-bit or Python integers.

    A subclass is not: a masked array keeps its masked cells out of every sum, so they would leave without noise. Nor is
    an object array of NumPy integers, which wrap.
    """
    if type(array) is not np.ndarray:
        return False
    return array.dtype == np.int64 or (array.dtype == object and all(type(value) is int for value in array.flat))


def add(exact: Integers, noise: Integers) -> Integers:
    """Add noise; the sum is an array of the same shape, where NumPy would turn one without dimensions into a number."""
    total: Integers = np.empty(exact.shape, dtype=np.result_type(exact, noise))
    return np.add(exact, noise, out=total)


def describe_array(array: object) -> str:
    """The type of an array and of its elements, for error messages; never a value."""
    kind = type(array).__name__
    return f"{kind} of {array.dtype}" if isinstance(array, np.ndarray) else kind


Shape = tuple[int, ...]

_SMALLEST_SCALE, _LARGEST_SCALE = Fraction(1, 100), Fraction(10**30)
FIRST_BITS = 32
_CHUNK = 1 << 15
_SPARE = 16
_WIDEST_BLOCK = 48  # bits; wider blocks leave too few bits of a word to accept with, and magnitudes leave 64 bits
_ACCEPT_BITS = 52
_MARGIN = 2.0**-30  # covers the Taylor remainder 2**-31.7 and all roundings (docs/proofs/sampler.md, 4)
_TAYLOR = tuple((-1.0) ** j / float(np.prod(np.arange(1, j + 1))) for j in range(9, -1, -1))


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


class LogQuadratic:
    """The distribution, split as k = block * cell + offset so that one small table serves every scale.

    `cell` is drawn from a table, `offset` uniformly below `block` and accepted with probability
    exp(-offset * (linear + quadratic * (2 * block * cell + offset))); see docs/proofs/sampler.md.
    """

    def __init__(self, linear: Fraction, quadratic: Fraction, first_bits: int = FIRST_BITS) -> None:
        self._linear, self._quadratic = linear, quadratic
        self._block_bits = _block_bits(linear, quadratic)
        block = self._block = 1 << self._block_bits
        self._table = CumulativeTable(linear * block, quadratic * block * block, first_bits)
        self._first_shift = np.uint64(64 - first_bits)

    def draw(self, count: int, bits: Bits) -> Integers:
        """`count` independent draws."""

        def signed(size: int) -> Integers:
            words, magnitudes, accepted = self._proposals(size, bits)
            negative = (words & np.uint64(1)).astype(bool)
            # Zero has no second sign: without this it would come twice as often as its weight says.
            keep = accepted & ~(negative & (magnitudes == 0))
            values: Integers = np.where(negative, -magnitudes, magnitudes)[keep]
            return values

        return self._fill(count, signed)

    def magnitudes(self, count: int, bits: Bits) -> Integers:
        """`count` independent draws of the distribution restricted to k >= 0."""

        def unsigned(size: int) -> Integers:
            _, magnitudes, accepted = self._proposals(size, bits)
            return magnitudes[accepted]

        return self._fill(count, unsigned)

    def _fill(self, count: int, accepted: Callable[[int], Integers]) -> Integers:
        out: NDArray[Any] = np.empty(count, dtype=object if self._is_wide else np.int64)
        filled, missing = 0, count
        # At least half of all proposals are accepted (docs/proofs/sampler.md, 5), so this bound is never met.
        for _ in range(64 + 8 * (count // _CHUNK)):
            if missing == 0:
                return out
            batch = accepted(min(missing + missing // 4 + _SPARE, _CHUNK))[:missing]
            out[filled : filled + len(batch)] = batch
            filled, missing = filled + len(batch), missing - len(batch)
        raise Failure()

    @property
    def _is_wide(self) -> bool:
        return self._block_bits > _WIDEST_BLOCK

    def _proposals(self, size: int, bits: Bits) -> tuple[NDArray[np.uint64], Integers, NDArray[np.bool_]]:
        """First words (their last bit is still unused), magnitudes, and which of them are accepted."""
        words = bits.words(size)
        cells = self._table.cells((words >> self._first_shift).view(np.int64), bits)
        if self._block_bits == 0:
            return words, cells, np.ones(size, dtype=bool)
        if self._is_wide:
            return words, *self._wide_offsets(cells, bits)
        return words, *self._offsets(cells, bits)

    def _offsets(self, cells: NDArray[np.int64], bits: Bits) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        words = bits.words(len(cells))
        offsets = (words & np.uint64(self._block - 1)).view(np.int64)
        starts = cells << self._block_bits
        exponents = offsets * (float(self._linear) + float(self._quadratic) * (2 * starts + offsets))
        accept_bits = min(_ACCEPT_BITS, 64 - self._block_bits)
        uniforms = words >> np.uint64(64 - accept_bits)
        accepted, open_ = _compare_with_exp(uniforms, accept_bits, exponents)
        for index in open_:
            exponent = self._exponent(int(cells[index]), int(offsets[index]))
            accepted[index] = is_below_exp(Uniform(int(uniforms[index]), accept_bits), exponent, bits)
        return starts + offsets, accepted

    def _wide_offsets(self, cells: NDArray[np.int64], bits: Bits) -> tuple[NDArray[np.object_], NDArray[np.bool_]]:
        """The same in Python integers, for blocks beyond 64-bit arithmetic."""
        magnitudes = np.empty(len(cells), dtype=object)
        accepted = np.empty(len(cells), dtype=bool)
        for index, cell in enumerate(cells.tolist()):
            offset = draw_below(self._block, bits)
            magnitudes[index] = cell * self._block + offset
            accepted[index] = is_below_exp(Uniform(0, 0).refine(bits), self._exponent(cell, offset), bits)
        return magnitudes, accepted

    def _exponent(self, cell: int, offset: int) -> Fraction:
        return offset * (self._linear + self._quadratic * (2 * cell * self._block + offset))


@lru_cache(maxsize=256)
def log_quadratic(linear: Fraction, quadratic: Fraction) -> LogQuadratic:
    """The sampler of the distribution; its table depends on public numbers only and is kept for the next question."""
    return LogQuadratic(linear, quadratic)


def _block_bits(linear: Fraction, quadratic: Fraction) -> int:
    """The largest b >= 0 with linear * 2**b <= 1/4 and quadratic * 4**b <= 1/512, or 0 where there is none."""
    fits = []
    if linear:
        fits.append((1 // (4 * linear)).bit_length() - 1)
    if quadratic:
        fits.append(((1 // (512 * quadratic)).bit_length() - 1) // 2)
    return max(min(fits), 0)


def _compare_with_exp(
    uniforms: NDArray[np.uint64], length: int, exponents: NDArray[np.float64]
) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Which of the uniforms are surely below exp(-exponent), and the indices of those still open."""
    lowest = uniforms * 2.0**-length
    accepted = lowest + exponents <= 1 - 2.0**-length - _MARGIN  # exp(-y) >= 1 - y
    near = np.flatnonzero(~accepted)
    lowest, exponents = lowest[near], exponents[near]
    powers = np.polyval(_TAYLOR, exponents)
    small = exponents <= 0.5
    accepted[near] = small & (lowest + 2.0**-length <= powers - _MARGIN)
    rejected = small & (lowest >= powers + _MARGIN)
    return accepted, near[~(accepted[near] | rejected)]
