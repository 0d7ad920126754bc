"""How far a sum of many independent Laplace noises, and of normal ones beside them, goes, by its saddlepoint.

The exact law of such a sum loses digits wherever scales are nearly equal. This loses none: its tails are from 2% too
small to 6% too large, whatever the scales, and the two percent are added (docs/proofs/moments.md).
"""

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

_STEPS = 5  # of Newton: after them, of what is rarer than 10% no reach is more than 1e-5 too large
_SLACK = 1.025  # by which a tail may be larger than it is computed
_BEYOND = 1 + 1e-6  # how far beyond what is wanted is aimed at, so that steps which end below it reach it too
_NARROWEST = 1e-7  # the least slope, where nothing is left open


def saddlepoint_reach(
    scales: NDArray[np.float64], left_open: float, times: Sequence[int], normal: NDArray[np.float64] | float = 0.0
) -> NDArray[np.float64]:
    """What |sum| exceeds with a probability of at most `left_open`: scales in rows, the largest of each cell is 1.

    Each scale is that of so many noises as `times` says; `normal` is the variance of what is normal beside them.

    With K(s) = -sum of log(1 - (b s)^2) + normal s^2 / 2, the tail beyond t = K'(s) is about a Gaussian's beyond
    w + log(u / w) / w with w = sqrt(2 (s t - K)) and u = s sqrt(K''): Barndorff-Nielsen's form of Lugannani and Rice.
    It falls in s.
    """
    wanted = -NormalDist().inv_cdf(left_open / _SLACK / 2)
    squares = np.square(scales)
    total = squares.sum(axis=0)
    squares = np.where(total > 0, squares, 1.0)
    often = np.reshape(np.asarray(times, dtype=np.float64), (-1,) + (1,) * (squares.ndim - 1))
    # By v = s / sqrt(1 - s^2), in which w is nearly a straight line: its slope by s is s K'' / w.
    steep = np.maximum(wanted / np.sqrt(2 * (often * squares).sum(axis=0) + normal), _NARROWEST)
    reach = np.full(total.shape, np.inf)
    for _ in range(_STEPS):
        slope = steep / np.sqrt(1 + np.square(steep))
        found, move, reached = _compare((squares, often, normal), slope, wanted)
        reach = np.where(found >= wanted, np.minimum(reach, reached), reach)
        steep = np.maximum(steep + move * (1 + np.square(steep)) ** 1.5, _NARROWEST)
    return np.where(total > 0, reach, 0.0)


def _compare(
    law: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64] | float],
    slope: NDArray[np.float64],
    wanted: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The Gaussian's quantile at a slope, by how much the slope has to change for the wanted one, and t."""
    squares, often, normal = law
    parts = squares * np.square(slope)
    left = 1 - parts
    beside = normal * np.square(slope)
    cumulant = -(often * np.log1p(-parts)).sum(axis=0) + beside / 2
    tilt = (often * 2 * parts / left).sum(axis=0) + beside  # the slope times t
    curve = (often * 2 * parts * (1 + parts) / np.square(left)).sum(axis=0) + beside  # its square times K''
    root = np.sqrt(np.maximum(2 * (tilt - cumulant), _NARROWEST**2))
    found = root + np.log(np.sqrt(curve) / root) / root
    return found, (wanted * _BEYOND - found) * root * slope / curve, tilt / slope
