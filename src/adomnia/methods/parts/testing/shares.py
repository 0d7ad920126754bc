"""Noisy counts as shares: the probabilities that are nearest to them."""

import numpy as np

from adomnia.statistics.contract import Floats


def project(counts: Floats) -> Floats:
    """The shares on the last axis whose multiples are nearest to noisy counts: none below 0, and they add up to 1.

    What noise added is taken away from all cells alike, until none is negative, so that empty cells do not seem full.
    Where the counts add up to nothing or less, all shares are equal.

    Cite        Held, Wolfe & Crowder 1974 (projection on a simplex).

    >>> import numpy as np
    >>> project(np.array([6.0, 3.0, -1.0])).round(3).tolist()
    [0.688, 0.312, 0.0]
    """
    cells = counts.shape[-1]
    total = counts.sum(axis=-1, keepdims=True)
    falling = -np.sort(-counts, axis=-1)
    taken = (np.cumsum(falling, axis=-1) - total) / np.arange(1, cells + 1)
    kept = np.maximum((falling > taken).sum(axis=-1, keepdims=True), 1)
    clipped = np.maximum(counts - np.take_along_axis(taken, kept - 1, axis=-1), 0.0)
    there = total > 0
    found: Floats = np.where(there, clipped / np.where(there, clipped.sum(axis=-1, keepdims=True), 1.0), 1 / cells)
    return found
