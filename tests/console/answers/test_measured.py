from __future__ import annotations

from math import inf

from adomnia.console.answers.measured import read_measured
from kit.answers import key, make_answer, measured

TERMS = {"kind": "points", "x": "term", "y": "estimate"}


def test_a_constant_of_a_model_does_not_stretch_the_axis_of_the_others():
    column = measured("estimate", (47_000, 48_000, 49_000), (-1, 2, 5))
    answer = make_answer(key("term", "(Intercept)", "age"), column, figure=TERMS)
    read = read_measured(answer, column)
    assert read.coefficients
    assert read.scale.upper < 10
    alone = make_answer(key("term", "(Intercept)"), measured("estimate", (47, 48, 49)), figure=TERMS)
    assert read_measured(alone, alone.typed_columns[1]).scale is not None


def test_rows_about_columns_of_their_own_share_no_axis():
    column = measured("mean", (44, 45, 46), (53_000, 54_000, 55_000))
    answer = make_answer(key("column", "age", "salary"), column, figure={"kind": "points", "x": "column", "y": "mean"})
    assert read_measured(answer, column).scale is None


def test_rows_that_are_uninformative_do_not_stretch_the_axis():
    column = measured("m", (0, 250, 500), (10, 20, 30), limits=(0.0, 500.0))
    assert read_measured(make_answer(column), column).scale.upper < 40


def test_only_what_is_never_negative_is_cut_at_zero():
    ends = (-12.0, -2.0, 8.0)
    free, count = measured("d", ends), measured("n", ends, limits=(0.0, inf))
    assert read_measured(make_answer(free), free).shown.lower.tolist() == [-12.0]
    assert read_measured(make_answer(count), count).shown.lower.tolist() == [0.0]
