"""Quantiles: how often their intervals cover, how wide those are, and what is said where there are too few rows.

Draws come from the law in doubles, which tests/mechanisms holds against the mechanism's own.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from adomnia.mechanisms.quantiles import Quantiles
from adomnia.privacy.aggregates import Histogram, Rows
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.statistics.contract import Measured
from adomnia.statistics.quantile import Quantile
from kit.bits import SeededBits
from kit.quantiles import drawn

DRAWS = 10_000
FARE = Column("fare", Quantity(Fraction(0), Fraction(100)), Numbers(0, 100, Fraction(1, 128)))
AGE = Column("age", Quantity(Fraction(0), Fraction(120), whole=True), Numbers.integers(0, 120))
HALF = Fraction(1, 2)

_random = np.random.default_rng(7)
SHAPES = {
    "lognormal": (FARE, np.clip(_random.lognormal(2.5, 0.7, 3001), 0, 100)),
    "uniform": (FARE, _random.uniform(0, 100, 2000)),
    "ages": (AGE, np.clip(np.rint(_random.normal(45, 18, 5000)), 0, 120)),
}
PRICES = [Pure(Fraction(1, 2)), Pure(2), Concentrated(Fraction(1, 8))]


def statistic(column, share=HALF, shares=None, confidence=Fraction(19, 20)):
    aggregate = Histogram(column, column.domain, shares or (share,), confidence)
    return Quantile(Query(Private("people", 1, (column,)), (), aggregate), share)


def rows(column, values):
    return [column.domain.grid(float(value)) for value in values]


def answered(asked, price, values):
    """The estimate of given choices."""
    flow = asked.steps(price)
    (measure,) = next(flow)
    with pytest.raises(StopIteration) as end:
        flow.send((Measured(np.asarray(values), measure.mechanism),))
    return end.value.value


def simulated(asked, price, values, law=None, size=DRAWS):
    law, column = law or Quantiles.for_query(asked.query, price), asked.query.aggregate.value
    return answered(asked, price, drawn(law, rows(column, values), size, SeededBits((str(price), len(values)))))


def truth(column, values, share):
    ordered = sorted(rows(column, values))
    return float(column.domain.step) * ordered[int(np.ceil(float(share) * len(ordered))) - 1]


def coverage(estimate, true, confidence=0.95):
    lower, upper = estimate.interval(confidence, 1)
    return int(((lower <= true) & (true <= upper)).sum())


def at_most(hits, tries):
    """The Clopper-Pearson upper bound of a coverage: false alarms have a probability of 1e-6."""
    return float(stats.beta.ppf(1 - 1e-6, hits + 1, tries - hits)) if hits < tries else 1.0


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("price", PRICES, ids=str)
@pytest.mark.parametrize("share", [HALF, Fraction(1, 10)], ids=str)
def test_the_interval_covers_as_often_as_it_says(shape, price, share):
    column, values = SHAPES[shape]
    hits = coverage(simulated(statistic(column, share), price, values), truth(column, values, share))
    assert at_most(hits, DRAWS) >= 0.94


@pytest.mark.parametrize("shape", ["lognormal", "uniform"])
def test_twice_the_noise_is_found_out(shape):
    column, values = SHAPES[shape]
    asked, price = statistic(column), Pure(HALF)
    noisier = Quantiles.for_query(asked.query, price)
    noisier = type(noisier)(noisier.targets, noisier.values, noisier.rate / 2)
    estimate = simulated(asked, price, values, law=noisier)
    assert at_most(coverage(estimate, truth(column, values, HALF)), DRAWS) < 0.94


@pytest.mark.parametrize("shape", ["lognormal", "uniform"])
@pytest.mark.parametrize("price", PRICES, ids=str)
def test_the_interval_is_hardly_wider_than_the_exact_law_of_these_rows_needs(shape, price):
    """The narrowest distance of both ranks that covers as often as is asked, for these very rows, by simulation."""
    column, values = SHAPES[shape]
    asked, true = statistic(column), truth(*SHAPES[shape], HALF)
    law = Quantiles.for_query(asked.query, price)

    def at(part):
        targets = tuple(type(each)(each.share, each.offset * part, each.beyond) for each in law.targets)
        narrower = type(law)(targets, law.values, law.rate)
        estimate = simulated(asked, price, values, law=narrower)
        lower, upper = estimate.interval(0.95, 1)
        return coverage(estimate, true), float((upper - lower).mean())

    parts = [Fraction(place, 20) for place in range(8, 21)]
    _, needed = next(found for found in map(at, parts) if found[0] >= 0.95 * DRAWS)
    assert at(Fraction(1))[1] <= 1.3 * needed


@pytest.mark.parametrize("price", PRICES, ids=str)
@pytest.mark.parametrize("values", [[50.0], [0.0, 100.0], [20.0] * 10, np.linspace(10, 60, 10)], ids=len)
def test_where_there_are_too_few_rows_the_interval_still_covers(values, price):
    hits = coverage(simulated(statistic(FARE), price, values, size=4000), truth(FARE, values, HALF))
    assert at_most(hits, 4000) >= 0.94


def test_the_middle_of_both_values_is_the_answer_and_they_are_the_interval():
    estimate = answered(statistic(FARE), Pure(1), [[1280, 1536], [1536, 1280]])
    assert estimate.values.tolist() == [11.0, 11.0]
    lower, upper = estimate.interval(0.95, 1)
    assert lower.tolist() == [10 - 1 / 256] * 2
    assert upper.tolist() == [12 + 1 / 256] * 2
    assert estimate.interval(0.5, 1)[0].tolist() == lower.tolist()


def test_whole_numbers_are_their_own_grid():
    estimate = answered(statistic(AGE), Pure(1), [[40, 43]])
    assert estimate.whole
    assert estimate.values.tolist() == [41.0]
    assert [bound.tolist() for bound in estimate.interval(0.95, 1)] == [[40.0], [43.0]]


@pytest.mark.parametrize(("confidence", "cells"), [(0.96, 1), (0.95, 2), (0.9999, 10**6)])
def test_more_confidence_than_was_bought_is_the_bounds(confidence, cells):
    estimate = answered(statistic(FARE), Pure(1), [[1280, 1536]])
    assert [bound.tolist() for bound in estimate.interval(confidence, cells)] == [[0.0], [100.0]]


def test_one_that_was_bought_so_is_not():
    estimate = answered(statistic(FARE, confidence=Fraction(99, 100)), Pure(1), [[1280, 1536]])
    assert estimate.interval(0.98, 1)[0].tolist() == [10 - 1 / 256]
    assert estimate.interval(0.98, 1000)[0].tolist() == [0.0]


@pytest.mark.parametrize(
    ("chosen", "value"), [([-1, 1280], 10.0), ([1280, 12801], 10.0), ([-1, 12801], 50.0), ([-1, -1], 0.0)]
)
def test_an_end_beyond_the_grid_says_that_nothing_can_be_told(chosen, value):
    estimate = answered(statistic(FARE), Pure(1), [chosen])
    assert estimate.values.tolist() == [pytest.approx(value, abs=0.01)]
    assert [bound.tolist() for bound in estimate.interval(0.5, 1)] == [[0.0], [100.0]]


def test_shares_of_one_value_are_one_measurement():
    shares = (Fraction(1, 10), HALF)
    one, other = (statistic(FARE, share, shares) for share in shares)
    assert next(one.steps(Pure(1))) == next(other.steps(Pure(1)))
    assert answered(other, Pure(1), [[0, 0, 1280, 1536]]).values.tolist() == [11.0]


@pytest.mark.parametrize("share", [Fraction(0), Fraction(1), Fraction(1, 4)])
def test_a_share_that_is_none_or_was_not_asked_for_is_refused(share):
    with pytest.raises(ValueError, match="asked for"):
        statistic(FARE, share, (HALF,))


def test_a_query_of_anything_else_is_refused():
    with pytest.raises(TypeError, match="Histogram"):
        Quantile(Query(Private("people", 1, (FARE,)), (), Rows()), HALF)
