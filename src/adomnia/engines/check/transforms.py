"""What is computed from exact integers before noise: how far one person moves it, from how far they move the integers.

Matrices, guesses and functions are public, and applied by us as they are here; the text proves only the counts. Derived
again are what a matrix's columns make of the counts (docs/proofs/vectors.md), what one changed count of each table
makes of every score (docs/proofs/distances.md), and what one changed row of estimates, of the one block that a person
is in, makes of the numbers that are measured (docs/proofs/estimates.md).
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from math import prod
from operator import add
from typing import TypeAlias

import numpy as np

from adomnia.privacy.domains import Numbers
from adomnia.privacy.scans import Scan
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.privacy.transforms.contract import Transform
from adomnia.privacy.transforms.distances import Candidate, Distances
from adomnia.privacy.transforms.estimates import BlockEstimates, EstimateCounts, EstimateMoments
from adomnia.privacy.transforms.matrices import Combination, Matrix

_EXACT = 2**62
_KEPT = 256  # factors that are remembered: tables of a release share those of their columns


Proved: TypeAlias = Sensitivity | tuple[range, ...]
"""What a text proves of a scan: how far a person moves it, or which cells it has if they are in one block of these."""


def transform_sensitivity(aggregate: Scan | Transform, inner: Sequence[Proved]) -> Sensitivity:
    """Of what is computed from scans, of each of which that is proved; of a scan as it is.

    Only by the classes that are known here: whatever extends one of them may compute anything.
    """
    moved = [each for each in inner if isinstance(each, Sensitivity)]
    if isinstance(aggregate, BlockEstimates) and not moved:
        return estimate_sensitivity(aggregate)
    if len(moved) == len(inner):
        if type(aggregate) is Combination:
            (counts,) = moved
            return combine_sensitivity(counts, aggregate)
        if type(aggregate) is Distances:
            return distance_sensitivity(moved, aggregate)
        if not isinstance(aggregate, Transform):
            (own,) = moved
            return own
    raise ValueError(f"transform_sensitivity knows no {type(aggregate).__name__} of what is proved.")


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


def distance_sensitivity(tables: Sequence[Sensitivity], distances: Distances) -> Sensitivity:
    """Of all scores together: a score moves by no more than what it is computed from, whichever way."""
    scores = [move for each in distances.candidates for move in _moves(tables, each, distances)]
    furthest = max(largest for _, _, largest in scores)
    return Sensitivity(sum(total for total, _, _ in scores), sum(squares for _, squares, _ in scores), furthest)


def _moves(
    tables: Sequence[Sensitivity], candidate: Candidate, distances: Distances
) -> list[tuple[Fraction, Fraction, Fraction]]:
    factor = abs(candidate.weight) * distances.scale
    moved = [tables[guess.table] for guess in candidate.guesses]
    if distances.norm == "each":  # every cell of one table is a score, and moves as its count does, for each guess
        (table,) = {guess.table for guess in candidate.guesses}
        by, counts = factor * len(candidate.guesses), tables[table]
        return [(by * counts.l1, by**2 * counts.l2_squared, by * counts.linf)]
    added = sum((each.l1 for each in moved), start=Fraction(0))
    far = factor * (max(each.linf for each in moved) if distances.norm == "largest" else added)
    return [(far, far**2, far)]


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
