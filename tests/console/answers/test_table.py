from __future__ import annotations

from dataclasses import replace
from datetime import date
from math import inf, nan

import numpy as np

from adomnia.console.answers.measured import read_measured
from adomnia.console.answers.scales import IntervalScale
from adomnia.console.answers.table import build_table, draw_bar, show_measured, show_public
from kit.answers import key, make_answer, measured

DAY = date(2024, 1, 31).toordinal() - 1


def many(rows):
    return make_answer(key("k", *map(str, range(rows))), measured("n", *[(k - 1, k, k + 1) for k in range(rows)]))


def test_rows_come_by_the_hundred_and_share_the_scale_of_all():
    first, last = build_table(many(250)), build_table(many(250), 201)
    assert [len(first.rows), len(last.rows)] == [100, 50]
    assert (last.first, last.last, last.whole) == (201, 250, 250)
    assert first.heads == last.heads
    assert last.rows[0][0].text == "200"


def test_a_page_beyond_the_end_is_the_first():
    assert build_table(many(3), 101).first == 1


def test_rows_that_say_nothing_are_counted_and_named_by_their_keys():
    full = (0.0, 50.0, 100.0)
    column = measured("m", full, (1, 2, 3), full, limits=(0.0, 100.0))
    table = build_table(make_answer(key("a", "x", "y", None), key("b", 1, 2, 3), column))
    assert (table.silences, table.silent, table.void) == (2, ("x · 1", "NULL · 3"), True)


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
    return [show_measured(read, place) for place in range(len(ends))]


def test_every_estimate_has_its_interval_beside_it_and_all_digits_behind():
    (cell,) = shown((54_391.25, 57_012.5, 59_604.75))
    assert (cell.text, cell.interval) == ("57,000", "54,300 to 59,700")
    assert cell.exact == "57012.5, 54391.25 to 59604.75"


def test_counts_that_are_shown_stop_at_zero_and_what_was_released_is_kept():
    (cell,) = shown((-12, -2, 8), whole=True, limits=(0.0, inf))
    assert (cell.text, cell.interval, cell.exact) == ("0", "0 to 8", "-2, -12 to 8")
    (below,) = shown((-30, -20, -10), whole=True, limits=(0.0, inf))
    assert (below.text, below.interval) == ("-20", "-30 to -10")


def test_a_word_stands_where_a_number_would_mislead():
    silent, none, value = shown((0, 250, 500), (nan, nan, nan), (1, 2, 3), limits=(0.0, 500.0))
    assert (silent.text, silent.word, silent.interval) == ("", "says nothing", "")
    assert (none.text, none.word) == ("", "not estimable")
    assert silent.bar.void
    assert none.bar.void
    assert (value.word, value.bar.void) == ("", False)


def test_an_interval_with_one_end_says_which():
    assert [cell.interval for cell in shown((-inf, 3.0, 4.0), (2.0, 3.0, inf))] == ["up to 4.0", "from 2.0 on"]


def test_a_value_alone_says_that_no_interval_was_bought():
    (cell,) = shown((1.0, 46_056.123, 2.0), about=None)
    assert (cell.text, cell.interval, cell.bar) == ("46,056.12", "not bought", None)


def test_dates_are_dates():
    (cell,) = shown((DAY - 1, DAY, DAY + 1), dates=True, whole=True)
    assert (cell.text, cell.interval) == ("2024-01-31", "2024-01-30 to 2024-02-01")


def test_keys_without_a_value_are_named_and_facts_without_one_have_no_reply():
    assert show_public(key("city", None), None).word == "NULL"
    assert show_public(key("city", ""), "").word == "empty text"
    assert show_public(key("p_value", None, fact=True), None).word == "not estimable"
    fact = show_public(key("p_value", 0.123456, fact=True), 0.123456)
    assert (fact.text, fact.exact, fact.interval) == ("0.1235", "0.123456", "")


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
