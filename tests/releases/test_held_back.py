"""Intervals of a distance that noise hides hold it as often as they say, and say something where rows are many."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from adomnia.releases.held_back import CellNoise, choose_held_back, compare_table
from adomnia.statistics.products import Attribute
from kit.asked_releases import NoisyTable, make_release

FALSE_ALARM = 1e-6
MISSED = 0.05
TRIALS = 400
LAWS = pytest.mark.parametrize("tails", ["gaussian", "laplace"])


def draw(tails, deviation, cells, generator):
    if tails == "gaussian":
        return generator.normal(0, deviation, cells)
    return generator.laplace(0, deviation / 2**0.5, cells)


def intervals(tails, truth, published, deviation, cheat=1.0):
    """Reports of noisy tables of the same truth; `cheat` is what the noise is said to be of what it is."""
    generator = np.random.default_rng(7)
    noise = CellNoise(deviation * cheat, tails, truth.size)
    return [
        compare_table(("a", "b"), truth + draw(tails, deviation, truth.size, generator), published, noise, MISSED)
        for _ in range(TRIALS)
    ]


def variation(truth, published):
    return np.abs(truth / truth.sum() - published / published.sum()).sum() / 2


def count_missed(tails, truth, published, deviation, cheat=1.0):
    true = variation(truth, published)
    found = intervals(tails, truth, published, deviation, cheat)
    return sum(not each.lower <= true <= each.upper for each in found)


MOST_MISSED = int(binom.isf(FALSE_ALARM, TRIALS, MISSED))
EVEN = np.full(60, 500.0)
HEAVY = np.sort(np.random.default_rng(0).pareto(1.1, 60) * 100).round()
SPARSE = np.where(np.arange(60) < 3, 400.0, 0.0)


@LAWS
@pytest.mark.parametrize(
    "truth", [EVEN, HEAVY, SPARSE, EVEN[:1], EVEN[:2] / 100], ids=["even", "heavy", "sparse", "1", "2"]
)
@pytest.mark.parametrize("change", ["none", "other order", "other size"])
def test_intervals_hold_the_true_variation_as_often_as_they_say(tails, truth, change):
    published = {"none": truth, "other order": truth[::-1], "other size": np.append(truth[1:], 1.0) * 3}[change]
    assert count_missed(tails, truth, published, 6.0) <= MOST_MISSED


@LAWS
def test_intervals_of_noise_that_is_said_to_be_smaller_than_it_is_are_found_out(tails):
    assert count_missed(tails, EVEN, EVEN, 60.0, cheat=0.4) > MOST_MISSED


@LAWS
def test_intervals_say_something_where_rows_are_many(tails):
    far = EVEN.copy()
    far[:10] *= 3
    near = intervals(tails, EVEN, EVEN, 6.0)
    assert max(each.upper for each in near) < 0.03
    assert {each.lower for each in near} == {0.0}
    apart = intervals(tails, EVEN, far, 6.0)
    assert min(each.lower for each in apart) > 0.85 * variation(EVEN, far)
    assert max(each.upper for each in apart) < 1.15 * variation(EVEN, far)


def test_the_error_of_a_cell_is_free_of_noise_on_average():
    errors = [each.cell_error for each in intervals("gaussian", EVEN, np.r_[EVEN[:30] + 20, EVEN[30:] - 20], 6.0)]
    assert np.mean(errors) == pytest.approx(20, rel=0.02)


@LAWS
@pytest.mark.parametrize("cells", [1, 3, 200])
def test_each_bound_is_passed_as_seldom_as_it_says_and_is_not_far_from_where_that_happens(tails, cells):
    generator = np.random.default_rng(3)
    drawn = draw(tails, 1.0, (20_000, cells), generator)
    noise, most = CellNoise(1.0, tails, cells), int(binom.isf(FALSE_ALARM, 20_000, MISSED))
    cases = {
        noise.bound_sum(MISSED): np.abs(drawn).sum(axis=1),
        noise.bound_total(MISSED): np.abs(drawn.sum(axis=1)),
        noise.bound_drop(MISSED): cells * np.abs(drawn[:, 0]).mean() - np.abs(drawn).sum(axis=1),
    }
    for bound, values in cases.items():
        assert (values > bound).sum() <= most
    sums = np.abs(drawn).sum(axis=1)
    assert noise.bound_sum(MISSED) < (1.1 if cells > 100 else 2) * np.quantile(sums, 1 - MISSED)


def test_a_table_without_rows_says_nothing():
    found = compare_table(("a",), np.zeros(4) - 1.0, np.ones(4), CellNoise(5.0, "gaussian", 4), MISSED)
    assert (found.lower, found.upper) == (0.0, 1.0)


def product(sizes, *together):
    attributes = tuple(Attribute(f"c{place}", tuple(map(str, range(size)))) for place, size in enumerate(sizes))
    return make_release(NoisyTable(np.zeros(sizes), 1.0, tuple(map(frozenset, together))), attributes).product


def test_tables_of_the_fewest_cells_that_were_not_measured_are_held_back():
    assert choose_held_back(product((5, 2, 3, 4), {0, 1}, {2, 3}), 3) == [(1, 2), (1, 3), (0, 2)]


def test_three_columns_are_held_back_where_all_pairs_were_measured():
    pairs = [{0, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}, {2, 3}]
    assert choose_held_back(product((5, 2, 3, 4), *pairs), 2) == [(1, 2, 3), (0, 1, 2)]
    assert choose_held_back(product((5, 2), {0, 1}), 5) == []
