"""The narrowest interval is found from any tail, at any size."""

from __future__ import annotations

from math import exp

import pytest

from adomnia.mechanisms.contract import Interval, find_alpha, narrowest


@pytest.mark.parametrize("least", [0, 1, 2, 3, 4, 7, 8, 9, 1000, 2**40 + 1, 10**30])
def test_the_least_half_width_is_found(least):
    """A tail that falls from one half to nothing at `least`."""
    assert narrowest(lambda k: 0.5 if k < least else 0.0, 0.9, 1) == Interval(least, 1.0)


def test_a_tail_that_meets_the_confidence_exactly_is_enough():
    assert narrowest(lambda k: 0.5 ** (k + 1), 0.875, 1) == Interval(2, pytest.approx(0.875))


@pytest.mark.parametrize("cells", [1, 2, 10, 10**6])
def test_many_cells_are_covered_by_the_product(cells):
    interval = narrowest(lambda k: exp(-k / 1000), 0.95, cells)
    assert interval.coverage == pytest.approx((1 - exp(-interval.half_width / 1000)) ** cells, rel=1e-9)
    assert (1 - exp(-(interval.half_width - 1) / 1000)) ** cells < 0.95 <= interval.coverage


@pytest.mark.parametrize("cells", [1, 3, 10**6])
def test_one_interval_is_exact_and_many_share_what_they_may_miss(cells):
    alone, apart, anyhow = (find_alpha(0.95), find_alpha(0.95, cells), find_alpha(0.95, cells, "any"))
    assert alone == pytest.approx(0.05, rel=1e-12) == find_alpha(0.95, 1, "any")
    assert (1 - apart) ** cells == pytest.approx(0.95, rel=1e-9)
    assert anyhow == pytest.approx(0.05 / cells)
    assert anyhow <= apart * (1 + 1e-12)
