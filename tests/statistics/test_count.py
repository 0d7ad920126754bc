"""Counting."""

from fractions import Fraction

import numpy as np
import pytest

from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.privacy.events import Composed, Pure
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.privacy.scans import Rows
from adomnia.statistics.contract import Measure, Measured
from adomnia.statistics.count import Count

QUERY = Query(Private("people", 3, ()), (), Rows())


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
