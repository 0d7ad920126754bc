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
    ROWS,
    Pair,
    Sharpness,
    cut_pair,
    cut_several,
    find_aside,
    most_edges,
    plan_pair,
    plan_several,
)

HALF = Fraction(1, 2)
SHARP = Sharpness(choice=2.0, count=1.5, power=1.0)  # about that of epsilon 1
DECILES = tuple(Fraction(tenth, 10) for tenth in range(1, 10))
PERCENTILES = tuple(Fraction(place, 100) for place in range(1, 100))


@pytest.mark.parametrize("count", [1, 2, 7])
@pytest.mark.parametrize("alpha", [0.025, 0.3])
def test_a_rank_is_passed_as_seldom_as_is_asked(count, alpha):
    """By numerical integration over the gamma distribution of the level."""
    t = find_aside(count, alpha)
    density = stats.gamma(count + 1).pdf
    passed, _ = integrate.quad(lambda k: density(k) * (1 - t / k) / 2, t, np.inf)
    assert passed == pytest.approx(alpha, rel=1e-6)


def test_few_rows_have_no_pair_and_many_have_one_of_a_width_that_hardly_grows():
    assert plan_pair(HALF, 50, SHARP) is None
    near, far = (plan_pair(HALF, rows, SHARP) for rows in (1_000, 1_000_000))
    assert near.below == near.above < far.below < 2.5 * near.below
    assert 0 < far.near < near.near < 1


def test_a_pair_keeps_away_from_the_emptiness_beyond_the_last_row():
    """In the tails the rank on the side of the end is nearer, and never beyond the last row."""
    pair = plan_pair(Fraction(1, 100), 30_000, Sharpness(choice=2.0, count=100.0, power=1.0))
    assert pair.below < pair.above
    for rows in (100, 1_000, 10_000):
        for share in (Fraction(1, 100), Fraction(1, 20), Fraction(9, 10), Fraction(99, 100)):
            pair = plan_pair(share, rows, SHARP)
            assert pair is None or (0 < pair.below < share * rows and 0 < pair.above < (1 - share) * rows)


@pytest.mark.parametrize("power", [1.0, 0.5], ids=["epsilon", "rho"])
@pytest.mark.parametrize("share", [Fraction(1, 1000), Fraction(1, 20), HALF, Fraction(9, 10)])
def test_the_parts_of_every_plan_are_the_price(share, power):
    for choice in (1e-4, 0.1, 2.0, 1e3, 1e9):
        for exponent in range(37):
            rows = min(2**exponent, 2**36)
            pair = plan_pair(share, rows, Sharpness(choice, choice, power))
            assert pair is None or ROWS + pair.own + sum(pair.choosing) + pair.counting == 1
            several = plan_several((share, share + Fraction(1, 2000)), rows, Sharpness(choice, choice, power))
            assert several is None or ROWS + sum(several.choosing) + several.counting == 1
            assert several is None or len(several.shares).bit_length() <= len(several.choosing)


@given(
    st.lists(st.integers(0, 100), min_size=3, max_size=3).map(sorted),
    st.fractions(0, 1),
    st.booleans(),
    st.sampled_from([Fraction(0), Fraction(1, 10)]),
)
def test_edges_of_a_pair_rise_inside_of_the_grid_and_hold_all_values(three, near, farthest, own):
    pair = Pair(Fraction(1), Fraction(1), near, farthest, own, (Fraction(1, 4),), Fraction(1, 2))
    edges = cut_pair(three, pair, 101)
    assert edges == sorted(set(edges))
    assert len(edges) <= most_edges(1)
    assert {each for each in (three[0], three[1], three[2] + 1) if 0 < each < 101} <= set(edges)
    assert all(0 < edge < 101 for edge in edges)


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
        plan if plan is None else plan.threes for plan in (plan_several(DECILES, n, SHARP) for n in (5, 250, 50_000))
    ] == [
        None,
        False,
        True,
    ]


def test_one_value_for_all_ranks_has_cuts_at_growing_distances():
    """Round numbers are chosen so from smooth columns too: cuts beside it alone would tell nothing."""
    pair = Pair(Fraction(1), Fraction(1), HALF, False, Fraction(0), (Fraction(1, 4),), Fraction(1, 2))
    assert cut_pair([500, 500, 500], pair, 10_000) == [400, 490, 500, 501, 511, 601, 1501]


def test_cuts_stay_within_the_grid_where_one_value_lies_far_off_in_the_emptiness():
    pair = Pair(Fraction(1), Fraction(1), HALF, True, Fraction(0), (Fraction(1, 4),), Fraction(1, 2))
    assert cut_pair([300, 600, 900], pair, 1000)[:2] == [100, 200]


@given(st.lists(st.integers(0, 4095), min_size=9, max_size=9).map(sorted), st.sampled_from([4096, 2**20]))
def test_edges_of_several_have_room(chosen, values):
    edges = cut_several(chosen, values, threes=True)
    assert edges == sorted(set(edges))
    assert len(edges) <= most_edges(3)
    assert all(0 < edge < values for edge in edges)


def test_a_value_chosen_twice_is_counted_by_itself():
    assert cut_several([3, 5, 5, 9], 20, threes=False) == [3, 5, 6, 9]
    assert cut_several([3, 5, 7], 20, threes=True) == [3, 4, 5, 6, 7, 8, 12]
    assert cut_several([0, 0, 0], 20, threes=True) == [1, 2, 3, 5, 10]
    assert cut_several([0, 0, 0], 1, threes=True) == []
