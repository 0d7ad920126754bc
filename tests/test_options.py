"""Rows of the table of options agree with themselves."""

from __future__ import annotations

import pytest

from adomnia.options import OPTIONS, REQUESTS, list_options

every_option = pytest.mark.parametrize("row", OPTIONS.values(), ids=OPTIONS)
KINDS = {"amount", "distance", "whole number", "share", "choice", "truth", "text", "amounts", "values"}


@every_option
def test_a_row_is_of_a_kind_and_says_what_it_means_in_one_sentence(row):
    assert row.kind in KINDS
    for meaning in (row.meaning, row.typed.meaning or row.meaning):
        assert meaning[0].isupper()
        assert meaning.endswith(".")
        assert all(len(sentence.split()) <= 20 for sentence in meaning.split(". "))
    assert row.name.isidentifier()


@every_option
def test_a_default_is_one_that_may_be_named(row):
    if row.kind == "choice":
        assert row.default in row.choices
    if row.kind == "share":
        assert 0 < row.default < 1
    assert row.kind == "truth" or not isinstance(row.default, bool)


@every_option
def test_a_flag_stands_for_another_value_than_the_default(row):
    typed = row.typed
    assert (typed.stands_for is None) == bool(typed.metavar)
    if typed.stands_for is not None:
        assert typed.stands_for != row.default
        assert typed.stands_for in row.choices or row.kind == "truth"
    assert typed.repeats == (row.kind in {"amounts", "values"})


@every_option
def test_it_may_be_named_for_something(row):
    assert row.applies & set(REQUESTS)
    assert not row.is_of_question or row.applies > set(REQUESTS)


def test_names_of_now_and_of_before_differ():
    now = [name for row in OPTIONS.values() for name in {row.name, row.typed.flag.replace("-", "_")}]
    before = [row.formerly for row in OPTIONS.values() if row.formerly]
    assert len({*now, *before}) == len([*now, *before])


def test_what_a_request_may_name_has_the_question_in_it():
    assert {row.name for row in list_options("release")} >= {row.name for row in OPTIONS.values() if row.is_of_question}
    assert "request_id" not in {row.name for row in list_options("explain")}
