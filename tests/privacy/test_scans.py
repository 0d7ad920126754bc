"""What a row can add to an aggregate."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column, number
from adomnia.privacy.kinds import Boolean, Day, Identity, Quantity, Text
from adomnia.privacy.scans import (
    Average,
    DistinctValues,
    NonNull,
    OwnExtreme,
    People,
    Rows,
    SparseIntegers,
    Total,
    spread,
)

AGE = Column("age", Quantity())


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
