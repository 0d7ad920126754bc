from __future__ import annotations

from math import inf, nan

from adomnia.console.answers.measured import find_uninformative, read_measured
from kit.answers import key, make_answer, measured

TERMS = {"kind": "points", "x": "term", "y": "estimate"}
FULL = (0.0, 250.0, 500.0)


def test_a_constant_of_a_model_does_not_stretch_the_axis_of_the_others():
    column = measured("estimate", (47_000, 48_000, 49_000), (-1, 2, 5))
    answer = make_answer(key("term", "(Intercept)", "age"), column, figure=TERMS)
    read = read_measured(answer, column)
    assert read.coefficients
    assert read.scale.upper < 10
    alone = make_answer(key("term", "(Intercept)"), measured("estimate", (47, 48, 49)), figure=TERMS)
    assert read_measured(alone, alone.columns[1]).scale is not None


def test_rows_about_columns_of_their_own_share_no_axis():
    column = measured("mean", (44, 45, 46), (53_000, 54_000, 55_000))
    answer = make_answer(key("column", "age", "salary"), column, figure={"kind": "points", "x": "column", "y": "mean"})
    assert read_measured(answer, column).scale is None


def test_rows_that_say_nothing_do_not_stretch_the_axis():
    column = measured("m", (0, 250, 500), (10, 20, 30), limits=(0.0, 500.0))
    assert read_measured(make_answer(column), column).scale.upper < 40


def test_only_what_is_never_negative_is_cut_at_zero():
    ends = (-12.0, -2.0, 8.0)
    free, count = measured("d", ends), measured("n", ends, limits=(0.0, inf))
    assert read_measured(make_answer(free), free).shown_lower.tolist() == [-12.0]
    assert read_measured(make_answer(count), count).shown_lower.tolist() == [0.0]


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
