"""Averaging."""

from fractions import Fraction

import numpy as np
import pytest

from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Composed, Concentrated, Pure
from adomnia.privacy.expressions import Column, number
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.privacy.scans import NonNull, Rows, Total
from adomnia.statistics.contract import Measure, Measured
from adomnia.statistics.mean import Mean

DOMAIN = Numbers(0, 100, Fraction(1, 2))
AGE = Column("age", Quantity(Fraction(0), Fraction(100)), DOMAIN)
WHOLE = Column("whole", Quantity(Fraction(0), Fraction(200), whole=True), Numbers.integers(0, 200))
PEOPLE = Private("people", 1, (AGE, WHOLE))
MEAN = Mean(Query(PEOPLE, (), Total(AGE, DOMAIN)))


def answer(totals, counts, mean=MEAN, scales=(200, 2)):
    steps = mean.steps(Pure(1))
    next(steps)
    pairs = zip((totals, counts), scales, strict=True)
    measured = tuple(Measured(np.array(values), DiscreteLaplace(Fraction(scale))) for values, scale in pairs)
    with pytest.raises(StopIteration) as end:
        steps.send(measured)
    return end.value.value


def test_a_mean_asks_for_a_centred_sum_and_a_count_at_half_the_price_each():
    measures = next(MEAN.steps(Pure(1)))
    assert measures == (
        Measure(Query(PEOPLE, (), Total(AGE, DOMAIN, centre=100)), Pure(Fraction(1, 2))),
        Measure(Query(PEOPLE, (), NonNull(AGE)), Pure(Fraction(1, 2))),
    )
    assert MEAN.event(Pure(1)) == Composed((Pure(Fraction(1, 2)), Pure(Fraction(1, 2))))
    assert MEAN.event(Concentrated(1)) == Composed((Concentrated(Fraction(1, 2)), Concentrated(Fraction(1, 2))))


def test_a_mean_divides_the_noisy_sum_by_the_noisy_count():
    assert answer([-160, 0, 400], [8, 5, 100]).values.tolist() == [40.0, 50.0, 52.0]


def test_a_mean_stays_within_its_bounds_whatever_the_noise():
    estimate = answer([10**9, -(10**9), 0, 7, 0], [1, 1, 0, -5, -(10**6)])
    assert estimate.values.tolist() == [100.0, 0.0, 50.0, 53.5, 50.0]
    for confidence in (0.5, 0.95, 1 - 1e-9):
        lower, upper = estimate.interval(confidence, 1)
        assert ((lower >= 0) & (lower <= estimate.values)).all()
        assert ((upper <= 100) & (upper >= estimate.values)).all()


def test_a_count_lost_in_noise_leaves_the_declared_range():
    lower, upper = answer([3, 50], [0, 2]).interval(0.95, 1)
    assert (lower.tolist(), upper.tolist()) == ([0.0, 0.0], [100.0, 100.0])


def test_what_no_mean_explains_is_told_beside_the_nearest_one_and_never_as_if_it_were_exact():
    found = answer([260 * 10**4, -260 * 10**4], [10**4, 10**4])
    lower, upper = found.interval(0.95, 1)
    (inside_lower,), (inside_upper,) = answer([0], [10**4]).interval(0.95, 1)
    assert found.values.tolist() == [100.0, 0.0]
    assert (upper[0], lower[1]) == (100.0, 0.0)
    width = inside_upper - inside_lower
    assert upper[0] - lower[0] == pytest.approx(upper[1] - lower[1])
    assert 0.02 * width < upper[1] - lower[1] < width  # the width has half a step of rounding on each side


def test_the_interval_narrows_with_the_count():
    whole = Mean(Query(PEOPLE, (), Total(WHOLE, WHOLE.domain)))  # whole numbers are not rounded
    answers = [answer([0], [count], whole).interval(0.95, 1) for count in (100, 1000, 10_000)]
    widths = [(upper - lower)[0] for lower, upper in answers]
    assert widths[0] > 9 * widths[1] > 81 * widths[2] > 0


def test_the_interval_allows_for_half_a_step_of_rounding():
    lower, upper = answer([0], [10**9]).interval(0.95, 1)
    assert (lower[0], upper[0]) == (pytest.approx(49.75, abs=1e-4), pytest.approx(50.25, abs=1e-4))


def test_sums_beyond_64_bits_are_averaged():
    estimate = answer(np.array([10**25], dtype=object), np.array([2 * 10**23], dtype=object))
    assert estimate.values.tolist() == [75.0]


def test_a_mean_of_one_possible_value_is_that_value():
    constant = Mean(Query(PEOPLE, (), Total(number(7), Numbers.integers(7, 7))))
    estimate = answer([30], [100], constant)
    assert estimate.values.tolist() == [7.0]
    assert [end.tolist() for end in estimate.interval(0.95, 1)] == [[7.0], [7.0]]


def test_bounds_off_the_grid_are_not_passed():
    domain = Numbers(Fraction(1, 10), Fraction(9, 10), Fraction(1, 4))
    mean = Mean(Query(PEOPLE, (), Total(Column("x", Quantity(domain.lower, domain.upper), domain), domain)))
    estimate = answer([10**6, -(10**6)], [10, 10], mean)
    assert estimate.values.tolist() == [0.75, 0.25]


@pytest.mark.parametrize("query", [Query(PEOPLE, (), Rows()), Query(PEOPLE, (), Total(AGE, DOMAIN, centre=3))])
def test_only_a_plain_total_is_averaged(query):
    with pytest.raises((TypeError, ValueError), match="a Total"):
        Mean(query)
