"""Where grids are cut: from noisy and public numbers, always in order and inside of the grid."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from adomnia.mechanisms.cuts import (
    Sharpness,
    cut_pair,
    cut_several,
    find_aside,
    most_edges,
    plan_pair,
    plan_several,
)

HALF = Fraction(1, 2)
SHARP = Sharpness(2**20, 6.0, 2.5)
DECILES = tuple(Fraction(tenth, 10) for tenth in range(1, 10))
PERCENTILES = tuple(Fraction(place, 100) for place in range(1, 100))


@pytest.mark.parametrize("count", [1, 2, 7])
@pytest.mark.parametrize("left_open", [0.025, 0.3])
def test_a_rank_is_passed_as_seldom_as_is_asked(count, left_open):
    """By numerical integration over the gamma law of the level."""
    t = find_aside(count, left_open)
    density = stats.gamma(count + 1).pdf
    passed, _ = integrate.quad(lambda k: density(k) * (1 - t / k) / 2, t, np.inf)
    assert passed == pytest.approx(left_open, rel=1e-6)


def test_few_rows_have_no_pair_and_many_have_one_of_a_width_that_hardly_grows():
    assert plan_pair(HALF, 50, SHARP) is None
    near, far = (plan_pair(HALF, rows, SHARP) for rows in (1_000, 1_000_000))
    assert near.below == near.above < far.below < 2 * near.below
    assert 0 < far.near < near.near < 1


def test_a_pair_never_asks_beyond_most_of_the_rows():
    pair = plan_pair(Fraction(1, 100), 30_000, Sharpness(2**20, 60.0, 100.0))
    assert pair is None or pair.below <= Fraction(3, 5) * 300
    lopsided = plan_pair(Fraction(1, 100), 30_000, Sharpness(2**10, 1.0, 100.0))
    assert lopsided.below == 180 < lopsided.above


@given(st.integers(0, 100), st.integers(0, 100), st.fractions(0, 1))
def test_edges_of_a_pair_never_fall_and_hold_both_values(one, other, near):
    low, high = sorted((one, other))
    edges = cut_pair(low, high, near)
    assert edges == sorted(edges)
    assert (edges[0], edges[-1], len(edges)) == (low, high + 1, most_edges(1))


@pytest.mark.parametrize("shares", [(Fraction(1, 4), Fraction(3, 4)), DECILES, PERCENTILES], ids=len)
@pytest.mark.parametrize("rows", [1, 100, 1_000, 10_000, 10**9])
def test_shares_increase_inside_of_the_grid(shares, rows):
    plan = plan_several(shares, rows, SHARP)
    if plan is None:
        assert rows <= 100
        return
    assert all(0 < low < high < 1 for low, high in pairwise(plan.shares))
    assert plan.threes == (len(plan.shares) == 3 * len(shares) and plan.shares[1::3] == shares)
    chosen = sorted(int(share * 1000) for share in plan.shares)
    assert len(cut_several(chosen, 2**20, threes=plan.threes)) <= most_edges(len(shares))


def test_few_rows_are_cut_evenly_and_fewer_not_at_all():
    assert [
        plan if plan is None else plan.threes for plan in (plan_several(DECILES, n, SHARP) for n in (5, 150, 5000))
    ] == [
        None,
        False,
        True,
    ]


def test_a_value_chosen_twice_is_counted_by_itself():
    assert cut_several([3, 5, 5, 9], 20, threes=False) == [3, 5, 6, 9]
    assert cut_several([3, 5, 7], 20, threes=True) == [3, 5, 6, 8, 12]
    assert cut_several([0, 0, 0], 20, threes=True) == [1]
    assert cut_several([0, 0, 0], 1, threes=True) == []
