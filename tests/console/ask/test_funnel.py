"""The slider of prices."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise

import pytest

from adomnia.console.ask.funnel import Caption, PriceScale, draw_funnel

SCALE = PriceScale.up_to(Fraction(2), "epsilon")


def test_the_scale_goes_from_cheap_to_all_that_is_left():
    assert (SCALE.least, SCALE.most) == (Fraction(1, 20), 2)
    assert PriceScale.up_to(Fraction(1, 100), "epsilon").least == Fraction(1, 1000)
    assert SCALE.place(Fraction(1, 20)) == 0
    assert SCALE.place(Fraction(9)) == 1
    assert SCALE.at(SCALE.place(Fraction(1, 4))) == pytest.approx(0.25)


def test_the_band_follows_the_distribution_between_the_prices_that_are_known():
    known = [(price, 1 / float(price)) for price in SCALE.list_points(5)]
    funnel = draw_funnel(SCALE, Fraction(1, 4), Caption("Price 0.25", "n"), known)
    assert funnel.error == "4"
    assert funnel.bottom - funnel.top == pytest.approx(72 * 4 / 20, abs=0.2)
    assert funnel.band.startswith("M0 2.0 ")
    assert json.loads(funnel.points)[0] == [0.0, 20.0]


def test_without_errors_there_is_only_the_slider():
    assert draw_funnel(SCALE, Fraction(1, 4), Caption("Price 0.25")).band == ""
    assert draw_funnel(SCALE, Fraction(1, 4), Caption("x"), [(Fraction(1), 0.0)] * 9).band == ""


@pytest.mark.parametrize("most", [Fraction(2), Fraction("0.0791933"), Fraction(100_000), Fraction(1, 10**9)])
def test_words_of_the_axis_leave_each_other_room(most):
    ticks = draw_funnel(PriceScale.up_to(most, "epsilon"), most, Caption("x")).ticks
    middles = [tick.place for tick in ticks]
    assert middles == sorted(middles)
    assert len(ticks) >= 2
    for before, after in pairwise(ticks[1:-1]):
        assert after.place - before.place >= 0.024 * (len(before.words) + len(after.words)) / 2
