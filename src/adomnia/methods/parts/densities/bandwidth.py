"""How wide the bins of a density should be, from noisy counts of narrow ones.

Least-squares cross-validation (Rudemo 1982) estimates the integrated squared error of a histogram but for a constant.
From noisy counts of variance s each, the square of a count is too large by s on average, which is taken off; and the
noise of what will be shown is part of its error, which is added.
"""

from collections.abc import Sequence

import numpy as np

from adomnia.methods.parts.densities.shares import merge
from adomnia.statistics.contract import Floats


def candidates(cells: int) -> list[tuple[int, ...]]:
    """Ways to merge neighbouring cells: none, twos, fours, and so on; what is left over makes a narrower last bin."""
    sizes = (2**power for power in range(max(1, (cells - 1).bit_length() + 1)))
    return [merge_into(cells, size) for size in sizes]


def choose(counts: Floats, widths: Floats, variance: float) -> tuple[int, ...]:
    """The candidate of the least estimated error; one bin where hardly any rows are seen."""
    ways = candidates(len(counts))
    if counts.sum() < 2:
        return ways[-1]
    return min(ways, key=lambda sizes: estimate_error(counts, widths, variance, sizes))


def estimate_error(counts: Floats, widths: Floats, variance: float, sizes: Sequence[int]) -> float:
    """The integrated squared error of a density of merged cells, without what is the same for all candidates."""
    rows = counts.sum()
    merged, wide, noise = merge(counts, sizes), merge(widths, sizes), variance * np.array(sizes)
    squares = merged**2 - noise
    pairs = (squares - merged) / (rows * (rows - 1))
    return float(((squares + noise) / rows**2 / wide - 2 * pairs / wide).sum())


def merge_into(cells: int, size: int) -> tuple[int, ...]:
    """Bins of so many cells each; what is left over makes a narrower last one."""
    left = cells % size
    return (size,) * (cells // size) + ((left,) if left else ())
