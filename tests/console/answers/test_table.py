from __future__ import annotations

from dataclasses import replace
from math import inf, nan

import numpy as np

from adomnia.console.answers.measured import read_measured
from adomnia.console.answers.scales import IntervalScale
from adomnia.console.answers.table import build_table, draw_bar, draw_cells
from kit.answers import key, make_answer, measured


def many(rows):
    return make_answer(key("k", *map(str, range(rows))), measured("n", *[(k - 1, k, k + 1) for k in range(rows)]))


def test_rows_come_by_the_hundred_and_share_the_scale_of_all():
    first, last = build_table(many(250)), build_table(many(250), 201)
    assert [len(first.rows), len(last.rows)] == [100, 50]
    assert (last.first, last.last, last.whole) == (201, 250, 250)
    assert first.heads == last.heads
    assert last.rows[0][0].shown.text == "200"


def test_a_page_beyond_the_end_is_the_first():
    assert build_table(many(3), 101).first == 1


def test_uninformative_rows_are_counted_and_named_by_their_keys():
    full = (0.0, 50.0, 100.0)
    column = measured("m", full, (1, 2, 3), full, limits=(0.0, 100.0))
    table = build_table(make_answer(key("a", "x", "y", None), key("b", 1, 2, 3), column))
    assert (table.uninformative, table.named, table.void) == (2, ("x · 1", "NULL · 3"), True)


def test_an_answer_without_rows_has_its_heads():
    table = build_table(replace(many(3), rows=np.array([], dtype=np.intp)))
    assert (table.rows, [head.name for head in table.heads], table.whole) == ((), ["k", "n"], 0)


def test_public_rows_have_no_intervals():
    table = build_table(make_answer(key("city", "Oslo"), key("population", 7), receipt=None))
    assert (table.measured, table.drawn) == (0, False)
    assert [head.number for head in table.heads] == [False, True]


def shown(*ends, **facts):
    column = measured("n", *ends, **facts)
    read = read_measured(make_answer(column), column)
    return list(draw_cells(read, range(len(ends))))


def test_where_there_is_no_number_there_is_no_bar():
    silent, none, value = shown((0, 250, 500), (nan, nan, nan), (1, 2, 3), limits=(0.0, 500.0))
    assert (silent.shown.word, silent.bar.void) == ("uninformative", True)
    assert (none.shown.word, none.bar.void) == ("not estimable", True)
    assert (value.shown.word, value.bar.void) == ("", False)


def test_a_value_alone_has_no_bar():
    (cell,) = shown((1.0, 46_056.123, 2.0), about=None)
    assert (cell.shown.interval, cell.bar) == ("not bought", None)


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
