"""Ends of axes."""

from __future__ import annotations

from itertools import pairwise
from math import inf, isfinite, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.figures.columns import LARGEST
from adomnia.figures.scales import span, span_exactly, span_loosely

numbers = st.lists(st.floats(-LARGEST, LARGEST) | st.none(), max_size=5)


@given(numbers)
def test_axes_hold_all_numbers_and_have_finite_ends(values):
    for find in (span, span_exactly, span_loosely):
        lower, upper = find(values)
        assert isfinite(lower)
        assert isfinite(upper)
        assert lower < upper
        slack = 1e-9 * (upper - lower)
        assert all(lower - slack <= value <= upper + slack for value in values if value is not None)


@pytest.mark.parametrize(
    ("values", "ends"),
    [([3, 47], (0, 50)), ([-17, 252], (-50, 300)), ([0.12, 0.97], (0, 1)), ([5, 5], (4.4, 5.6)), ([], (0, 1))],
)
def test_ends_are_round(values, ends):
    assert span(values) == pytest.approx(ends)


def test_what_is_no_number_is_passed_over():
    assert span([None, nan, inf, 1, 9]) == span([1, 9])


def test_ends_may_have_to_hold_more():
    assert span([40, 50], include=(0,))[0] == 0
    assert all(low <= high for low, high in pairwise([*span([0.4], include=(0, 1))]))
