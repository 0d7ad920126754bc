"""Means counted from near themselves: the centre is found first, and paid by the distances."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Composed, Concentrated
from adomnia.privacy.expressions import Column, call
from adomnia.privacy.kinds import Quantity, Text
from adomnia.privacy.queries import Clip, Query
from adomnia.privacy.relations import Private, Where
from adomnia.privacy.scans import NonNull, Total
from adomnia.statistics.contract import Measure, Measured
from adomnia.statistics.located import Located, locate
from adomnia.statistics.mean import Mean
from adomnia.statistics.sum import Sum

CITY = Column("city", Text(("a", "b")))
FARE = Column("fare", Quantity(Fraction(0), Fraction(100)), Numbers(0, 100, Fraction(1, 2)))
TRIPS = Private("trips", 10, (CITY, FARE))
PAID = Query(TRIPS, (CITY,), Total(FARE, FARE.domain))
DISTANCES = replace(PAID, aggregate=Total(FARE, FARE.domain, centre=100))
VALUES = replace(PAID, aggregate=NonNull(FARE))


def driven(statistic, rough, count, sums, variances=(100, 4)):
    """The second round, and the estimate; the noise is that of shortened sums and counts."""
    noises = [DiscreteGaussian(Fraction(variance)) for variance in variances]
    flow = statistic.steps(Concentrated(2))
    next(flow)
    second = flow.send(
        tuple(Measured(np.array(each), noise) for each, noise in zip((rough, count), noises, strict=True))
    )
    with pytest.raises(StopIteration) as end:
        flow.send((Measured(np.array(sums), noises[0]),))
    return second, end.value.value


@pytest.mark.parametrize("statistic", [Located(PAID), Located(PAID, mean=False)])
def test_a_tenth_of_the_distances_price_finds_the_mean_of_all(statistic):
    flow = statistic.steps(Concentrated(2))
    having_a_cell = Where(TRIPS, call("not", call("is null", CITY)))
    rough = replace(DISTANCES, relation=having_a_cell, keys=(), clip=Clip(1000))
    assert next(flow) == (Measure(rough, Concentrated(Fraction(1, 10))), Measure(VALUES, Concentrated(1)))
    second, _ = driven(statistic, -7000, [60, 40], [0, 0])
    near = replace(PAID, aggregate=Total(FARE, FARE.domain, centre=30))
    assert second == (Measure(near, Concentrated(Fraction(9, 10))),)
    assert statistic.event(Concentrated(2)) == Composed((Concentrated(1), Concentrated(1)))


def test_the_share_of_the_distances_may_be_another_one():
    first = next(Located(PAID, share=Fraction(1, 4)).steps(Concentrated(4)))
    assert [measure.price for measure in first] == [Concentrated(Fraction(1, 10)), Concentrated(3)]


def test_a_mean_is_the_centre_and_the_mean_distance_from_it():
    _, estimate = driven(Located(PAID), -7000, [60, 40], [120, -400])
    assert estimate.values.tolist() == [16.0, 10.0]
    lower, upper = estimate.interval(0.95, 1)
    assert (lower <= estimate.values).all()
    assert (upper >= estimate.values).all()
    assert estimate.method == "noisy sum of distances from about the mean / noisy count"


def test_a_sum_is_that_of_distances_and_the_centre_times_the_count():
    _, estimate = driven(Located(PAID, mean=False), -7000, [60, 40], [120, -400])
    assert estimate.values.tolist() == [60 + 15 * 60, -200 + 15 * 40]
    assert [factor for _, factor in estimate.parts] == [Fraction(1, 2), Fraction(15)]


@pytest.mark.parametrize(
    ("count", "variances"),
    [([0, 0], (100, 4)), ([-60, -40], (100, 4)), ([60, 40], (10**7, 4)), ([60, 40], (100, 4000))],
)
def test_the_middle_stays_the_centre_where_all_is_noise(count, variances):
    second, _ = driven(Located(PAID), -7000, count, [0, 0], variances)
    assert second[0].query == DISTANCES


@pytest.mark.parametrize(("rough", "centre"), [(10**6, 200), (-(10**6), 0), (50, 100), (51, 101)])
def test_the_centre_is_a_step_within_the_bounds(rough, centre):
    second, _ = driven(Located(PAID), rough, [60, 40], [0, 0])
    assert second[0].query.aggregate.centre == centre


def test_the_farthest_distances_are_from_an_end():
    assert Located(PAID).planned_measures(Concentrated(1))[-1].query == replace(
        PAID, aggregate=Total(FARE, FARE.domain, centre=0)
    )


def test_it_stands_for_the_same_from_the_middle():
    assert Located(PAID).inner == Mean(PAID)
    assert Located(PAID, mean=False).inner == Sum(PAID, centred=True)


def test_integers_beyond_doubles_are_not_located():
    assert locate(Mean(PAID)) == Located(PAID)
    for lower, upper in ((0, 2**50), (-(2**50), 2**50), (2**50, 2**50 + 1)):
        wide = Column("x", Quantity(Fraction(lower), Fraction(upper), whole=True), Numbers.integers(lower, upper))
        too_wide = Mean(Query(TRIPS, (), Total(wide, wide.domain)))
        assert locate(too_wide) is too_wide
