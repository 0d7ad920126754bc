"""Cells of answers, as people read them."""

from __future__ import annotations

from datetime import date
from math import inf, nan

from adomnia.session.cells import ShownCell, name_key, show_column, show_public
from kit.answers import key, make_answer, measured

DAY = date(2024, 1, 31).toordinal() - 1
LIMITS = (0.0, 500.0)


def shown(*ends, **facts):
    column = measured("n", *ends, **facts)
    return list(show_column(make_answer(column), column).cells(range(len(ends))))


def test_every_estimate_has_its_interval_beside_it_and_all_digits_behind():
    (cell,) = shown((54_391.25, 57_012.5, 59_604.75))
    assert (cell.text, cell.interval) == ("57,000", "54,300 to 59,700")
    assert cell.exact == "57012.5, 54391.25 to 59604.75"


def test_counts_that_are_shown_stop_at_zero_and_what_was_released_is_kept():
    (cell,) = shown((-12, -2, 8), whole=True, limits=(0.0, inf))
    assert (cell.text, cell.interval, cell.exact) == ("0", "0 to 8", "-2, -12 to 8")
    (below,) = shown((-30, -20, -10), whole=True, limits=(0.0, inf))
    assert (below.text, below.interval) == ("-20", "-30 to -10")


def test_a_word_stands_where_a_number_would_mislead_and_the_interval_beside_it():
    silent, none, open_ended, value = shown((0, 250, 500), (nan, nan, nan), (-inf, nan, inf), (1, 2, 3), limits=LIMITS)
    assert (silent.text, silent.word, silent.interval) == ("", "uninformative", "0 to 500")
    assert (none.text, none.word, none.interval) == ("", "not estimable", "")
    assert open_ended == none
    assert (value.word, value.text) == ("", "2.0")
    assert [cell.interval for cell in shown((-inf, 3.0, inf))] == ["unbounded"]


def test_an_interval_with_one_end_says_which():
    assert [cell.interval for cell in shown((-inf, 3.0, 4.0), (2.0, 3.0, inf))] == ["up to 4.0", "from 2.0 on"]


def test_a_value_alone_says_that_no_interval_was_bought():
    cell, none = shown((1.0, 46_056.123, 2.0), (1.0, nan, 2.0), about=None)
    assert (none.word, none.interval) == ("not estimable", "")
    assert (cell.text, cell.interval) == ("46,056.12", "not bought")


def test_dates_are_dates():
    (cell,) = shown((DAY - 1, DAY, DAY + 1), dates=True, whole=True)
    assert (cell.text, cell.interval) == ("2024-01-31", "2024-01-30 to 2024-02-01")
    assert cell.exact == "2024-01-31, 2024-01-30 to 2024-02-01"


def test_keys_without_a_value_are_named_and_rows_without_a_fact_are_empty():
    assert show_public(key("city", None), None).word == "NULL"
    assert show_public(key("city", ""), "").word == "empty text"
    assert show_public(key("p_value", None, fact=True), None) == ShownCell()
    fact = show_public(key("p_value", 0.123456, fact=True), 0.123456)
    assert (fact.text, fact.exact, fact.interval) == ("0.1235", "0.123456", "")


def test_keys_within_a_sentence_have_the_words_of_cells():
    assert [name_key(each) for each in (None, "", "Oslo")] == ["NULL", "empty text", "Oslo"]
