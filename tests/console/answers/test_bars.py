from __future__ import annotations

from math import inf

from adomnia.console.answers.bars import draw_bar
from adomnia.console.answers.scales import IntervalScale

SCALE = IntervalScale(0.0, 100.0, ())


def test_the_dot_is_on_the_value_and_not_in_the_middle():
    bar = draw_bar(SCALE, 30, 10, 90)
    assert (bar.left, bar.middle, bar.right, bar.dot) == (0.1, 0.3, 0.9, True)
    assert (round(bar.left_half, 9), round(bar.right_half, 9)) == (0.2, 0.6)
    assert (bar.more_left, bar.more_right, bar.beyond) == (False, False, False)


def test_what_goes_beyond_the_axis_ends_in_an_arrow():
    bar = draw_bar(SCALE, 30, -inf, 140)
    assert (bar.left, bar.right, bar.more_left, bar.more_right, bar.beyond) == (0.0, 1.0, True, True, False)


def test_of_an_interval_that_is_not_on_the_axis_only_the_arrow_is():
    bar = draw_bar(SCALE, 500, 400, 600)
    assert (bar.beyond, bar.more_right, bar.more_left, bar.dot) == (True, True, False, False)
    assert draw_bar(SCALE, -5, -9, -1).beyond
