"""Bounds of dates follow through what is computed with them."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import pytest

from adomnia.privacy.functions.registry import FUNCTIONS
from adomnia.privacy.kinds import Day, Quantity
from privacy.functions.samples import constant

BORN = Day(date(2020, 5, 14), date(2021, 11, 3))


@pytest.mark.parametrize(
    ("unit", "lower", "upper"),
    [
        ("year", date(2020, 1, 1), date(2021, 1, 1)),
        ("quarter", date(2020, 4, 1), date(2021, 10, 1)),
        ("month", date(2020, 5, 1), date(2021, 11, 1)),
        ("week", date(2020, 5, 11), date(2021, 11, 1)),
    ],
)
def test_the_start_of_a_unit_moves_both_bounds(unit, lower, upper):
    assert FUNCTIONS[f"start of {unit}"].result(BORN) == Day(lower, upper)
    assert FUNCTIONS[f"start of {unit}"].result(Day()) == Day()


def test_days_between_are_bounded_by_the_farthest_dates():
    whole = Quantity(Fraction(-538), Fraction(538), whole=True)
    assert FUNCTIONS["days between"].result(BORN, BORN) == whole
    assert FUNCTIONS["days between"].result(BORN, Day()) == Quantity(whole=True)


def test_a_shift_moves_bounds_unless_they_leave_the_calendar():
    assert FUNCTIONS["shift"].result(BORN, constant(1)) == Day(date(2020, 5, 15), date(2021, 11, 4))
    assert FUNCTIONS["shift"].result(BORN, constant(-737_600)) == Day(None, date(2, 5, 12))
    assert FUNCTIONS["shift"].result(BORN, constant(4_000_000)) is None
