"""Adds up the estimates of blocks of people, before noise is added: in integers within their grids.

Proof: docs/proofs/estimates.md.
"""

import numpy as np
from numpy.typing import NDArray

from adomnia.noise import Integers
from adomnia.privacy.domains import Numbers
from adomnia.privacy.transforms.estimates import BlockEstimates, EstimateCounts, furthest_step


def add_estimates(estimates: BlockEstimates, sums: Integers) -> Integers:
    """The exact result from the exact sums of all blocks: the first axis is theirs."""
    with np.errstate(all="ignore"):
        found = estimates.function.estimate(sums)
    if found.shape != (len(sums), len(estimates.domains)) or found.dtype != np.float64:
        raise ValueError("BlockFunction estimates must be a double for each block and parameter, got others.")
    placed = [(domain, round_to_grid(domain, found[:, at])) for at, domain in enumerate(estimates.domains)]
    add_up = _count if isinstance(estimates, EstimateCounts) else _add_moments
    return np.concatenate([add_up(domain, steps) for domain, steps in placed])


def round_to_grid(domain: Numbers, values: NDArray[np.float64]) -> Integers:
    """Estimates in steps of their grid, each by itself: clamped before and after, and in the middle if no number."""
    lower, upper, step = float(domain.lower), float(domain.upper), float(domain.step)
    known = np.where(np.isfinite(values), values, domain.middle * step)
    steps = np.floor(np.minimum(np.maximum(known, lower), upper) / step + 0.5)
    # What no double should be is there all the same: the ends, before a conversion that has no meaning beyond them.
    within = np.where(np.isfinite(steps), steps, float(domain.middle))
    within = np.minimum(np.maximum(within, float(domain.grid_lower)), float(domain.grid_upper))
    return np.minimum(np.maximum(within.astype(np.int64), domain.grid_lower), domain.grid_upper)


def _add_moments(domain: Numbers, steps: Integers) -> Integers:
    """At most 2**17 blocks of 2**16 steps, whose squares are of 2**32: 64 bits hold all of it."""
    away = steps - domain.middle
    return np.array([away.sum(), (away * away // (2 * furthest_step(domain))).sum()], dtype=np.int64)


def _count(domain: Numbers, steps: Integers) -> Integers:
    return np.bincount(steps - domain.grid_lower, minlength=domain.width + 1).astype(np.int64)
