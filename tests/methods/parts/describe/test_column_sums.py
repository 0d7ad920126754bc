import numpy as np
import pytest

from adomnia.methods.parts.describe.column_sums import MEAN, SPREAD, ColumnSums, column_vector
from adomnia.privacy.queries import Query
from adomnia.statistics.contract import Measure
from kit.analyses import Arms, frame
from kit.bits import SeededBits
from kit.describing import DISTRIBUTIONS, EPSILON, EXACT, RHO, covers_as_often

FRAME = frame({"x": (0, 100)})
COLUMN = FRAME.numbers["x"]


def sums(values, price, seed=0, degree=SPREAD, population=True):
    query = Query(FRAME.relation, (), column_vector(COLUMN.value, COLUMN.domain, degree, absent=True))
    measured = Arms({"x": values}, SeededBits(str(seed))).measure(Measure(query, price))
    return ColumnSums(COLUMN.value, COLUMN.domain, degree, measured, population)


def test_without_noise_they_are_the_numbers_of_numpy():
    values = np.append(DISTRIBUTIONS["lognormal"](np.random.default_rng(1), 5000), [np.nan] * 7)
    found, there = sums(values, EXACT), values[:5000]
    assert found.count().values[0] == 5000
    assert found.missing().values[0] == 7
    assert found.mean().values[0] == pytest.approx(there.mean(), abs=1e-2)
    assert found.deviation().values[0] == pytest.approx(there.std(), abs=1e-2)
    assert found.variance().values[0] == pytest.approx(there.var(), abs=0.2)
    assert found.central(4) == pytest.approx(np.mean(((there - there.mean()) / 100) ** 4), rel=2e-2)


@pytest.mark.parametrize("price", [EPSILON, RHO], ids=str)
@pytest.mark.parametrize("distribution", ["normal", "zeros"])
def test_intervals_hold_for_the_population_and_are_not_much_wider_than_without_noise(distribution, price):
    truth, random = DISTRIBUTIONS[distribution](np.random.default_rng(0), 10**6), np.random.default_rng(7)
    draws, size = 60, 1000
    hits, blind, widths = np.zeros(2), 0, []
    for seed in range(draws):
        values = DISTRIBUTIONS[distribution](random, size)
        found, data = sums(values, price, seed), sums(values, price, seed, population=False)
        for place, (estimate, exact) in enumerate(((found.mean(), truth.mean()), (found.deviation(), truth.std()))):
            (low,), (high,) = estimate.interval(0.95, 1)
            hits[place] += low <= exact <= high
        (low,), (high,) = data.mean().interval(0.95, 1)
        blind += low <= truth.mean() <= high
        widths.append(np.diff(np.ravel(found.mean().interval(0.95, 1)))[0])
    assert all(covers_as_often(each, draws, 0.94) for each in hits)
    assert np.mean(widths) < 3 * 3.92 * truth.std() / np.sqrt(size)
    if price == EPSILON:  # intervals that know of the noise alone do not hold
        assert not covers_as_often(blind, draws, 0.94)


@pytest.mark.parametrize("values", [np.zeros(0), np.zeros(1), np.full(3, 100.0), np.full(2, np.nan)])
@pytest.mark.parametrize("degree", [MEAN, SPREAD])
def test_few_rows_give_finite_numbers_within_the_bounds(values, degree):
    for seed in range(5):
        found = sums(values, EPSILON, seed, degree)
        for estimate in (found.count(), found.missing(), found.mean()):
            (low,), (high,) = estimate.interval(0.95, 1)
            assert np.isfinite([low, high]).all()
            assert low <= estimate.values[0] <= high
        assert 0 <= found.mean().values[0] <= 100


def test_a_constant_column_has_no_spread_that_intervals_would_rule_out():
    found = sums(np.full(100_000, 37.3), EPSILON)
    (low,), (high,) = found.deviation().interval(0.95, 1)
    assert low == 0 < high < 1
    (low,), (high,) = found.mean().interval(0.95, 1)
    assert low <= 37.3 <= high
    assert high - low < 0.05
