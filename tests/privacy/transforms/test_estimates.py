"""Estimates of blocks: how far they move where those of one block become any others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import inf, nan
from typing import Any, ClassVar

import numpy as np
import pytest

from adomnia.engines.check.transforms import estimate_sensitivity
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.keys import Blocks, Bucket
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import MOST_ROWS, Private
from adomnia.privacy.scans import Rows
from adomnia.privacy.transforms.estimates import (
    MOST_STEPS,
    EstimateCounts,
    EstimateMoments,
    furthest_step,
    round_to_grid,
)
from adomnia.privacy.vectors import Variable, Vector, constant, variable

DOMAIN = Numbers.integers(0, 10)
VALUE = Column("x", Quantity(Fraction(0), Fraction(10), True), DOMAIN)
SUMS = Vector((Variable(VALUE, DOMAIN),), (constant(1, 1), variable(0, 1)))
PEOPLE = Private("people", 3, (VALUE,))
# Even and odd widths, off the origin, of one step, and with bounds that are no multiples.
SMALL = [(0, 1), (0, 2), (-3, 4), (5, 12), (-9, -2), (Fraction(-1, 2), Fraction(13, 2))]


@dataclass(frozen=True)
class Nothing:
    tag: ClassVar[str] = "Nothing"

    def estimate(self, sums):
        return sums * 1.0


def moments(*bounds, step=1):
    return EstimateMoments(SUMS, Nothing(), tuple(Numbers(*ends, step) for ends in bounds))


def counts(*bounds):
    return EstimateCounts(SUMS, Nothing(), tuple(Numbers(*ends, 1) for ends in bounds))


def moments_at(domain, step):
    away = step - domain.middle
    return away, away**2 // (2 * furthest_step(domain))


def moves_of(domain):
    """Every move of one block, by the definition."""
    steps = range(domain.grid_lower, domain.grid_upper + 1)
    for before, after in product(steps, steps):
        yield [abs(one - two) for one, two in zip(moments_at(domain, before), moments_at(domain, after), strict=True)]


@pytest.mark.no_cover
@pytest.mark.parametrize("bounds", [*SMALL, *((0, width) for width in range(3, 60))])
def test_values_and_shortened_squares_move_no_further_than_values_alone(bounds):
    stated = moments(bounds).move
    found = list(moves_of(moments(bounds).domains[0]))
    assert max(map(sum, found)) <= stated.l1 == 2 * furthest_step(moments(bounds).domains[0])
    assert max(one**2 + two**2 for one, two in found) <= stated.l2_squared
    assert max(map(max, found)) <= stated.linf
    # An odd width has no middle on the grid, and one step more is paid for.
    assert max(map(sum, found)) >= stated.l1 - 1


def test_parameters_move_together():
    stated = moments((0, 2), (0, 10)).move
    assert (stated.l1, stated.l2_squared, stated.linf, stated.monotone) == (12, 104, 10, False)


@pytest.mark.parametrize("parameters", [1, 2, 5])
def test_a_block_leaves_one_count_of_each_parameter_for_another(parameters):
    stated = counts(*[(0, 9)] * parameters).move
    assert (stated.l1, stated.l2_squared, stated.linf) == (2 * parameters, 2 * parameters, 1)
    assert not stated.monotone  # a person who comes lowers a count


@pytest.mark.parametrize("estimates", [moments(*SMALL), counts(*SMALL), *(moments((0, 2**power)) for power in (5, 16))])
def test_the_second_look_derives_the_same(estimates):
    derived, stated = estimate_sensitivity(estimates), estimates.move
    assert derived.l1 <= stated.l1
    assert derived.l2_squared <= stated.l2_squared
    assert derived.linf <= stated.linf
    assert derived.monotone is stated.monotone is False


@pytest.mark.parametrize("rows", [1, 3, MOST_ROWS])
def test_a_query_of_estimates_moves_as_they_do_however_many_rows_a_person_has(rows):
    asked = Query(replace(PEOPLE, rows_per_person=rows), (Blocks(7),), moments((0, 4)))
    assert asked.sensitivity() == asked.aggregate.move
    (inner,) = asked.inner
    assert inner == replace(asked, aggregate=SUMS)
    assert inner.inner == (inner,)
    assert (asked.by_block, asked.recurs, asked.columns, asked.largest_move) == (True, False, 1, None)
    assert not inner.by_block
    assert (asked.shape, asked.result_shape, asked.form) == ((7,), (2,), "cells")
    assert asked.largest == inner.largest
    assert asked.aggregate.expressions == (VALUE,)


def test_rows_of_a_block_may_be_counted_at_each_step_of_a_variable():
    counted = Variable(VALUE, DOMAIN)
    asked = Query(PEOPLE, (Blocks(7),), EstimateMoments(counted, Nothing(), (DOMAIN,)))
    assert asked.inner == (Query(PEOPLE, (Blocks(7), Bucket(VALUE, DOMAIN, VALUE)), Rows()),)
    assert asked.sensitivity() == EstimateMoments(SUMS, Nothing(), (DOMAIN,)).move
    assert asked.largest == asked.inner[0].largest
    assert asked.aggregate.expressions == (VALUE,)


@pytest.mark.parametrize("keys", [(), (Blocks(7), Blocks(7))])
def test_estimates_are_of_one_division_into_blocks(keys):
    with pytest.raises(ValueError, match="must be blocks of people"):
        Query(PEOPLE, keys, moments((0, 4)))


@pytest.mark.parametrize(
    ("domains", "why"),
    [
        ((), "between 1 and 16"),
        ((DOMAIN,) * 17, "between 1 and 16"),
        ((Numbers.integers(3, 3),), "steps within"),
        ((Numbers.integers(0, MOST_STEPS + 1),), "steps within"),
        ((Numbers.integers(2**50, 2**50 + 2),), "steps within"),
    ],
)
def test_grids_that_doubles_do_not_hold_are_refused(domains, why):
    with pytest.raises(ValueError, match=why):
        EstimateMoments(SUMS, Nothing(), domains)


def test_supposed_blocks_spread_about_the_middle():
    assert moments((0, 70)).simulate(100) == [0, 100 * (70**2 // (49 * 70))]
    supposed = counts((0, 99), (0, 1)).simulate(1000)
    assert len(supposed) == counts((0, 99), (0, 1)).results == 102
    assert abs(sum(supposed[:100]) - 1000) < 10
    assert supposed.index(max(supposed[:100])) == 49


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
    found = EstimateMoments(SUMS, Columns(), (grid, grid)).apply([np.array([[0, 3], [5, 99], [10, -4]])], 0)
    assert found.dtype == np.int64
    # 25 // 10 twice; 4 // 10, and 25 // 10 twice.
    assert found.tolist() == [0, 4, -2 + 5 - 5, 0 + 2 + 2]


def test_counts_are_of_all_blocks_at_every_step():
    grid = Numbers.integers(2, 5)
    found = EstimateCounts(SUMS, Columns(), (grid, grid)).apply([np.array([[2, 9], [3, 9], [3, 1]])], 0)
    assert found.tolist() == [1, 2, 0, 0, 1, 0, 0, 2]


def test_sums_beyond_64_bits_are_handed_on():
    grid = Numbers.integers(0, 4)
    sums = np.array([[2**100, 1], [0, 2]], dtype=object)
    assert EstimateCounts(SUMS, Columns(), (grid, grid)).apply([sums], 0).tolist() == [1, 0, 0, 0, 1, 0, 1, 1, 0, 0]


@pytest.mark.parametrize(
    "planted", [np.zeros((3, 1)), np.zeros((2, 2)), np.zeros(3), np.zeros((3, 2), dtype=np.float32)]
)
def test_a_function_that_gives_other_than_a_double_for_each_block_and_parameter_fails(planted):
    grid = Numbers.integers(0, 4)
    with pytest.raises(ValueError, match="a double for each block"):
        EstimateMoments(SUMS, Columns(planted), (grid, grid)).apply([np.zeros((3, 2), dtype=np.int64)], 0)


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
            results.append(Query(PEOPLE, (Blocks(3),), kind(SUMS, Columns(rows), grids)).apply([np.zeros((3, 2))]))
    limit = asked.sensitivity()
    moved = np.abs(np.array(results)[:, None] - np.array(results)[None])
    assert moved.sum(-1).max() <= limit.l1
    assert (moved**2).sum(-1).max() <= limit.l2_squared
    assert moved.max() <= limit.linf
    assert moved.sum(-1).max() >= limit.l1 - 2


def test_results_are_on_the_grids_of_the_parameters():
    estimates = moments((0, 1), (-3, 4))
    assert estimates.grids == (Numbers(0, 1, 1), Numbers(-3, 4, 1))
