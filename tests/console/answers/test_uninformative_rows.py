from __future__ import annotations

from math import inf, nan

from adomnia.console.answers.uninformative_rows import find_uninformative
from kit.answers import make_answer, measured

FULL = (0.0, 250.0, 500.0)


def silent(*ends, **facts):
    column = measured("m", *ends, **facts)
    return find_uninformative(make_answer(column), column).tolist()


def test_an_interval_that_is_all_that_is_possible_says_nothing():
    assert silent(FULL, (10.0, 20.0, 30.0), (0.0, 100.0, 499.0), limits=(0.0, 500.0)) == [True, False, False]


def test_where_nobody_knows_what_is_possible_only_one_without_ends_says_nothing():
    assert silent(FULL, (-inf, 3.0, inf), (-inf, 3.0, 4.0)) == [False, True, False]


def test_what_has_no_value_does_not_say_nothing_but_has_no_reply():
    assert silent((nan, nan, nan), limits=(0.0, 1.0)) == [False]


def test_the_only_number_that_is_possible_is_told():
    assert silent((1.0, 1.0, 1.0), limits=(1.0, 1.0)) == [False]
