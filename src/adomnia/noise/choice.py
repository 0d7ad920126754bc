"""One candidate out of many, with probability exactly proportional to multiplicity * exp(rate * score)."""

from fractions import Fraction
from functools import lru_cache
from math import ceil, frexp

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import Failure
from adomnia.noise.bits import Bits
from adomnia.noise.integers import describe_array, is_integers
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
