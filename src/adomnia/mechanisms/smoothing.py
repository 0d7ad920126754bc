"""Smooth bounds: how far one person moves a statistic here, or moves it near here, the less the farther away.

With local(k), how far one person moves it within k people of the data, S = max_k weight(k) * local(k) is at least
local(0), and no neighbour has one that is exp(beta) times smaller or larger. It is private: noise may follow from it,
and nobody is told. Proof: docs/proofs/smooth.md, 1.
"""

from fractions import Fraction
from functools import lru_cache

import numpy as np

from adomnia.mechanisms.histograms import Rows
from adomnia.noise.discrete import NotDrawableError
from adomnia.privacy.enclosures import exp_bounds

LEAST = Fraction(1, 2**24)  # of a bound, in steps of the grid: noise of its scale is rounded to nothing
MOST_STEPS = 2**20  # people away; from there on weights must be next to nothing
_BITS = 128  # of weights: their rounding never shows
_KEPT = 16


def check_beta(beta: Fraction, top: int, owner: str) -> None:
    """Refuse weights that fall so slowly that too many of them would be needed."""
    needed = top.bit_length() + LEAST.denominator.bit_length()  # more than ln(top / LEAST)
    if beta * MOST_STEPS < needed:
        raise NotDrawableError(f"{owner} beta must be at least {needed} / {MOST_STEPS:,}, got {float(beta):g}.")


@lru_cache(maxsize=_KEPT)
def list_weights(beta: Fraction, top: int) -> tuple[int, ...]:
    """Integers that start at 2**128, each at least exp(-beta) times the one before, as long as they matter.

    From the end on, weight(k) * top is at most LEAST: they follow from public numbers, and so does how many there are.
    """
    _, ratio = exp_bounds(-beta, _BITS)
    weights = [1 << _BITS]
    while weights[-1] * max(top, 1) * LEAST.denominator > LEAST.numerator << _BITS:
        weights.append(-(-weights[-1] * ratio >> _BITS))  # rounded up: smoothness is what must not be lost
    return tuple(weights)


def find_smooth_bound(local: Rows, beta: Fraction, top: int) -> Fraction:
    """The bound from local(0), local(1), ...: at least as many of them as there are weights."""
    weights = np.array(list_weights(beta, top), dtype=object)
    largest = int(np.max(weights * local[: len(weights)].astype(object)))
    return max(Fraction(largest, 1 << _BITS), LEAST)
