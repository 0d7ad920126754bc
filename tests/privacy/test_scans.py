"""What a row can add to an aggregate."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest

from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column, number
from adomnia.privacy.kinds import Boolean, Day, Identity, Quantity, Text
from adomnia.privacy.scans import (
    Average,
    DistinctValues,
    Histogram,
    NonNull,
    OwnChoice,
    OwnExtreme,
    People,
    Rows,
    SparseIntegers,
    Total,
    spread,
)

AGE, PAY = Column("age", Quantity()), Column("pay", Quantity())


@pytest.mark.parametrize(
    ("lower", "upper", "centre", "magnitude"),
    [(0, 120, 0, 120), (-5, 3, 0, 5), (0, 120, 60, 60), (0, 120, 100, 100), (10, 20, 0, 20), (10, 20, 30, 20)],
)
def test_a_row_moves_a_sum_by_its_distance_from_the_centre(lower, upper, centre, magnitude):
    assert Total(AGE, Numbers.integers(lower, upper), centre).magnitude == magnitude


def test_a_sum_that_no_row_can_move_still_gets_noise():
    assert Total(number(0), Numbers.integers(0, 0)).magnitude == 1
    assert Total(number(7), Numbers.integers(7, 7), centre=7).magnitude == 1


@pytest.mark.parametrize(
    ("kind", "most"), [(Text(("a", "b", "c")), 3), (Boolean(), 2), (Text(), inf), (Quantity(), inf), (Day(), inf)]
)
def test_there_are_as_many_different_values_as_are_declared(kind, most):
    assert DistinctValues(Column("x", kind)).most == most


def test_aggregates_are_values():
    domain = Numbers.integers(0, 9)
    person = Column("person_id", Identity(person=True), source="v", optional=True)
    aggregates = [
        Rows(),
        NonNull(AGE),
        Total(AGE, domain),
        Total(AGE, domain, 1),
        People(),
        People(person),
        Average(AGE, domain),
        OwnExtreme(AGE, greatest=True),
        OwnExtreme(AGE, greatest=False),
        DistinctValues(AGE),
    ]
    assert len(set(aggregates)) == len(aggregates)
    assert Total(AGE, domain) == Total(AGE, Numbers.integers(0, 9), 0)


@pytest.mark.parametrize("kind", [np.int64, object])
def test_a_table_without_its_zeros_is_the_same_table(kind):
    table = np.array([[0, 3, 0], [2**40, 0, 1]], dtype=kind)
    kept = SparseIntegers.of(table)
    assert kept.places.tolist() == [1, 3, 5]
    assert SparseIntegers.of(kept) is kept
    again = spread(kept)
    assert again.dtype == kind
    assert again.tolist() == table.tolist()
    assert spread(table) is table
    assert spread(SparseIntegers.of(np.zeros((), dtype=kind))).tolist() == 0


def test_rows_that_are_simulated_are_counted_as_they_are():
    assert Rows().simulate(7) == 7
    assert Total(AGE, Numbers.integers(10, 20), 12).simulate(7) == 7 * 3
    third = Fraction(1, 3)
    assert Rows().spread_evenly(third) == [third]
    assert Total(AGE, Numbers.integers(10, 15), 12).spread_evenly(third) == [third * Fraction(1, 2)]


AGES = Numbers(0, 120, Fraction(1, 2))
MEDIAN = Histogram(AGE, AGES, (Fraction(1, 2),), Fraction(95, 100))


@pytest.mark.parametrize(
    ("aggregate", "grids", "counted", "usual_move"),
    [
        (Rows(), (), None, 1.0),
        (NonNull(AGE), (), AGE, 1.0),
        (Total(AGE, AGES), (AGES,), None, 120.0),
        (Total(AGE, AGES, 120), (AGES,), None, 60.0),
        (People(), (), None, None),
        (DistinctValues(AGE), (), None, None),
        (MEDIAN, (AGES,), None, None),
    ],
)
def test_aggregates_say_what_they_are_of(aggregate, grids, counted, usual_move):
    assert (aggregate.grids, aggregate.counted, aggregate.usual_move) == (grids, counted, usual_move)


def test_only_sums_are_counted_from_a_centre():
    assert [each.centred for each in (Rows(), Total(AGE, AGES), Total(AGE, AGES, 120))] == [False, False, True]


def test_an_aggregate_of_other_expressions_is_otherwise_the_same():
    assert Rows().map_expressions(lambda _: PAY) == Rows()
    assert Total(AGE, AGES, 120).map_expressions(lambda _: PAY) == Total(PAY, AGES, 120)
    assert NonNull(AGE).map_expressions(lambda each: each) == NonNull(AGE)


@pytest.mark.parametrize(
    ("aggregate", "lower", "upper", "step"),
    [
        (Rows(), 1, 3, 1),
        (NonNull(AGE), 0, 3, 1),
        (DistinctValues(AGE), 0, 3, 1),
        (Total(AGE, Numbers(2, 5, 1)), 2, 15, 1),
        (Total(AGE, Numbers(-2, 5, Fraction(1, 2))), -6, 15, Fraction(1, 2)),
        (Total(AGE, Numbers(-5, -2, 1)), -15, -2, 1),
    ],
)
def test_an_aggregate_of_a_persons_own_rows_is_bounded_by_their_number(aggregate, lower, upper, step):
    assert aggregate.own_domain(3) == Numbers(lower, upper, step)


@pytest.mark.parametrize("aggregate", [MEDIAN, People(), Average(AGE, AGES), OwnExtreme(AGE, greatest=True)])
def test_others_are_within_the_bounds_of_their_values(aggregate):
    assert aggregate.own_domain(3) is None


def test_a_sum_that_no_integer_holds_has_no_bounds():
    with pytest.raises(ValueError, match="within 2\\*\\*78 steps"):
        Total(AGE, Numbers.integers(0, 2**60)).own_domain(2**20)


def test_a_choice_looks_at_two_values():
    assert OwnChoice(AGE, PAY, greatest=True).expressions == (AGE, PAY)
    assert OwnExtreme(AGE, greatest=True).expressions == (AGE,)
    assert People().expressions == ()


def test_one_row_moves_an_aggregate_by_what_is_derived_of_one_row():
    for aggregate in (Rows(), NonNull(AGE), Total(AGE, AGES, 120)):
        assert aggregate.row == aggregate.derive(1, 5)
