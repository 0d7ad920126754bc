"""Counting."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import beta

from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.noise import discrete_gaussian, discrete_laplace
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Composed, Pure
from adomnia.privacy.expressions import Column, call
from adomnia.privacy.keys import Bucket
from adomnia.privacy.kinds import Quantity, Text
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.privacy.scans import NonNull, Rows, Total
from adomnia.statistics.contract import Measure, Measured
from adomnia.statistics.count import Count, is_parted, part_query, with_value, without_value
from adomnia.statistics.mean import Mean
from adomnia.statistics.sum import Sum
from kit.bits import SeededBits

QUERY = Query(Private("people", 3, ()), (), Rows())
DOMAIN = Numbers.integers(0, 100)
FARE = Column("fare", Quantity(Fraction(0), Fraction(100), whole=True), DOMAIN)
CITY = Column("city", Text(("a", "b", "c")))
TRIPS = Private("trips", 10, (FARE, CITY))
LAPLACE = DiscreteLaplace(Fraction(20))


def test_a_count_is_one_measurement_at_the_whole_price():
    assert next(Count(QUERY).steps(Pure(1))) == (Measure(QUERY, Pure(1)),)
    assert Count(QUERY).event(Pure(1)) == Composed([Pure(1)])


def test_a_count_is_the_noisy_integer_and_is_not_cut_at_zero():
    steps = Count(QUERY).steps(Pure(1))
    next(steps)
    with pytest.raises(StopIteration) as end:
        steps.send((Measured(np.array([7, -2]), DiscreteLaplace(Fraction(2))),))
    estimate = end.value.value
    assert estimate.values.tolist() == [7.0, -2.0]
    assert estimate.whole
    assert [end.tolist() for end in estimate.interval(0.95, 1)] == [[1.0, -8.0], [13.0, 4.0]]


def query(aggregate):
    return Query(TRIPS, (CITY,), aggregate)


def answer(statistic, *values, noise=LAPLACE):
    steps = statistic.steps(Pure(1))
    next(steps)
    with pytest.raises(StopIteration) as end:
        steps.send(tuple(Measured(np.array(each), noise) for each in values))
    return end.value.value


@pytest.mark.parametrize("aggregate", [Rows(), Total(FARE, DOMAIN), Total(FARE, DOMAIN, centre=50)])
def test_both_parts_together_move_no_further_than_one_query(aggregate):
    both = part_query(query(aggregate), FARE)
    assert both.shape == (3, 2)
    assert both.aggregate == aggregate
    assert both.sensitivity() == query(aggregate).sensitivity()


def test_how_many_have_a_value_becomes_how_many_rows():
    assert part_query(query(NonNull(FARE)), FARE) == part_query(query(Rows()), FARE)


def test_without_a_value_everything_stays():
    measured = Measured(np.array([1, 2]), LAPLACE)
    assert part_query(query(NonNull(FARE)), None) == query(NonNull(FARE))
    assert with_value(measured, None) is measured


def test_a_key_of_the_question_is_no_part():
    missing = call("is null", FARE)
    assert not is_parted(Query(TRIPS, (Bucket(missing, None, missing),), Rows()))
    assert not is_parted(query(Rows()))
    assert not is_parted(Query(TRIPS, (), Rows()))
    assert is_parted(part_query(Query(TRIPS, (), Rows()), FARE))


def test_the_first_part_has_the_value():
    measured = Measured(np.array([[5, 1], [6, 2]]), LAPLACE)
    assert with_value(measured, FARE).values.tolist() == [5, 6]
    assert without_value(measured).values.tolist() == [1, 2]
    assert with_value(measured, FARE).noise is without_value(measured).noise is LAPLACE


def test_rows_are_those_with_and_those_without():
    assert answer(Count(query(Rows()), FARE), [[100, 7], [50, -3], [0, 0]]).values.tolist() == [107, 47, 0]
    assert answer(Count(query(NonNull(FARE)), FARE), [[100, 7], [50, -3], [0, 0]]).values.tolist() == [100, 50, 0]


def test_means_and_sums_are_of_the_rows_that_have_the_value():
    total, rows = [[-1000, 99], [500, -99], [0, 5]], [[100, 7], [50, -3], [1, 0]]
    summed = query(Total(FARE, DOMAIN))
    assert answer(Mean(summed, FARE), total, rows).values.tolist() == [40, 60, 50]
    assert answer(Sum(summed, centred=True, parted=FARE), total, rows).values.tolist() == [4000, 3000, 50]
    assert answer(Sum(summed, parted=FARE), [[4000, 3], [1, 2], [0, 0]]).values.tolist() == [4000, 1, 0]


def test_all_of_one_question_is_two_measurements():
    summed, price = query(Total(FARE, DOMAIN)), Pure(1)
    statistics = [Count(query(Rows()), FARE), Mean(summed, FARE), Sum(summed, centred=True, parted=FARE)]
    asked = {measure.query for statistic in statistics for measure in next(statistic.steps(price))}
    assert len(asked) == 2
    assert len({(each.relation, each.keys) for each in asked}) == 1  # and so one scan


@pytest.mark.parametrize(
    ("noise", "draws"),
    [
        (LAPLACE, lambda bits: discrete_laplace(Fraction(20), (10_000, 2), bits)),
        (DiscreteGaussian(Fraction(400)), lambda bits: discrete_gaussian(Fraction(400), (10_000, 2), bits)),
    ],
)
def test_the_interval_of_a_count_of_both_covers_and_is_no_wider_than_that_needs(noise, draws):
    """10,000 draws; Clopper and Pearson's bounds at 1e-6 hold 95% above, and 97% below: a box of both would be more."""
    drawn = draws(SeededBits("presence"))
    estimate = answer(Count(query(Rows()), FARE), drawn + np.array([500, 20]), noise=noise)
    lower, upper = estimate.interval(0.95, 1)
    covered = int(((lower <= 520) & (upper >= 520)).sum())
    assert beta.ppf(1 - 1e-6, covered + 1, len(drawn) - covered) >= 0.95
    assert beta.ppf(1e-6, covered, len(drawn) - covered + 1) <= 0.97
