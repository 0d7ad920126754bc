"""Correlations, from six noisy sums over the rows that have both values.

Coverage is judged as that of variances: at a false-alarm rate of 1e-6 a test.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.privacy.events import Composed, Concentrated, Pure
from adomnia.privacy.scans import Total
from adomnia.statistics.correlation import Correlation
from adomnia.statistics.covariance import Covariance
from kit.spreads import DRAWS, OF_X, OF_Y, SHAPES, SIZES, answered, at_most, columns, estimated

PRICES = [Pure(1), Concentrated(Fraction(1, 14))]
STATISTIC = Correlation(OF_X, OF_Y)
CLEAR = {("even", 1000), *((shape, 10_000) for shape in ("even", "normal", "skewed"))}  # above the noise of both prices

every_price = pytest.mark.parametrize("price", PRICES, ids=["epsilon", "rho"])


def truth(rows):
    return float(np.corrcoef(rows["x"], rows["y"])[0, 1])


def line(size):
    x = np.random.default_rng(size).uniform(0, 100, size)
    return {"x": x, "y": 450 - 5 * x}


def test_it_asks_for_what_a_covariance_asks_for_and_for_both_squares_at_a_sixth_of_the_price_each():
    asked = next(STATISTIC.steps(Pure(1)))
    assert asked[:4] == next(Covariance(OF_X, OF_Y, "COVAR_POP").steps(Pure(Fraction(4, 6))))
    for measure, total in zip(asked[4:], (OF_X.aggregate, OF_Y), strict=True):
        assert isinstance(measure.query.aggregate, Total)
        assert measure.query.aggregate.domain.upper == ((total.domain.upper - total.domain.lower) / 2) ** 2
    assert STATISTIC.event(Pure(1)) == Composed([Pure(Fraction(1, 6))] * 6)


@every_price
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shape", SHAPES)
def test_its_interval_covers_and_is_hardly_wider_than_the_distribution_of_the_noise_makes_it(
    price, shape, size, seeded_bits
):
    rows = columns(shape, size)
    estimate = estimated(STATISTIC, price, rows, seeded_bits)
    lower, upper = estimate.interval(0.95, 1)
    true = truth(rows)
    assert at_most(int(((lower <= true) & (true <= upper)).sum()), DRAWS) >= 0.94
    if (shape, size) in CLEAR:
        oracle = np.diff(np.quantile(estimate.values, [0.025, 0.975]))[0]
        assert (upper - lower).mean() <= 1.15 * oracle


@every_price
def test_noise_twice_as_wide_as_stated_is_found_out(price, seeded_bits):
    rows = columns("normal", 10_000)
    lower, upper = estimated(STATISTIC, price, rows, seeded_bits, wider=2).interval(0.95, 1)
    true = truth(rows)
    assert at_most(int(((lower <= true) & (true <= upper)).sum()), DRAWS) < 0.94


@every_price
@pytest.mark.parametrize("size", SIZES)
def test_of_a_falling_line_it_is_minus_one_and_never_less(price, size, seeded_bits):
    estimate = estimated(STATISTIC, price, line(size), seeded_bits)
    lower, upper = estimate.interval(0.95, 1)
    assert (estimate.values >= -1).all()
    assert at_most(int((lower <= -1 + 1e-9).sum()), DRAWS) >= 0.94
    assert (upper < 0).mean() > (0.3 if size == min(SIZES) else 0.99)


def test_where_a_variance_is_lost_in_noise_hardly_anything_is_claimed(seeded_bits):
    estimate = estimated(STATISTIC, Pure(1), columns("nearly constant", 1000), seeded_bits)
    lower, upper = estimate.interval(0.95, 1)
    assert ((upper - lower) == 2).mean() > 0.9


def test_whatever_the_noise_it_stays_between_minus_one_and_one():
    sums = np.array([-(10**9), 0, 10**9])
    grids = [each.ravel() for each in np.meshgrid(np.array([-9, 0, 1, 40]), *[sums] * 5)]
    given = iter(grids)
    estimate = answered(STATISTIC, Pure(10), lambda _: next(given))
    for confidence in (0.5, 0.95, 1 - 1e-9):
        lower, upper = estimate.interval(confidence, 1)
        assert ((lower >= -1) & (lower <= estimate.values)).all()
        assert ((upper <= 1) & (upper >= estimate.values)).all()
        assert (upper[grids[0] <= 0] == 1).all()


def test_a_value_is_not_correlated_with_itself():
    with pytest.raises(ValueError, match="Correlation other must be a Total of another value"):
        Correlation(OF_X, OF_X.aggregate)
