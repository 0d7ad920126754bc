"""Combinations of counts: how far one person moves them, from how far the text lets one person move the counts.

The matrix is public, and applied by us as it is here; what is derived again is what its columns make of the counts.
Proof: docs/proofs/vectors.md.
"""

from functools import lru_cache, reduce
from math import prod

import numpy as np

from adomnia.privacy.matrices import Combination, Matrix
from adomnia.privacy.sensitivity import Sensitivity

_EXACT = 2**62
_KEPT = 256  # factors that are remembered: tables of a release share those of their columns


def combine_sensitivity(counts: Sensitivity, combination: Combination) -> Sensitivity:
    """Counts that move by so much in all move results by so many times their column, whichever that is."""
    longest, squares = (max(_columns(combination, power)) for power in (1, 2))
    largest = max(_largest(block) for block in combination.blocks)
    rises = counts.monotone and all(_is_positive(factor) for block in combination.blocks for factor in block)
    return Sensitivity(counts.l1 * longest, counts.l1**2 * squares, counts.l1 * largest, rises)


def _columns(combination: Combination, power: int) -> list[int]:
    """Of each cell, its coefficients of all blocks, to a power and added up."""
    blocks = [[_factor(factor, power) for factor in block] for block in combination.blocks]
    small = sum(prod(map(max, block)) for block in blocks) < _EXACT
    kind = np.int64 if small else object  # Python's own integers never wrap, but a million of them take a second
    added = np.zeros(combination.columns, dtype=kind)
    for block in blocks:
        added += reduce(np.kron, (np.array(sums, dtype=kind) for sums in block))
    found: list[int] = added.tolist()
    return found


@lru_cache(maxsize=_KEPT)
def _factor(factor: Matrix, power: int) -> list[int]:
    sums = [0] * factor.columns
    for row in factor.rows:
        for column, coefficient in row:
            sums[column] += abs(coefficient) ** power
    return sums


def _largest(block: tuple[Matrix, ...]) -> int:
    found = 1
    for factor in block:
        found *= _largest_entry(factor)
    return found


@lru_cache(maxsize=_KEPT)
def _largest_entry(factor: Matrix) -> int:
    return max(abs(coefficient) for row in factor.rows for _, coefficient in row)


@lru_cache(maxsize=_KEPT)
def _is_positive(factor: Matrix) -> bool:
    return all(coefficient >= 0 for row in factor.rows for _, coefficient in row)
