"""Adding up."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import beta

from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.noise import discrete_laplace
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Composed, Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.privacy.scans import NonNull, Rows, Total
from adomnia.statistics.contract import Measure, Measured
from adomnia.statistics.sum import Sum, distances_and_values, plain_total

PEOPLE = Private("people", 1, ())
TENTHS = Numbers(0, 10, Fraction(1, 10))
DOMAIN = Numbers(20, 100, 1)
AGE = Column("age", Quantity(Fraction(20), Fraction(100)), DOMAIN)
SUMMED = Query(Private("people", 1, (AGE,)), (), Total(AGE, DOMAIN))


def total(step, centre=0):
    domain = Numbers(0, 10, step)
    return Query(PEOPLE, (), Total(Column("x", Quantity(Fraction(0), Fraction(10)), domain), domain, centre))


def answer(query, values, scale=10):
    steps = Sum(query).steps(Pure(1))
    next(steps)
    with pytest.raises(StopIteration) as end:
        steps.send((Measured(np.array(values), DiscreteLaplace(Fraction(scale))),))
    return end.value.value


def test_a_sum_is_one_measurement_at_the_whole_price():
    query = total(Fraction(1, 4))
    assert next(Sum(query).steps(Pure(1))) == (Measure(query, Pure(1)),)
    assert Sum(query).event(Pure(1)) == Composed([Pure(1)])


def test_a_sum_counts_in_steps_of_its_grid():
    estimate = answer(total(Fraction(1, 10)), [123, -7])
    assert estimate.values.tolist() == [12.3, -0.7]
    assert not estimate.whole
    lower, upper = estimate.interval(0.95, 1)
    assert (upper - lower).tolist() == pytest.approx([6.0, 6.0])


def test_a_sum_of_whole_numbers_is_whole():
    assert answer(total(1), [5]).whole


def test_sums_beyond_64_bits_are_read_exactly():
    estimate = answer(total(1), np.array([10**30, -(10**25)], dtype=object))
    assert estimate.values.tolist() == [1e30, -1e25]
    lower, upper = estimate.interval(0.95, 1)
    assert (lower <= estimate.values).all()
    assert (upper >= estimate.values).all()


@pytest.mark.parametrize("query", [Query(PEOPLE, (), Rows()), total(1, centre=3)])
def test_only_a_plain_total_is_summed(query):
    with pytest.raises((TypeError, ValueError), match="a Total"):
        Sum(query)


def put_together(distances, counts, scales=(10, 2)):
    query = Query(PEOPLE, (), Total(Column("x", Quantity(Fraction(0), Fraction(10)), TENTHS), TENTHS))
    steps = Sum(query, centred=True).steps(Pure(1))
    asked = next(steps)
    measured = (np.array(values) for values in (distances, counts))
    noises = (DiscreteLaplace(Fraction(scale)) for scale in scales)
    with pytest.raises(StopIteration) as end:
        steps.send(tuple(map(Measured, measured, noises)))
    return asked, end.value.value


def test_a_sum_may_be_put_together_from_distances_and_their_number():
    asked, estimate = put_together([-20, 7], [3, 0])
    assert [(measure.price, measure.query.aggregate) for measure in asked] == [
        (Pure(Fraction(1, 2)), Total(asked[0].query.aggregate.value, TENTHS, centre=50)),
        (Pure(Fraction(1, 2)), NonNull(asked[0].query.aggregate.value)),
    ]
    assert estimate.values.tolist() == [13.0, 0.7]  # 3 times the middle, less two
    assert Sum(total(1), centred=True).event(Pure(1)) == Composed((Pure(Fraction(1, 2)), Pure(Fraction(1, 2))))


def test_the_interval_of_a_sum_put_together_covers_as_often_as_it_says(seeded_bits):
    """20,000 draws; a false alarm has a probability below 1e-6, and noise that is 5% wider is found out."""
    draws, scales = 20_000, (200, 4)
    noise = [discrete_laplace(Fraction(scale), (draws,), seeded_bits) for scale in scales]
    for told, enough in ((1, True), (Fraction(19, 20), False)):
        _, estimate = put_together(-30 + noise[0], 12 + noise[1], [told * scale for scale in scales])
        lower, upper = estimate.interval(0.95, 1)
        hits = int(((lower <= 57.0) & (upper >= 57.0)).sum())
        assert (beta.ppf(1 - 1e-6, hits + 1, draws - hits) >= 0.95) is np.bool_(enough)


def test_a_row_moves_the_sum_of_distances_by_half_the_width():
    distances, values = distances_and_values(SUMMED, "Mean")
    assert distances.aggregate == Total(AGE, DOMAIN, centre=60)
    assert values.aggregate == NonNull(AGE)
    assert (SUMMED.sensitivity().l1, distances.sensitivity().l1, values.sensitivity().l1) == (100, 40, 1)


@pytest.mark.parametrize("aggregate", [Rows(), Total(AGE, DOMAIN, centre=3)])
def test_only_a_plain_total_can_be_centred(aggregate):
    with pytest.raises((TypeError, ValueError), match="a Total"):
        plain_total(Query(SUMMED.relation, (), aggregate), "Mean")
