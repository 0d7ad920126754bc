"""Weights in a table of all columns: the update of MWEM, fits to noisy counts, and rows with the weights as shares."""

from __future__ import annotations

import numpy as np
import pytest

from adomnia.methods.synthesis.explicit_rows import (
    NoisyCells,
    cut_to_total,
    draw_rows,
    estimate_total,
    fit,
    multiply,
    start_independent,
    sum_tables,
)

CHANCE = np.random.default_rng(20)
TABLE = CHANCE.dirichlet(np.ones(24)).reshape(4, 3, 2) * 500


def sum_up(weights, columns):
    return weights.sum(axis=tuple(axis for axis in range(weights.ndim) if axis not in columns))


def test_one_count_multiplies_weights_as_in_the_known_answer(vectors):
    """Its question is about the first half of the cells: the first value of a column."""
    known = vectors["mwem_update"]
    asked = NoisyCells((0,), np.array([0]), np.array([known["m"]]), 3.0)
    assert known["q"] == [1, 1, 0, 0]
    updated = multiply(np.array(known["A"]).reshape(2, 2), [asked])
    assert updated.ravel() == pytest.approx(known["A_new"], rel=1e-12)


def test_tables_of_some_columns_are_sums_over_the_others():
    asked = [(0, 2), (1,), (), (0, 1, 2), (1, 2), (1,)]
    found = sum_tables(TABLE, asked)
    assert set(found) == set(asked)
    for each in asked:
        assert found[each] == pytest.approx(sum_up(TABLE, each))


def test_a_fit_to_exact_tables_has_these_tables():
    exact = [NoisyCells.whole(each, sum_up(TABLE, each), 1.0) for each in ((0, 1), (1, 2), (0,))]
    start = start_independent((4, 3, 2), [NoisyCells.whole((axis,), sum_up(TABLE, (axis,)), 1.0) for axis in range(3)])
    fitted = fit(start, exact, 3000)
    for each in exact:
        assert sum_up(fitted, each.columns).ravel() == pytest.approx(each.counts, abs=0.05)
    # What was not measured is as independent as it can be: the first and the last column given the second.
    expected = np.einsum("ab,bc,b->abc", sum_up(TABLE, (0, 1)), sum_up(TABLE, (1, 2)), 1 / sum_up(TABLE, (1,)))
    assert fitted == pytest.approx(expected, abs=0.6)


def test_updates_never_make_the_errors_larger_and_keep_the_sum():
    wild = [
        NoisyCells.whole((0, 1), CHANCE.normal(0, 1e4, 12), 9.0),
        NoisyCells((2,), np.array([1]), np.array([-5.0]), 1.0),
    ]
    weights = np.full((4, 3, 2), 2.0)
    losses = []
    for replays in (0, 1, 5, 50):
        fitted = fit(weights, wild, replays)
        assert fitted.sum() == pytest.approx(48)
        assert np.isfinite(fitted).all()
        assert (fitted >= 0).all()
        apart = [np.square(sum_up(fitted, each.columns).ravel()[each.places] - each.counts).sum() for each in wild]
        losses.append(apart[0] / 9 + apart[1])
    assert losses == sorted(losses, reverse=True)


def test_the_more_exact_of_two_counts_weighs_more():
    both = [NoisyCells.whole((0,), np.array([30.0, 70.0]), 1.0), NoisyCells.whole((0,), np.array([60.0, 40.0]), 9.0)]
    assert fit(np.array([50.0, 50.0]), both, 500) == pytest.approx([33, 67], abs=0.01)


@pytest.mark.parametrize(
    ("counts", "total", "expected"),
    [
        ([3, 1], 4, [3, 1]),
        ([3, -1], 2, [2, 0]),
        ([5, 4, -9], 3, [2, 1, 0]),
        ([-5, -7], 1, [1, 0]),
        ([0, 0], 8, [4, 4]),
        ([1e20, -1e20, 3], 1, [1, 0, 0]),
    ],
)
def test_counts_are_cut_to_the_nearest_that_have_the_total(counts, total, expected):
    assert cut_to_total(np.array(counts, dtype=float), total).tolist() == expected


def test_the_total_is_a_mean_by_precision_and_never_below_one():
    noisy = [NoisyCells.whole((0,), np.array([60.0, 40.0]), 1.0), NoisyCells.whole((1,), np.full(4, 40.0), 0.25)]
    assert estimate_total(noisy) == pytest.approx((100 / 2 + 160 / 1) / (1 / 2 + 1 / 1))
    assert estimate_total([NoisyCells.whole((0,), np.array([-60.0, 40.0]), 1.0)]) == 1


def test_independent_columns_are_the_start_and_no_cell_is_impossible():
    noisy = [
        NoisyCells.whole((0,), np.array([80.0, -30.0, 20.0]), 1.0),
        NoisyCells.whole((1,), np.array([35.0, 35.0]), 1.0),
    ]
    start = start_independent((3, 2), noisy)
    assert start.shape == (3, 2)
    assert start.sum() == pytest.approx(70, abs=1)
    assert start.min() > 0
    assert start[0] / start[2] == pytest.approx([13, 13], rel=0.01)  # cut at 0, 65 and 5 are left


@pytest.mark.parametrize("number", [1, 7, 24, 1000, 12_345])
def test_each_cell_has_its_expected_rows_rounded_up_or_down(number):
    rows = draw_rows(TABLE, number, np.random.default_rng(number))
    assert rows.shape == (number, 3)
    counts = np.zeros(TABLE.shape)
    np.add.at(counts, tuple(rows.T), 1)
    assert np.abs(counts - TABLE / TABLE.sum() * number).max() < 1


def test_rows_are_drawn_in_no_order_and_without_a_beat():
    """Half as many rows as cells of one weight: taken in order, all of them would have one value of the last column.

    Of 512 cells, 256 at a time: the share of a value is off by 0.2 with probability below 1e-9.
    """
    rows = draw_rows(np.ones((16, 16, 2)), 256, np.random.default_rng(1))
    assert abs(rows[:, 2].mean() - 0.5) < 0.2
    first, second = rows[:128], rows[128:]
    assert abs(first[:, 0].mean() - second[:, 0].mean()) < 4  # of 7.5: sorted rows would be 8 apart
    again = draw_rows(np.ones((16, 16, 2)), 256, np.random.default_rng(1))
    assert (rows == again).all()
