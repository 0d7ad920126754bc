"""Covariances, from four noisy sums over the rows that have both values.

Coverage is judged as that of variances: at a false-alarm rate of 1e-6 a test.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Composed, Concentrated, Pure
from adomnia.privacy.expressions import Literal, call, number
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import NonNull, Rows, Total
from adomnia.statistics.contract import Measure
from adomnia.statistics.covariance import COVARIANCES, Covariance, pair_of
from kit.spreads import DRAWS, OF_W, OF_X, OF_Y, ROWS, SHAPES, SIZES, W, Y, answered, at_most, columns, estimated

PRICES = [Pure(1), Concentrated(Fraction(1, 14))]

every_price = pytest.mark.parametrize("price", PRICES, ids=["epsilon", "rho"])


def truth(name, rows):
    return float(np.cov(rows["x"], rows["y"], ddof=name.endswith("SAMP"))[0, 1])


def test_it_asks_for_sums_over_the_rows_that_have_both_at_a_quarter_of_the_price_each():
    statistic = Covariance(OF_W, OF_Y, "COVAR_POP")
    products = call("*", call("-", W, number(30)), call("-", Y, number(200)))
    w = call("case", call("is null", Y), Literal(None, W.kind), W)
    y = call("case", call("is null", W), Literal(None, Y.kind), Y)
    aggregates = (
        NonNull(products),
        Total(w, W.domain, centre=30),
        Total(y, Y.domain, centre=Y.domain.middle),
        Total(products, Numbers.bounded(-30 * 250, 30 * 250)),
    )
    assert next(statistic.steps(Pure(1))) == tuple(
        Measure(Query(ROWS, (), aggregate), Pure(Fraction(1, 4))) for aggregate in aggregates
    )
    assert statistic.event(Pure(1)) == Composed([Pure(Fraction(1, 4))] * 4)


@pytest.mark.parametrize("name", COVARIANCES)
def test_rows_without_one_of_the_values_are_left_out(name, seeded_bits):
    rows = dict(columns("normal", 1000))
    rows["x"], rows["y"] = rows["x"].copy(), rows["y"].copy()
    rows["x"][::3], rows["y"][::5] = np.nan, np.nan
    both = ~np.isnan(rows["x"]) & ~np.isnan(rows["y"])
    true = truth(name, {name: values[both] for name, values in rows.items()})
    estimate = estimated(Covariance(OF_X, OF_Y, name), Pure(100), rows, seeded_bits)
    assert estimate.values.mean() == pytest.approx(true, rel=1e-3)
    assert truth(name, {"x": np.nan_to_num(rows["x"]), "y": np.nan_to_num(rows["y"])}) != pytest.approx(true, rel=0.1)


@pytest.mark.parametrize("name", COVARIANCES)
@every_price
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shape", SHAPES)
def test_its_interval_covers_and_is_hardly_wider_than_the_distribution_of_the_noise_makes_it(
    name, price, shape, size, seeded_bits
):
    rows = columns(shape, size)
    true = truth(name, rows)
    estimate = estimated(Covariance(OF_X, OF_Y, name), price, rows, seeded_bits)
    lower, upper = estimate.interval(0.95, 1)
    assert at_most(int(((lower <= true) & (true <= upper)).sum()), DRAWS) >= 0.94
    oracle = np.diff(np.quantile(estimate.values, [0.025, 0.975]))[0]
    assert (upper - lower).mean() <= 1.15 * oracle


@every_price
@pytest.mark.parametrize("shape", SHAPES)
def test_noise_twice_as_wide_as_stated_is_found_out(price, shape, seeded_bits):
    rows = columns(shape, 1000)
    true = truth("COVAR_POP", rows)
    estimate = estimated(Covariance(OF_X, OF_Y, "COVAR_POP"), price, rows, seeded_bits, wider=2)
    lower, upper = estimate.interval(0.95, 1)
    assert at_most(int(((lower <= true) & (true <= upper)).sum()), DRAWS) < 0.94


@pytest.mark.parametrize("name", COVARIANCES)
def test_whatever_the_noise_it_stays_within_what_the_bounds_allow(name):
    sums = np.array([-(10**9), 0, 10**9])
    grids = iter([each.ravel() for each in np.meshgrid(np.array([-9, 0, 1, 40]), sums, sums, sums)])
    rows = np.meshgrid(np.array([-9, 0, 1, 40]), sums, sums, sums)[0].ravel()
    estimate = answered(Covariance(OF_X, OF_Y, name), Pure(10), lambda _: next(grids))
    most = 100 * 500 / (2 if name.endswith("SAMP") else 4)
    for confidence in (0.5, 0.95, 1 - 1e-9):
        lower, upper = estimate.interval(confidence, 1)
        assert ((lower >= -most) & (lower <= estimate.values)).all()
        assert ((upper <= most) & (upper >= estimate.values)).all()
        assert (lower[rows <= 0] == -most).all()
        assert (upper[rows <= 0] == most).all()


def test_only_two_plain_totals_of_different_values_are_a_pair():
    with pytest.raises((TypeError, ValueError), match="a Total"):
        Covariance(Query(ROWS, (), Rows()), OF_Y, "COVAR_POP")
    for other in (OF_W.aggregate, Total(Y, OF_Y.domain, centre=3)):
        with pytest.raises(ValueError, match="Correlation other must be a Total of another value from centre 0"):
            pair_of(OF_W, other, "Correlation")


def test_a_covariance_has_a_name_of_sql():
    with pytest.raises(ValueError, match="Covariance name must be one of COVAR_POP, COVAR_SAMP"):
        Covariance(OF_W, OF_Y, "COVAR")
