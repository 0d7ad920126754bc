"""Estimates of blocks: how far they move where those of one block change, which one person is in.

The function is public, and applied by us; that every person is in one block is proved from the text. What is derived
again is what one changed row of estimates makes of the numbers that are measured. Proof: docs/proofs/estimates.md.
"""

from functools import reduce
from operator import add

import numpy as np

from adomnia.privacy.domains import Numbers
from adomnia.privacy.estimates import BlockEstimates, EstimateCounts, EstimateMoments
from adomnia.privacy.sensitivity import Sensitivity


def estimate_sensitivity(estimates: BlockEstimates) -> Sensitivity:
    """Of all parameters together; a Sensitivity adds up what is measured as one vector."""
    if type(estimates) is EstimateMoments:
        return reduce(add, map(_move_moments, estimates.domains))
    if type(estimates) is EstimateCounts:  # a block leaves one place of each grid for another
        return reduce(add, (Sensitivity(l1=2, l2_squared=2, linf=1) for _ in estimates.domains))
    raise TypeError(f"estimate_sensitivity estimates must be moments or counts, got {type(estimates).__name__}.")


def _move_moments(domain: Numbers) -> Sensitivity:
    """By trying how far an estimate goes: by d, and its square by d |a + b|, where |a + b| <= 2 reach - d."""
    reach = max(abs(domain.grid_upper - domain.middle), abs(domain.grid_lower - domain.middle))
    distances = np.arange(domain.grid_upper - domain.grid_lower + 1, dtype=np.int64)
    # Two numbers rounded down are no further apart than they are, rounded up.
    squares = -(-distances * (2 * reach - distances) // (2 * reach))
    return Sensitivity(
        max(1, int((distances + squares).max())),
        max(1, int((distances**2 + squares**2).max())),
        max(1, int(np.maximum(distances, squares).max())),
    )
