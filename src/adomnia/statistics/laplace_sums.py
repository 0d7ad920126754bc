"""How far a sum of independent Laplace noises goes: by its exact law where they are few, else by its saddlepoint."""

from math import log

import numpy as np
from numpy.typing import NDArray

from adomnia.statistics.saddlepoints import saddlepoint_reach

_APART = 1.01  # the ratio of two scales from which on their exact law is computed without loss of digits
_RAREST = 1e-6  # of an exact law: what is rarer would drown in the rounding of doubles
_NEGLIGIBLE = 1e-6  # beside the largest scale, which is 1
_STEPS = 5  # of Newton
_MOST_EXACT = 6  # Laplace noises whose exact law doubles can hold
_SLOPES = (0.5, 0.72, 0.9)  # where Chernoff's bound is tried


def reach_of_laplace(times: tuple[int, ...], scales: NDArray[np.float64], left_open: float) -> NDArray[np.float64]:
    """What |sum| exceeds with a probability of about `left_open` at most: scales in rows, the largest of a cell is 1.

    Each scale is that of so many noises as `times` says.
    """
    if sum(times) > _MOST_EXACT:
        return saddlepoint_reach(scales, left_open, times)
    return _laplace(np.repeat(scales, times, axis=0), left_open)


def _laplace(scales: NDArray[np.float64], left_open: float) -> NDArray[np.float64]:
    """By the exact law: scales in rows, the largest of each cell is 1."""
    apart = _set_apart(scales)
    squares = np.square(apart)
    weights = np.ones_like(apart)
    for place in range(len(apart)):
        others = np.delete(np.arange(len(apart)), place)
        weights[place] = np.prod(squares[place] / (squares[place] - squares[others]), axis=0)
    often = max(left_open, _RAREST)
    reach = _chernoff(apart, often)
    for _ in range(_STEPS):
        # P[|sum| > t] = sum of weight * exp(-t / scale). Its logarithm is concave, so that steps of Newton which begin
        # above the root stay there, and so does one along the tangent to what is rarer.
        terms = weights * np.exp(-reach / apart)
        tail, slope = terms.sum(axis=0), (terms / apart).sum(axis=0)
        reach = reach + np.log(tail / often) * tail / slope
    return np.asarray(reach + log(often / left_open) * tail / slope)


def _set_apart(scales: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scales at least as large, in rising order, no two of them too near to each other."""
    found = np.sort(scales, axis=0)
    found[0] = np.maximum(found[0], _NEGLIGIBLE)
    for place in range(1, len(found)):
        found[place] = np.maximum(found[place], found[place - 1] * _APART)
    return found


def _chernoff(scales: NDArray[np.float64], left_open: float) -> NDArray[np.float64]:
    """2 E[exp(s * sum)] exp(-s t) <= left_open, with the best of some slopes s."""
    largest = scales[-1]
    shares = np.square(scales / largest)
    reach = np.full(largest.shape, np.inf)
    for slope in _SLOPES:
        cumulant = -np.log1p(-(slope**2) * shares).sum(axis=0)
        reach = np.minimum(reach, (log(2 / left_open) + cumulant) * largest / slope)
    return reach
