from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement
from math import log

import numpy as np
import pytest

from adomnia.mechanisms.envelopes import LogRange
from adomnia.mechanisms.propose_test_release import ProposeTestRelease
from adomnia.methods.parts.robust.proposals import QUARTILES, ProposalReply
from adomnia.methods.robust.ptr_iqr import ReleasedScale
from adomnia.privacy.events import Approximate, Concentrated, Pure
from kit.dwork_lei import BinnedScale, BoxedLine, count_replaced, find_quartiles
from kit.proposing import DATA, FRAME, ask, ask_often

EPSILON, RHO = Pure(1), Concentrated(0.4)


def plain(values):
    return float(np.subtract(*np.quantile(values, [0.75, 0.25], method="inverted_cdf")))


@pytest.mark.parametrize("distribution", ["normal", "heavy tails", "zeros", "whole numbers"])
@pytest.mark.parametrize("price", [EPSILON, RHO], ids=["epsilon", "rho"])
def test_it_replies_and_its_interval_holds_and_says_something(distribution, price):
    """Too few hits of 40 are seen at a false-alarm rate of 1e-6. The bounds are 100 apart."""
    replies = ask_often("ptr_iqr", plain, distribution, 4000, 40, price)
    assert replies.silent <= 0.2
    replies.check_coverage()
    assert replies.width < 50


@pytest.mark.soak
@pytest.mark.parametrize("distribution", ["normal", "heavy tails", "zeros", "whole numbers"])
def test_coverage_given_a_reply_is_near_what_is_promised(distribution):
    replies = ask_often("ptr_iqr", plain, distribution, 4000, 2000, EPSILON)
    assert 0.92 <= replies.hits / len(replies.found) <= 0.985


def test_an_interval_that_forgets_the_noise_is_found_out():
    """Half as wide an interval, in levels, holds too seldom: 40 draws at a false-alarm rate of 1e-6 tell them apart."""
    replies = ask_often("ptr_iqr", plain, "normal", 4000, 60, EPSILON)
    found = replies.found.copy()
    found[:, 0], found[:, 2] = (found[:, 1] * (found[:, end] / found[:, 1]) ** 0.2 for end in (0, 2))
    with pytest.raises(AssertionError):
        replace(replies, found=found).check_coverage()


@pytest.mark.parametrize("rows", [0, 1, 5])
@pytest.mark.parametrize("distribution", ["normal", "constant"])
def test_tiny_data_has_no_reply_and_is_told_why(rows, distribution):
    table = ask("ptr_iqr", EPSILON, DATA[distribution](np.random.default_rng(1), rows), 3)
    assert np.isnan(table.estimates["estimate"].values).all()
    assert any("There is no reply, and it was charged" in note and "or ask iqr" in note for note in table.notes)


@pytest.mark.parametrize("distribution", ["constant", "two ends"])
def test_ties_that_nobody_could_move_are_replied_to(distribution):
    """Two ends that half of the rows have each are 100 apart, whoever comes or goes."""
    values = DATA[distribution](np.random.default_rng(2), 3000)
    table = ask("ptr_iqr", Pure(2), values, 4)
    (value,) = table.estimates["estimate"].values
    (low,), (high,) = table.estimates["estimate"].interval(0.999, 1)
    assert low <= plain(values) <= high + 1e-4
    assert value < 1 if distribution == "constant" else value > 10


def test_less_than_one_step_of_the_grid_is_said():
    """Two of three rows are zero: both quartiles are, where noise is small."""
    values = np.repeat([0.0, 0.0, 0.0, 0.0, 50.0], 2000)
    tables = [ask("ptr_iqr", Pure(4), values, seed, column="k") for seed in range(20)]
    zero = [table for table in tables if table.estimates["estimate"].values[0] == 0]
    assert len(zero) > 5
    for table in zero:
        assert any("less than one step of the grid" in note for note in table.notes)
        (low,), (high,) = table.estimates["estimate"].interval(0.95, 1)
        assert low == 0 <= high < 50


