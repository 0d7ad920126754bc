from __future__ import annotations

from dataclasses import replace

import numpy as np

from adomnia.console.answers.table import build_table
from kit.answers import key, make_answer, measured


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
