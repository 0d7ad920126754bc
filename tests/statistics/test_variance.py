"""Variances and standard deviations, from three noisy sums.

Coverage is judged on DRAWS simulated answers at a false-alarm rate of 1e-6 a test: an interval that holds the truth in
fewer than 94 of 100 answers is found out, and noise twice as wide as stated is.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Composed, Concentrated, Pure
from adomnia.privacy.expressions import call, number
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import NonNull, Rows, Total
from adomnia.statistics.contract import Measure
from adomnia.statistics.mean import Mean
from adomnia.statistics.variance import VARIANCES, Variance
from kit.bits import SeededBits
from kit.spreads import DRAWS, OF_W, OF_X, ROWS, SHAPES, SIZES, W, X, answered, at_most, columns, estimated

PRICES = [Pure(1), Concentrated(Fraction(1, 14))]
TRUTHS = {
    "VAR_POP": lambda x: x.var(),
    "VAR_SAMP": lambda x: x.var(ddof=1),
    "STDDEV_POP": lambda x: x.std(),
    "STDDEV_SAMP": lambda x: x.std(ddof=1),
}

every_name = pytest.mark.parametrize("name", VARIANCES)
every_price = pytest.mark.parametrize("price", PRICES, ids=["epsilon", "rho"])


def of_sums(name, rows, total, squares, query=OF_W):
    """The estimate where nothing is known but these noisy sums of whole numbers, 30 being their middle."""
    sums = iter([total, rows, squares])
    return answered(Variance(query, name), Pure(100), lambda _: next(sums))


def test_it_asks_for_what_a_mean_asks_for_and_for_squares_at_a_third_of_the_price_each():
    statistic = Variance(OF_W, "VAR_POP")
    distance = call("-", W, number(30))
    squares = Total(call("*", distance, distance), Numbers.integers(0, 900), centre=450)
    asked = next(statistic.steps(Pure(1)))
    assert asked == tuple(
        Measure(Query(ROWS, (), aggregate), Pure(Fraction(1, 3)))
        for aggregate in (Total(W, W.domain, centre=30), NonNull(W), squares)
    )
    assert asked[:2] == next(Mean(OF_W).steps(Pure(Fraction(2, 3))))
    assert statistic.event(Pure(1)) == Composed([Pure(Fraction(1, 3))] * 3)
    assert squares.magnitude == 450


@pytest.mark.parametrize(
    ("name", "value"), [("VAR_POP", 3.2), ("VAR_SAMP", 4.0), ("STDDEV_POP", 3.2**0.5), ("STDDEV_SAMP", 2.0)]
)
def test_the_variance_is_that_of_the_sums(name, value):
    rows = np.array([20, 22, 24, 24, 20]) - 30
    estimate = of_sums(name, len(rows), rows.sum(), (rows**2).sum() - 450 * len(rows))
    assert estimate.values == pytest.approx(value)


@every_name
def test_whatever_the_noise_a_variance_stays_between_zero_and_the_farthest_apart_values_can_be(name):
    sums = np.array([-(10**6), 0, 10**6])
    rows, total, squares = (each.ravel() for each in np.meshgrid(np.array([-50, 0, 1, 2, 40]), sums, sums))
    estimate = of_sums(name, rows, total, squares)
    most = 60**2 / (2 if name.endswith("SAMP") else 4)
    most = most if name.startswith("VAR") else most**0.5
    for confidence in (0.5, 0.95, 1 - 1e-9):
        lower, upper = estimate.interval(confidence, 1)
        assert ((lower >= 0) & (lower <= estimate.values)).all()
        assert ((upper <= most) & (upper >= estimate.values)).all()
        assert (upper[rows <= 0] == most).all()
        assert (lower[rows <= 0] == 0).all()


@every_name
@every_price
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shape", SHAPES)
def test_its_interval_covers_and_is_hardly_wider_than_the_distribution_of_the_noise_makes_it(
    name, price, shape, size, seeded_bits
):
    rows = columns(shape, size)
    true = TRUTHS[name](rows["x"])
    estimate = estimated(Variance(OF_X, name), price, rows, seeded_bits)
    lower, upper = estimate.interval(0.95, 1)
    assert at_most(int(((lower <= true) & (true <= upper)).sum()), DRAWS) >= 0.94
    if shape != "nearly constant":  # there half of the distribution is below zero, and cut off
        oracle = np.diff(np.quantile(estimate.values, [0.025, 0.975]))[0]
        assert (upper - lower).mean() <= 1.15 * oracle


@every_price
@pytest.mark.parametrize("shape", SHAPES)
def test_noise_twice_as_wide_as_stated_is_found_out(price, shape, seeded_bits):
    rows = columns(shape, 1000)
    estimate = estimated(Variance(OF_X, "STDDEV_SAMP"), price, rows, seeded_bits, wider=2)
    lower, upper = estimate.interval(0.95, 1)
    true = rows["x"].std(ddof=1)
    assert at_most(int(((lower <= true) & (true <= upper)).sum()), DRAWS) < 0.94


@pytest.mark.parametrize("size", [0, 1, 2, 5, 20, 60])
def test_of_few_rows_nothing_wrong_is_claimed(size, seeded_bits):
    rows = columns("skewed", max(size, 1))
    few = {name: values[:size] for name, values in rows.items()}
    estimate = estimated(Variance(OF_X, "VAR_POP"), Concentrated(Fraction(1, 14)), few, seeded_bits)
    lower, upper = estimate.interval(0.95, 1)
    true = few["x"].var() if size else 0.0
    assert at_most(int(((lower <= true) & (true <= upper)).sum()), DRAWS) >= 0.94


@pytest.mark.parametrize("size", [10, 30, 45])
@pytest.mark.parametrize("name", ["VAR_POP", "VAR_SAMP"])
def test_sure_intervals_of_few_rows_at_a_bound_hold_what_they_say(name, size, seeded_bits):
    """There the noise is farthest from a linear one; an interval that misses twice as often as it says is found out."""
    price = Concentrated(Fraction(1, 14) if size > 10 else Fraction(1, 2))
    draws = [
        estimated(Variance(OF_X, name), price, {"x": np.full(size, 100.0)}, seeded_bits).interval(0.999, 1)
        for _ in range(4)
    ]
    hits = sum(int(((lower <= 0) & (upper >= 0)).sum()) for lower, upper in draws)
    assert at_most(hits, 4 * DRAWS) >= 0.999


def test_rounding_to_the_grid_is_within_the_interval():
    """A million values that all are rounded up on a grid of wholes, without noise to speak of."""
    coarse = replace(X, domain=Numbers(0, 100, 1))
    query = Query(ROWS, (), Total(coarse, coarse.domain))
    rows = {"x": np.where(np.arange(10**6) % 2, 80.6, 99.6)}
    exact = rows["x"].var()
    estimate = estimated(Variance(query, "VAR_POP"), Pure(100), rows, SeededBits(1))
    lower, upper = estimate.interval(0.95, 1)
    assert abs(estimate.values[0] - exact) > 1
    assert (lower <= exact).all()
    assert (exact <= upper).all()
    whole = estimated(Variance(OF_W, "VAR_POP"), Pure(100), {"w": np.floor(rows["x"] / 2)}, SeededBits(1))
    assert np.subtract(*reversed(whole.interval(0.95, 1))).max() < 0.02  # whole numbers are their own grid


def test_a_constant_has_no_spread():
    constant = Variance(Query(ROWS, (), Total(number(7), Numbers.integers(7, 7))), "STDDEV_POP")
    estimate = answered(constant, Pure(1), lambda _: np.array([300]))
    assert [end.tolist() for end in estimate.interval(0.95, 1)] == [[0.0], [0.0]]


def test_sums_beyond_64_bits_are_no_problem():
    rows, total, squares = (np.array([each], dtype=object) for each in (10**24, -(10**25), -350 * 10**24))
    assert of_sums("VAR_POP", rows, total, squares).values == pytest.approx([0.0])
    assert of_sums("VAR_POP", rows, total, squares + 9 * 10**24).values == pytest.approx([9.0])


@pytest.mark.parametrize("query", [Query(ROWS, (), Rows()), Query(ROWS, (), Total(W, W.domain, centre=3))])
def test_only_a_plain_total_has_a_variance(query):
    with pytest.raises((TypeError, ValueError), match="a Total"):
        Variance(query, "VAR_POP")


def test_a_variance_has_a_name_of_sql():
    with pytest.raises(ValueError, match="Variance name must be one of VAR_POP, VAR_SAMP, STDDEV_POP, STDDEV_SAMP"):
        Variance(OF_W, "VARIANCE")