def test_the_estimate_is_the_middle_of_its_level_and_never_beyond_the_bounds():
    table = ask("ptr_iqr", Pure(40), np.linspace(0, 100, 50_000), 0)
    assert table.estimates["estimate"].values[0] == pytest.approx(50, rel=0.05)
    (low,), (high,) = table.estimates["estimate"].interval(0.999, 1000)
    assert 0 <= low < 50 < high <= 100


def test_a_level_far_beyond_any_is_cut_at_the_bounds():
    mechanism = ProposeTestRelease(LogRange(*QUARTILES, 101, Fraction(2)), 1, 1, Approximate(1, 1e-6))
    scale = ReleasedScale(FRAME.numbers["k"], ProposalReply(10**9, mechanism))
    assert scale.value == 100
    assert scale.bounds(0.95, 1)[1].tolist() == [100]
    assert ReleasedScale(FRAME.numbers["k"], ProposalReply(-(10**9), mechanism)).value == 0


# -- beside the paper -----------------------------------------------------------------------------------------------


def test_the_distance_of_the_paper_is_that_of_brute_force(vectors):
    """All ways to replace rows of five: both leave the bin first at the same number."""
    agree, random = 0, np.random.default_rng(7)
    for _ in range(vectors["ptr_A0_bruteforce"]["total"]):
        ordered, base = np.sort(random.normal(0, 1, 5)), float(random.uniform(1.1, 3))
        agree += count_replaced(ordered, base, 0.0) == replaced_by_force(ordered, base)
    assert agree == vectors["ptr_A0_bruteforce"]["agree"]


def replaced_by_force(ordered, base):
    low, high = find_quartiles(len(ordered))
    inside = np.floor(log(ordered[high] - ordered[low]) / log(base))
    others = [-1e9, *ordered, *(ordered + 1e-12), 1e9]
    for many in range(1, len(ordered)):
        for kept in combinations_with_replacement(range(len(ordered)), len(ordered) - many):
            if len(set(kept)) < len(kept):
                continue
            for new in combinations_with_replacement(others, many):
                changed = np.sort([*ordered[list(kept)], *new])
                spread = changed[high] - changed[low]
                if spread <= 0 or np.floor(log(spread) / log(base)) != inside:
                    return many
    return len(ordered)


@pytest.mark.parametrize("rows", [1000, 3000, 10_000])
def test_the_paper_has_its_published_rates_and_this_replies_where_that_does_not(rows, vectors):
    """No reply of the paper: within five deviations of 60 draws. Ours: at a delta of 1e-6, and epsilon 1 in all."""
    known, paper = vectors["ptr_iqr_normal_eps1"][str(rows)], BinnedScale(1.0, rows)
    assert paper.threshold == pytest.approx(known["threshold"])
    assert paper.delta == pytest.approx(known["delta_per_disc"])
    random, draws = np.random.default_rng(rows), 60
    silent = sum(paper.release(random.normal(0, 1, rows), random) is None for _ in range(draws)) / draws
    expected = known["P_NR"]
    assert abs(silent - expected) <= 5 * np.sqrt(max(expected * (1 - expected), 0.01) / draws)
    assert ask_often("ptr_iqr", plain, "normal", rows, 20, EPSILON).silent <= 0.05


def test_the_test_of_their_regression_moves_by_at_most_one_where_a_row_is_replaced(vectors):
    """And beyond one, the fit of every neighbour stays in its box."""
    known, random = vectors["ptr_regression_surrogate"], np.random.default_rng(8)
    changes, far, left = [], 0, 0
    for _ in range(known["pairs"]):
        x = np.stack([np.ones(25), random.normal(0, 1, 25)], axis=1)
        y = x @ [0.5, 0.5] + random.normal(0, 0.1, 25)
        before = BoxedLine(x, y, np.ones(2))
        place, moved = random.integers(25), random.normal(0, 3, 2)
        x, y = x.copy(), y.copy()
        x[place, 1], y[place] = moved
        after = BoxedLine(x, y, np.ones(2))
        changes.append(abs(after.distance() - before.distance()))
        far += before.distance() > 1
        left += before.distance() > 1 and not np.array_equal(before.box, after.box)
    assert max(changes) <= 1
    assert known["max_change_of_A_on_neighbours"] <= 1
    assert far > 50
    assert left == known["violations_of_A_gt_1_implies_same_bin"]
