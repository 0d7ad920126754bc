from __future__ import annotations

from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.console.answers.scales import choose_scale

NUMBERS = st.floats(-1e300, 1e300)


def scale(*ends, from_zero=False, dates=False):
    lower, upper = (np.array([each[side] for each in ends], dtype=np.float64) for side in (0, 1))
    return choose_scale(lower, upper, from_zero=from_zero, dates=dates)


def test_counts_begin_at_zero_and_end_a_little_after_the_last():
    found = scale((1100, 1200), (3100, 3200), from_zero=True)
    assert found.lower == 0
    assert 3200 < found.upper < 3400
    assert [tick.label for tick in found.ticks] == ["0", "1k", "2k", "3k"]


def test_one_that_goes_far_beyond_the_others_goes_beyond_the_axis():
    ends = [(50_000 + 1000 * k, 60_000 + 1000 * k) for k in range(9)]
    assert scale(*ends, (0, 150_000), from_zero=True).upper < 75_000
    assert scale(*ends, (0, 120_000), from_zero=True).upper > 120_000


def test_differences_have_a_line_of_zero_and_distant_numbers_none():
    assert [tick.zero for tick in scale((-10, 5)).ticks].count(True) == 1
    assert not any(tick.zero for tick in scale((53_700, 54_800)).ticks)


def test_dates_have_the_first_and_the_last_day():
    day = date(2024, 1, 1).toordinal() - 1
    labels = {tick.label for tick in scale((day, day + 10), (day, day + 100), dates=True).ticks}
    assert labels == {"2023-12-29", "2024-04-13"}


@pytest.mark.parametrize("ends", [[], [(-np.inf, np.inf)], [(-np.inf, 3.0)], [(np.nan, np.nan)]])
def test_where_no_interval_has_two_ends_there_is_no_axis(ends):
    assert scale(*ends) is None


@given(st.lists(st.tuples(NUMBERS, NUMBERS).map(sorted), min_size=1, max_size=30), st.booleans())
def test_nine_tenths_of_all_intervals_are_on_the_axis(ends, from_zero):
    found = scale(*ends, from_zero=from_zero)
    if found is None:  # only where a double cannot hold the distance
        assert max(high for _, high in ends) - min(low for low, _ in ends) > 1e300
        return
    inside = sum(found.lower <= low and high <= found.upper for low, high in ends)
    assert inside >= 0.9 * len(ends)
    assert all(-1e-9 <= tick.share <= 1 + 1e-9 for tick in found.ticks)
    assert len(found.ticks) <= 12
