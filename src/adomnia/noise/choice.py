"""One candidate out of many, with probability exactly proportional to multiplicity * exp(rate * score).

Of boxes around a point, the level is chosen: a geometric distribution, weighted by how many boxes reach each level.
"""

from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import ceil, frexp
from operator import mul

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import Failure
from adomnia.noise.bits import Bits
from adomnia.noise.discrete import describe_array, geometric, is_integers
from adomnia.noise.uniform import MOST_REFINEMENTS, Uniform, draw_below, is_below_exp
from adomnia.privacy.amounts import Number, positive
from adomnia.privacy.enclosures import exp_bounds
from adomnia.privacy.scans import Integers

_DIGIT_BITS = 10
_TABLE_BITS = 128
_GAP_BITS = 60
_FARTHEST = 100  # a candidate exp(-100) below the best is given the envelope of one exactly there
_TOTAL_BITS = 61
_ROUNDED_UP = 1 + 2.0**-40  # covers every rounding of the envelope's few products (docs/proofs/choice.md)
_GUARD_BITS = 64


def weighted_choice(scores: Integers, rate: Number, bits: Bits, multiplicity: NDArray[np.int64] | None = None) -> int:
    """Choose a candidate and return its index.

    Rejection sampling: an integer envelope of the weights proposes, the exact ratio accepts (docs/proofs/choice.md).
    """
    exact_rate = positive(rate, "weighted_choice", "rate")
    copies = _check_multiplicity(scores, multiplicity)
    gaps = _gaps(scores)
    envelope, doublings = _envelope(gaps, exact_rate, copies)
    ends = np.cumsum(envelope)
    for _ in range(MOST_REFINEMENTS):
        index = int(np.searchsorted(ends, draw_below(int(ends[-1]), bits), side="right"))
        share = Fraction(2) ** doublings * int(copies[index]) / int(envelope[index])
        if is_below_exp(Uniform(0, 0).refine(bits), exact_rate * int(gaps[index]), bits, share):
            return index
    raise Failure()


def _check_multiplicity(scores: Integers, multiplicity: NDArray[np.int64] | None) -> NDArray[np.int64]:
    if not is_integers(scores):
        raise TypeError(f"weighted_choice scores must be int64 or Python integers, got {describe_array(scores)}.")
    if scores.ndim != 1 or len(scores) == 0:
        raise ValueError(f"weighted_choice scores must be a vector of at least one number, got shape {scores.shape}.")
    copies = np.ones(len(scores), dtype=np.int64) if multiplicity is None else multiplicity
    if type(copies) is not np.ndarray or copies.shape != scores.shape or copies.dtype != np.int64 or copies.min() < 1:
        raise ValueError("weighted_choice multiplicity must be one int64 >= 1 for each candidate.")
    return copies


def _gaps(scores: Integers) -> NDArray[np.uint64] | NDArray[np.object_]:
    """How far each score is below the best one."""
    best = scores.max()
    if scores.dtype == object:
        return np.asarray(best - scores, dtype=object)
    # Differences of 64-bit integers need 65 bits with a sign; without one, modulo 2**64, they are exact.
    gaps: NDArray[np.uint64] = best.view(np.uint64) - scores.view(np.uint64)
    return gaps


def _envelope(
    gaps: NDArray[np.uint64] | NDArray[np.object_], rate: Fraction, copies: NDArray[np.int64]
) -> tuple[NDArray[np.int64], int]:
    """Integers above 2**doublings * copies * exp(-rate * gap) that add up to less than 2**62, and `doublings`."""
    # From the rate alone: a bound taken from the gaps would show in how long the choice takes.
    farthest = ceil(_FARTHEST / rate) if gaps.dtype == object else min(ceil(_FARTHEST / rate), 2**64 - 1)
    # Gaps of more than 60 bits lose their last ones: a smaller gap gives a higher envelope, here by a part in 2**53.
    dropped = max(0, farthest.bit_length() - _GAP_BITS)
    near = (np.minimum(gaps, farthest) >> dropped).astype(np.int64)
    weights = copies.astype(np.float64)
    for shift in range(0, farthest.bit_length() - dropped, _DIGIT_BITS):
        digits = (near >> shift) & ((1 << _DIGIT_BITS) - 1)
        weights *= _powers(rate * (1 << dropped + shift)).take(digits)
    weights *= _ROUNDED_UP
    doublings = _TOTAL_BITS - frexp(float(weights.sum()))[1]
    return np.ldexp(weights, doublings).astype(np.int64) + 1, doublings


@lru_cache(maxsize=64)
def _powers(rate: Fraction) -> NDArray[np.float64]:
    """exp(-rate * digit) for every digit, rounded up but for the last conversion."""
    _, ratio = exp_bounds(-rate, _TABLE_BITS)
    power, powers = 1 << _TABLE_BITS, np.empty(1 << _DIGIT_BITS)
    for digit in range(len(powers)):
        powers[digit] = power
        power = -(-power * ratio >> _TABLE_BITS)
    powers *= 2.0**-_TABLE_BITS
    powers.flags.writeable = False
    return powers


def level(copies: Sequence[int], rate: Fraction, bits: Bits) -> int:
    """Draw an integer k >= 0 with probability exactly proportional to copies[k] * exp(-rate * k).

    Beyond its end, `copies` continues with its last number; it must never fall. What is added at each level is chosen
    first, and a geometric draw goes on from there (docs/proofs/quantiles.md, 3).
    """
    added = [more - fewer for fewer, more in zip([0, *copies], copies, strict=False)]
    if min(added) < 0 or copies[-1] == 0:
        raise ValueError("level copies must never fall, and the last must be above 0.")
    uniform = Uniform(0, 0)
    for _ in range(MOST_REFINEMENTS):
        uniform = uniform.refine(bits)
        lower, upper = (
            list(accumulate(map(mul, added, powers)))  # of equal length
            for powers in _falling_powers(rate, len(added), uniform.length)
        )
        # The first level whose end surely lies above the uniform number; open, unless the one before surely ends below.
        found = bisect_left(lower, -(-(uniform.value + 1) * upper[-1] >> uniform.length))
        before = upper[found - 1] if found else 0
        if found < len(lower) and uniform.value * lower[-1] >= before << uniform.length:
            return found + int(geometric(1 / rate, (), bits))
    raise Failure()


@lru_cache(maxsize=8)
def _falling_powers(rate: Fraction, count: int, precision: int) -> tuple[list[int], list[int]]:
    """Enclosures of 2**bits * exp(-rate * k), each relative to itself far finer than 2**-precision."""
    bits = precision + _GUARD_BITS + count.bit_length() + ceil(rate * count * Fraction(3, 2))  # 3/2 > log2(e)
    ratios = exp_bounds(-rate, bits)
    lower, upper = [1 << bits], [1 << bits]
    for _ in range(count - 1):
        lower.append(lower[-1] * ratios[0] >> bits)
        upper.append(-(-upper[-1] * ratios[1] >> bits))
    return lower, upper
