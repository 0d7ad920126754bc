"""Noisy counts as numbers that are not negative and add up, and as whole ones: for tables and shares."""

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.contract import Floats

_ROUNDS = 300


def project(values: Floats, totals: Floats) -> Floats:
    """Along the last axis, the nearest numbers that are not negative and add up to these totals.

    Cite        Held, Wolfe & Crowder 1974; Duchi et al. 2008.

    >>> project(np.array([3.0, -1.0, 0.5]), np.array(3.0)).tolist()
    [2.75, 0.0, 0.25]
    """
    return np.asarray(np.maximum(values - find_levels(values, totals)[..., None], 0.0))


def find_levels(values: Floats, totals: Floats) -> Floats:
    """By how much all are lowered: what is then below zero becomes zero, and the others add up to the total."""
    ordered = np.sort(values, axis=-1)[..., ::-1]
    levels = (np.cumsum(ordered, axis=-1) - np.asarray(totals)[..., None]) / np.arange(1, values.shape[-1] + 1)
    kept = np.maximum((ordered > levels).sum(axis=-1) - 1, 0)
    return np.take_along_axis(levels, kept[..., None], axis=-1)[..., 0]


def project_shares(counts: Floats) -> Floats:
    """The shares on the last axis whose multiples are nearest to noisy counts: none below 0, and they add up to 1.

    What noise added is taken away from all cells alike, so that empty cells do not seem full. Where the counts add up
    to nothing or less, all shares are equal.

    >>> project_shares(np.array([6.0, 3.0, -1.0])).round(3).tolist()
    [0.688, 0.312, 0.0]
    """
    total = counts.sum(axis=-1)
    there = (total > 0)[..., None]
    nearest = project(counts, total)
    return np.where(there, nearest / np.where(there, nearest.sum(axis=-1, keepdims=True), 1.0), 1 / counts.shape[-1])


def round_sums(values: Floats) -> NDArray[np.int64]:
    """Whole numbers whose sums from the first on are the rounded ones: no range is off by more than 1."""
    sums = np.floor(np.cumsum(values) + 0.5).astype(np.int64)
    return np.diff(sums, prepend=0)


def round_remainders(values: Floats, totals: NDArray[np.int64]) -> NDArray[np.int64]:
    """Along the last axis, numbers rounded up or down so that they add up to these totals, which they nearly do.

    Those with the largest remainders are rounded up, of equal ones the first.

    >>> round_remainders(np.array([0.5, 1.75, 0.75]), np.array(3)).tolist()
    [0, 2, 1]
    """
    down = np.floor(values + 1e-9).astype(np.int64)
    order = np.argsort(-(values - down), axis=-1, kind="stable")
    ranks = np.argsort(order, axis=-1, kind="stable")
    short = (totals - down.sum(axis=-1))[..., None]
    found: NDArray[np.int64] = down + (ranks < short)
    # Doubles may leave the sum of the rounded-down ones above the total: then the largest gives.
    excess = np.maximum(-short[..., 0], 0)
    largest = np.argmax(found, axis=-1)[..., None]
    np.put_along_axis(found, largest, np.take_along_axis(found, largest, axis=-1) - excess[..., None], axis=-1)
    return found


def fit_whole(values: Floats, gram: Floats) -> NDArray[np.int64]:
    """Whole counts of bins in a row that are not negative, near to the estimates in the measure of their errors.

    Least squares with the total kept, by projected gradients with momentum (Beck & Teboulle 2009); then rounded so that
    ranges stay what they are.
    """
    total = np.array(max(0.0, float(np.rint(values.sum()))))
    step = 1 / float(np.abs(gram).sum(axis=1).max())  # no eigenvalue is above the largest sum of a row
    found = ahead = project(values, total)
    momentum = 1.0
    for _ in range(_ROUNDS):
        moved = project(ahead - step * (gram @ (ahead - values)), total)
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = moved + (momentum - 1) / following * (moved - found)
        found, momentum = moved, following
    return round_sums(found)
