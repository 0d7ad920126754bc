"""What is summed up, over which grid, and how far rounding can be off."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column, call, number
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.scans import NonNull, Total
from adomnia.statistics.contract import Measured
from adomnia.statistics.moments import ROWS, Moments, centre_total, multiply_totals, query_moments, where_both, width
from kit.spreads import OF_W, OF_X, OF_Y, W, X, columns, evaluated

NOISE = DiscreteLaplace(Fraction(2))
OF_ALL_W = OF_W.aggregate


def total(lower, upper, step, whole=False):
    lower, upper, step = map(Fraction, (lower, upper, step))
    column = Column("z", Quantity(lower, upper, whole), Numbers(lower, upper, step))
    return Total(column, column.domain)


def test_products_of_whole_numbers_are_whole_and_counted_from_the_middle_of_their_range():
    squares = multiply_totals(OF_ALL_W, OF_ALL_W)
    assert (squares.domain, squares.centre, squares.magnitude) == (Numbers.integers(0, 900), 450, 450)
    distance = call("-", W, number(30))
    assert squares.value == call("*", distance, distance)


def test_products_of_other_numbers_are_on_a_grid_between_the_least_and_the_greatest():
    products = multiply_totals(OF_X.aggregate, OF_Y)
    assert products.domain == Numbers.bounded(-50 * 250, 50 * 250)
    assert products.centre == 0
    values = evaluated(products.value, columns("normal", 1000))
    assert (np.abs(values) <= 50 * 250).all()


def test_squares_are_never_negative_and_one_row_moves_their_sum_by_half_their_range():
    squares = multiply_totals(OF_X.aggregate, OF_X.aggregate)
    assert squares.domain == Numbers.bounded(0, 2500)
    assert squares.magnitude == pytest.approx(1250 / squares.domain.step, rel=1e-5)


def test_bounds_off_their_grid_are_within_reach():
    """The middle of 0.1 to 0.9 in quarters is 0.5: both bounds are 0.4 away."""
    squares = multiply_totals(total("0.1", "0.9", "0.25"), total("0.1", "0.9", "0.25"))
    assert squares.domain.upper == Fraction(4, 10) ** 2


def test_large_whole_numbers_are_no_longer_multiplied_exactly():
    large = total(0, 10**9, 1, whole=True)
    assert multiply_totals(large, large).domain == Numbers.bounded(0, (5 * 10**8) ** 2)


def test_a_constant_has_products_too():
    assert multiply_totals(total(7, 7, 7), total(7, 7, 7)).domain == Numbers.integers(0, 0)


def test_products_that_doubles_cannot_hold_are_refused():
    huge = Total(X, Numbers.bounded(0, 2**460))
    with pytest.raises(ValueError, match=r"Products of distances must be at most 2\*\*900"):
        multiply_totals(huge, huge)


def test_distances_are_those_that_a_mean_sums_up():
    assert centre_total(OF_ALL_W) == replace(OF_ALL_W, centre=30)
    assert width(OF_ALL_W) == 60.0


def test_a_value_beside_another_is_missing_where_the_other_is():
    rows = {"w": np.array([1.0, 2.0, np.nan]), "x": np.array([np.nan, 5.0, 5.0])}
    assert np.isnan(evaluated(where_both(OF_ALL_W, OF_X.aggregate).value, rows)).tolist() == [True, False, True]
    assert where_both(OF_ALL_W, OF_X.aggregate).domain == OF_ALL_W.domain


def test_moments_are_queries_over_the_same_rows_and_are_known_by_name_again():
    asked = {ROWS: NonNull(W), "x": centre_total(OF_ALL_W)}
    queries = query_moments(OF_W, asked)
    assert queries == {name: replace(OF_W, aggregate=each) for name, each in asked.items()}
    found = Moments.of(queries, (Measured(np.array([5]), NOISE), Measured(np.array([-7]), NOISE)))
    assert found.rows(less=1).values.tolist() == [4.0]
    assert found.noises == {ROWS: NOISE, "x": NOISE}


def moments(totals, rows, sums):
    answers = {name: Measured(np.array([value]), NOISE) for name, value in sums.items()}
    return Moments(
        query_moments(OF_W, {ROWS: NonNull(W), **totals}), {ROWS: Measured(np.array([rows]), NOISE), **answers}
    )


def test_sums_about_the_means_and_how_much_of_each_noise_is_in_them():
    """Of 20, 40, 40 with 30 as their middle: distances -10, 10, 10, squares 100 each, 450 being their middle."""
    found = moments(
        {"x": centre_total(OF_ALL_W), "xx": multiply_totals(OF_ALL_W, OF_ALL_W)}, 3, {"x": 10, "xx": 300 - 1350}
    )
    spread = found.about_means("x", "x")
    assert spread.values == pytest.approx([300 - 100 / 3])
    mean = 10 / 3
    assert {name: float(weight[0]) for name, weight in spread.weights.items()} == pytest.approx(
        {ROWS: 450 + mean**2, "x": -2 * mean, "xx": 1.0}
    )
    assert spread.rounded.tolist() == [0.0]


def test_the_weights_are_the_derivatives_of_the_sums_about_the_means():
    totals = {"x": centre_total(OF_X.aggregate), "y": centre_total(OF_Y), "xy": multiply_totals(OF_X.aggregate, OF_Y)}
    sums = {"x": 10**7, "y": -(10**7), "xy": 10**7}
    found = moments(totals, 1000, sums).about_means("x", "y")
    for name in (ROWS, *sums):
        step = 1 if name == ROWS else 1000
        moved = sums | ({name: sums[name] + step} if name != ROWS else {})
        other = moments(totals, 1000 + (name == ROWS), moved).about_means("x", "y")
        assert (other.values - found.values) / step == pytest.approx(found.weights[name], rel=2e-3)


@pytest.mark.parametrize(
    ("lower", "upper", "step", "off"),
    [(0, 2, "0.5", 0.25), ("0.1", "0.9", "0.25", 0.15), (0, "2.7", 1, 0.7)],
)
def test_rounding_is_half_a_step_or_as_far_as_a_bound_is_from_the_grid(lower, upper, step, off):
    coarse = total(lower, upper, step)
    squares = replace(multiply_totals(coarse, coarse), domain=Numbers(0, 4, 4))  # of which half a step is 2
    found = moments({"x": centre_total(coarse), "xx": squares}, 1, {"x": 0, "xx": 0}).about_means("x", "x")
    assert found.rounded == pytest.approx([2 + off**2])
