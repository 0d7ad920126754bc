"""Adding up."""

from fractions import Fraction

import numpy as np
import pytest

from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.privacy.aggregates import Rows, Total
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Table
from adomnia.statistics.contract import Measure, Measured
from adomnia.statistics.sum import Sum

PEOPLE = Table("people", 1, ())


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
    assert Sum(query).event(Pure(1)) == Pure(1)


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
    with pytest.raises(ValueError, match="Sum query must be a Total from centre 0"):
        Sum(query)
