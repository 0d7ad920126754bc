"""How far a sum of many independent Laplace noises goes, by its saddlepoint.

The exact law of such a sum loses digits wherever scales are nearly equal. This loses none: its tails are from 2% too
small to 6% too large, whatever the scales, and the two percent are added (docs/proofs/moments.md).
"""

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

_HALVINGS = 20
_SLACK = 1.025  # by which a tail may be larger than it is computed
_NARROWEST = 1e-7  # the least slope, where nothing is left open
_STEEPEST = 1 - 1e-13


def saddlepoint_reach(scales: NDArray[np.float64], left_open: float) -> NDArray[np.float64]:
    """What |sum| exceeds with a probability of at most `left_open`: scales in rows, the largest of each cell is 1.

    With K(s) = -sum of log(1 - (b s)^2), the tail beyond t = K'(s) is about a Gaussian's beyond w + log(u / w) / w
    with w = sqrt(2 (s t - K)) and u = s sqrt(K''): Barndorff-Nielsen's form of Lugannani and Rice. It falls in s.
    """
    wanted = -NormalDist().inv_cdf(left_open / _SLACK / 2)
    below, above = np.full(scales.shape[1:], _NARROWEST), np.full(scales.shape[1:], _STEEPEST)
    squares = np.square(scales)
    for _ in range(_HALVINGS):
        slope = (below + above) / 2
        reached = _signed_root(squares, slope) >= wanted
        below, above = np.where(reached, below, slope), np.where(reached, slope, above)
    return np.asarray((2 * squares * above / (1 - squares * above**2)).sum(axis=0))


def _signed_root(squares: NDArray[np.float64], slope: NDArray[np.float64]) -> NDArray[np.float64]:
    parts = squares * slope**2
    cumulant = -np.log1p(-parts).sum(axis=0)
    tilt = (2 * parts / (1 - parts)).sum(axis=0)  # the slope times t
    curve = (2 * parts * (1 + parts) / np.square(1 - parts)).sum(axis=0)  # its square times K''
    root = np.sqrt(np.maximum(2 * (tilt - cumulant), _NARROWEST**2))
    return np.asarray(root + np.log(np.sqrt(curve) / root) / root)
