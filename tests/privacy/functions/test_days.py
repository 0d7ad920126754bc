"""Bounds of dates follow through what is computed with them."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction

import pytest

from adomnia.privacy.functions.days import add_months
from adomnia.privacy.functions.registry import FUNCTIONS
from adomnia.privacy.kinds import Day, Quantity, Text
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


def test_months_move_bounds_to_the_same_day_or_the_last():
    moved = FUNCTIONS["shift months"].result
    ends = Day(date(2023, 1, 31), date(2024, 1, 30))
    assert moved(ends, constant(1)) == Day(date(2023, 2, 28), date(2024, 2, 29))
    assert moved(ends, constant(-2)) == Day(date(2022, 11, 30), date(2023, 11, 30))
    assert moved(ends, constant(-24_276)) == Day(None, date(1, 1, 30))
    assert moved(ends, constant(120_000)) is None
    assert moved(Day(), constant(1)) == Day()
    assert moved(Quantity(), constant(1)) is None


@pytest.mark.parametrize("months", [-119_988, -13, -1, 0, 1, 11, 12, 25, 95_712])
def test_later_days_stay_later_or_equal_when_months_are_added(months):
    """Otherwise the bounds of a shifted date would not be those of its ends."""
    days = [date(2023, 12, 28) + timedelta(place) for place in range(70)]
    found = [moved for moved in (add_months(day, months) for day in days) if moved is not None]
    assert found == sorted(found)


def test_only_dates_are_written_in_formats():
    assert FUNCTIONS["format"].result(BORN, Text()) == Text()
    assert FUNCTIONS["format"].result(BORN, Quantity()) is None
    assert FUNCTIONS["format"].result(Text(), Text()) is None


def test_a_shift_moves_bounds_unless_they_leave_the_calendar():
    assert FUNCTIONS["shift"].result(BORN, constant(1)) == Day(date(2020, 5, 15), date(2021, 11, 4))
    assert FUNCTIONS["shift"].result(BORN, constant(-737_600)) == Day(None, date(2, 5, 12))
    assert FUNCTIONS["shift"].result(BORN, constant(4_000_000)) is None
