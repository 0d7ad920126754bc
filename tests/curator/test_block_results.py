"""Summaries of what blocks gave: what they cost, what their noise hides, and what no mechanism may open."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.curator.block_results import BlockSummary
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Pure
from adomnia.privacy.sensitivity import Sensitivity
from kit.bits import SeededBits

GRID = Numbers.bounded(0, 100, Fraction(1, 8))  # 801 values, in buckets of two


def summary(kind="average", price=1, blocks=20, domain=GRID):
    return BlockSummary(kind, blocks, domain, Pure(price))


def estimate(asked, results, noise=1):
    released = asked.release(np.asarray(results, dtype=float), asked.price, SeededBits(noise))
    return asked.statistic.estimate(released)


@pytest.mark.parametrize("kind", ["average", "median"])
def test_a_summary_costs_what_replacing_a_result_costs(kind):
    asked = summary(kind)
    moved = asked.measure.query.sensitivity()
    assert asked.measure.mechanism.event(Sensitivity(2 * moved.l1)).epsilon == 1


@pytest.mark.parametrize("kind", ["average", "median"])
def test_noise_for_a_row_that_comes_is_too_little_for_one_that_is_replaced(kind):
    asked = summary(kind)
    with pytest.raises(ValueError, match="does not cover"):
        asked.release(np.zeros(20), asked.price / 2, SeededBits(1))


def test_an_average_is_of_steps_off_the_middle():
    found = estimate(summary(price=1000), np.r_[np.full(10, 20.0), np.full(10, 30.0)])
    assert found.values == pytest.approx(20 * 8 * (25 - 50), abs=50)


@pytest.mark.parametrize(
    ("results", "middle"),
    [(np.arange(101.0), 50), (np.r_[np.full(60, 75.125), np.zeros(41)], 75.125), (np.full(101, np.nan), 50)],
)
def test_a_median_is_in_the_middle_of_the_results(results, middle):
    off = estimate(summary("median", price=40, blocks=101), results).values
    assert off / 8 + 50 == pytest.approx(middle, abs=1)


@pytest.mark.parametrize("results", [np.zeros(19), np.zeros((20, 1))])
def test_results_of_other_blocks_than_were_asked_for_are_not_released(results):
    with pytest.raises(ValueError, match="one for each of 20 blocks"):
        summary().release(results, Pure(1), SeededBits(1))
