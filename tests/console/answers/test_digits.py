from __future__ import annotations

from datetime import date, datetime
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.console.answers.digits import find_places, show_all, show_fact, show_key, show_number, show_short

FINITE = st.floats(-1e14, 1e14)


@pytest.mark.parametrize(
    ("lower", "value", "upper", "shown"),
    [
        (54_400.0, 57_012.3, 59_600.0, ("57,000", "54,400", "59,600")),
        (27_000.0, 38_357.0, 49_000.0, ("38,000", "27,000", "49,000")),
        (0.2101, 0.2313, 0.2499, ("0.231", "0.210", "0.250")),
        (-0.4, -0.001, 0.4, ("0.00", "-0.40", "0.40")),
    ],
)
def test_numbers_have_two_digits_of_the_half_width(lower, value, upper, shown):
    places = find_places(lower, upper)
    found = show_number(value, places), show_number(lower, places, -1), show_number(upper, places, 1)
    assert found == shown


@given(FINITE, st.floats(1e-9, 1e14), st.booleans())
def test_no_interval_is_shown_shorter_than_it_is(lower, width, whole):
    upper = lower + width
    places = find_places(lower, upper, whole)
    low, high = (float(show_number(end, places, side).replace(",", "")) for end, side in ((lower, -1), (upper, 1)))
    slack = 1e-12 * max(abs(lower), abs(upper))  # the places of a double that is written in full
    assert low <= lower + slack
    assert upper - slack <= high
    if not whole or width > 20:
        assert high - low <= 1.3 * width + slack + 1e-14


def test_whole_numbers_have_no_places_and_large_ones_no_digits_that_a_double_has_not():
    assert find_places(1, 2, whole=True) == 0
    assert show_number(1e300, 0) == "1e+300"
    assert show_number(-2e15, -3) == "-2e+15"


def test_ends_of_intervals_go_outwards_where_digits_are_left_out():
    shown = [show_number(number, -3, side) for number in (1.23456749e15, -1.23456749e15) for side in (-1, 0, 1)]
    assert shown == [
        *("1.234567e+15", "1.234567e+15", "1.234568e+15"),
        *("-1.234568e+15", "-1.234567e+15", "-1.234567e+15"),
    ]


@pytest.mark.parametrize(
    ("number", "shown"), [(0, "0"), (999, "999"), (1000, "1k"), (-2.5e9, "-2.5G"), (1e-7, "1e-07")]
)
def test_axes_have_short_numbers(number, shown):
    assert show_short(number) == shown


def test_facts_have_four_digits_and_keys_are_as_they_are():
    assert [show_fact(each) for each in (8703.2, 0.123456, 15_512.7, inf, 3, "a")] == [
        *("8,703", "0.1235", "15,513", "not estimable", "3", "a"),
    ]
    assert [show_fact(each, floor=1e-4) for each in (1e-4, 0.00012, 0.03)] == ["< 0.0001", "0.00012", "0.03"]
    keys = (2022, 25_000.0, 0.5, True, date(2024, 1, 31), datetime(2024, 1, 31, 12, 30), "a\x1b[31m")  # noqa: DTZ001
    assert [show_key(each) for each in keys[:-1]] == [
        *("2022", "25000", "0.5", "true", "2024-01-31", "2024-01-31 12:30:00"),
    ]
    assert "\x1b" not in show_key(keys[-1])


def test_all_digits_are_there():
    assert [show_all(each) for each in (1234.0, 0.1234567890123456, 1234, "x")] == [
        *("1,234", "0.1234567890123456", "1,234", "x"),
    ]
