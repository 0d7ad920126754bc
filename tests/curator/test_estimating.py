"""Estimates of blocks are added up within their grids, whatever a function makes of the sums."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, nan
from typing import Any, ClassVar

import numpy as np
import pytest

from adomnia.curator.combining import combine
from adomnia.curator.estimating import add_estimates, round_to_grid
from adomnia.privacy.domains import Numbers
from adomnia.privacy.keys import Blocks
from adomnia.privacy.queries import Query
from adomnia.privacy.transforms.estimates import EstimateCounts, EstimateMoments
from privacy.transforms.test_estimates import PEOPLE, SUMS

GRID = Numbers(Fraction(-1, 3), Fraction(5, 3), Fraction(1, 7))
AWKWARD = [nan, inf, -inf, 1e308, -1e308, 5e-324, -0.0, 0.5, 5 / 3, -1 / 3, 2.0**63]


@dataclass(frozen=True)
class Columns:
    """Gives the sums themselves, or what is planted in their place."""

    tag: ClassVar[str] = "Columns"
    planted: Any = None

    def estimate(self, sums):
        return sums.astype(np.float64) if self.planted is None else self.planted


def test_each_estimate_is_clamped_rounded_and_clamped_again():
    found = round_to_grid(GRID, np.array(AWKWARD)).tolist()
    ends = [GRID.grid_upper, GRID.grid_lower]
    assert found == [*[GRID.middle] * 3, *ends, 0, 0, 4, *ends, 11]
    assert [GRID.grid(value) for value in AWKWARD[3:]] == found[3:]


def test_moments_are_of_the_distances_from_the_middle():
    grid = Numbers.integers(0, 10)
    found = add_estimates(EstimateMoments(SUMS, Columns(), (grid, grid)), np.array([[0, 3], [5, 99], [10, -4]]))
    assert found.dtype == np.int64
    # 25 // 10 twice; 4 // 10, and 25 // 10 twice.
    assert found.tolist() == [0, 4, -2 + 5 - 5, 0 + 2 + 2]


def test_counts_are_of_all_blocks_at_every_step():
    grid = Numbers.integers(2, 5)
    found = add_estimates(EstimateCounts(SUMS, Columns(), (grid, grid)), np.array([[2, 9], [3, 9], [3, 1]]))
    assert found.tolist() == [1, 2, 0, 0, 1, 0, 0, 2]


def test_sums_beyond_64_bits_are_handed_on():
    grid = Numbers.integers(0, 4)
    sums = np.array([[2**100, 1], [0, 2]], dtype=object)
    assert add_estimates(EstimateCounts(SUMS, Columns(), (grid, grid)), sums).tolist() == [1, 0, 0, 0, 1, 0, 1, 1, 0, 0]


@pytest.mark.parametrize(
    "planted", [np.zeros((3, 1)), np.zeros((2, 2)), np.zeros(3), np.zeros((3, 2), dtype=np.float32)]
)
def test_a_function_that_gives_other_than_a_double_for_each_block_and_parameter_fails(planted):
    grid = Numbers.integers(0, 4)
    with pytest.raises(ValueError, match="a double for each block"):
        add_estimates(EstimateMoments(SUMS, Columns(planted), (grid, grid)), np.zeros((3, 2), dtype=np.int64))


@pytest.mark.parametrize("kind", [EstimateMoments, EstimateCounts])
def test_one_block_moves_the_result_by_at_most_the_sensitivity(kind):
    """Any row of estimates in place of any other, over pairs of awkward ones and grids of several widths."""
    grids = (GRID, Numbers.integers(-4, 5))
    asked = Query(PEOPLE, (Blocks(3),), kind(SUMS, Columns(), grids))
    others = np.array([[0.2, 3.0], [1.0, -2.0]])
    values = [*AWKWARD, -0.2, 0.7, 1.2, -3.0, 4.4]
    results = []
    for first in values:
        for second in values:
            rows = np.vstack([others, [first, second]])
            results.append(combine(Query(PEOPLE, (Blocks(3),), kind(SUMS, Columns(rows), grids)), np.zeros((3, 2))))
    limit = asked.sensitivity()
    moved = np.abs(np.array(results)[:, None] - np.array(results)[None])
    assert moved.sum(-1).max() <= limit.l1
    assert (moved**2).sum(-1).max() <= limit.l2_squared
    assert moved.max() <= limit.linf
    assert moved.sum(-1).max() >= limit.l1 - 2
