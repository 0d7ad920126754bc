"""What every function of blocks must keep: a block's estimates depend on its own sums and its place, and nothing else.

All of a guarantee rests on it: one person changes the sums of one block.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

from adomnia.plans.plan import canonical
from adomnia.privacy.domains import Numbers
from adomnia.privacy.transforms.block_functions import (
    BINNED,
    BLOCK_FUNCTIONS,
    LOCATED,
    POWERS,
    BinsOfBlocks,
    SumsOfBlocks,
)

pytestmark = pytest.mark.no_cover  # tests of the modules have one example of each branch

BLOCKS = 67  # no multiple of what a processor computes at once
PLACES = (0, 1, 31, 32, 33, 63, 64, 65, 66)
HUGE = (0, -1, 1, 2**31, 2**53 + 1, 2**62, -(2**62), 2**100, -(2**126))
GRID = Numbers(Fraction(-1, 3), 50, Fraction(1, 7))


def sums_of_blocks():
    """Each distribution on each of its scales, and about a centre."""
    for distribution, powers in POWERS.items():
        grids, parameters = (GRID,) * len(powers), len(LOCATED[distribution])
        columns = 1 + sum(powers)
        yield SumsOfBlocks(distribution, grids, located=True), columns, parameters
        yield SumsOfBlocks(distribution, grids), columns, parameters
        centre = (Fraction(7, 3),) * parameters
        yield SumsOfBlocks(distribution, grids, centre=centre, rows=Fraction(97, 4)), columns, parameters


def bins_of_blocks():
    """Each distribution by itself, and about a centre."""
    for distribution in BINNED:
        parameters = len(LOCATED[distribution])
        usual = BinsOfBlocks(distribution, Fraction(-1, 3), Fraction(5))
        yield usual, 6, parameters
        yield replace(usual, centre=(Fraction(1, 3),) * parameters, rows=Fraction(97, 4)), 6, parameters


EXAMPLES = {SumsOfBlocks: sums_of_blocks, BinsOfBlocks: bins_of_blocks}
every_example = pytest.mark.parametrize(
    ("function", "columns", "parameters"),
    [example for kind in BLOCK_FUNCTIONS for example in EXAMPLES[kind]()],
    ids=lambda each: f"{each.distribution}-{each.located:d}-{len(each.centre)}" if is_dataclass(each) else "",
)


def sums_of(columns):
    """Sums of blocks of some rows, of no row and of one, of values on the grid and of their squares."""
    draw = np.random.default_rng(5)
    rows = draw.integers(0, 40, BLOCKS)
    rows[[1, 33]], rows[[0, 64]] = 0, 1
    sums = [rows, *(rows * draw.integers(1, 300, BLOCKS) ** min(power, 2) for power in range(1, columns))]
    return np.stack(sums, axis=-1)


def changes(sums):
    """The same with all blocks changed: to nothing, to what has no logarithm, to what overflows, to one another."""
    yield from (np.full(sums.shape, value, dtype=object) for value in HUGE)
    yield sums[::-1].astype(object)
    yield sums.astype(object) * -3


def reads_its_own_rows_alone(function, columns):
    """Whether no other block changes a bit of a block, at any of the places."""
    sums = sums_of(columns)
    for kind in (np.int64, object):
        usual = function.estimate(sums.astype(kind))
        for at, changed in enumerate(changes(sums)):
            # Each place by itself where all others are nothing, and all places at once beside whatever else.
            for kept in [[place] for place in PLACES] if at == 0 else [list(PLACES)]:
                others = changed.copy() if kind is object else np.clip(changed, -(2**62), 2**62).astype(np.int64)
                others[kept] = sums[kept]
                if function.estimate(others)[kept].tobytes() != usual[kept].tobytes():
                    return False
    return True


@every_example
def test_no_other_block_changes_a_bit_of_a_block(function, columns, parameters):
    assert reads_its_own_rows_alone(function, columns)


@every_example
@pytest.mark.parametrize("value", HUGE)
def test_whatever_the_sums_it_gives_doubles_and_raises_nothing(function, columns, parameters, value):
    found = function.estimate(np.full((BLOCKS, columns), value, dtype=object))
    assert (found.shape, found.dtype) == ((BLOCKS, parameters), np.float64)


@every_example
def test_it_changes_nothing_that_it_is_given(function, columns, parameters):
    sums = sums_of(columns)
    before = sums.copy()
    first = function.estimate(sums)
    assert (sums == before).all()
    assert not np.shares_memory(first, sums)
    assert function.estimate(sums).tobytes() == first.tobytes()


@every_example
def test_it_is_plain_data_that_plans_are_known_by(function, columns, parameters):
    held = {field.name: getattr(function, field.name) for field in fields(function)}
    assert canonical(type(function)(**held)) == canonical(function)


def test_functions_that_differ_are_known_by_different_names():
    assert len({canonical(each) for each, _, _ in sums_of_blocks()}) == 3 * len(POWERS)
    assert len({canonical(each) for each, _, _ in bins_of_blocks()}) == 2 * len(BINNED)


@dataclass(frozen=True)
class FromTheMeanOfAll:
    """Starts from the mean of all blocks, as a search that was written for speed might."""

    tag: ClassVar[str] = "FromTheMeanOfAll"

    def estimate(self, sums):
        rates = sums.astype(np.float64)
        return rates / (1 + np.abs(rates).mean(axis=0) * 2.0**-80)


@dataclass(frozen=True)
class UntilAllAreDone:
    """Goes on until every block is done, so that one of them decides how far the others come."""

    tag: ClassVar[str] = "UntilAllAreDone"

    def estimate(self, sums):
        found, wanted = np.ones(sums.shape), np.abs(sums.astype(np.float64)) + 1
        for _ in range(60):
            found = (found + wanted / found) / 2
            if (np.abs(found**2 - wanted) <= 1e-3 * wanted).all():
                break
        return found


@pytest.mark.parametrize("planted", [FromTheMeanOfAll(), UntilAllAreDone()])
def test_a_function_that_looks_at_other_blocks_is_found_out(planted):
    assert not reads_its_own_rows_alone(planted, 3)
