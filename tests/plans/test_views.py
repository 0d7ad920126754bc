"""Rows of a method's table are chosen and sorted as SQL would."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.plans.views import TableColumn, TableCondition, TableOrder, TableView, choose_rows, read_column
from adomnia.statistics.contract import Estimate, ResultTable
from kit.effort import do_within

VALUES = np.array([2.0, np.nan, -1.0, 2.0])
TABLE = ResultTable(
    {"term": ("a", "b", "c", "d"), "flag": (True, False, True, False)},
    {"estimate": Estimate(VALUES, lambda *_: (VALUES, VALUES), "")},
    facts={"p": lambda: (0.5, 0.1, None, 0.01)},
)
TERM, FLAG, ESTIMATE, P = map(TableColumn, ("term", "flag", "estimate", "p"))


def rows(condition=None, *order):
    return choose_rows(TableView((("term", "term"),), condition, order), TABLE).tolist()


def holds(function, *operands):
    return rows(TableCondition(function, operands))


def test_all_rows_are_shown_in_their_order():
    assert rows() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("sign", "expected"),
    [("=", [0, 3]), ("<>", [2]), ("<", [2]), ("<=", [0, 2, 3]), (">", []), (">=", [0, 3])],
)
def test_numbers_are_compared_and_null_is_not_known(sign, expected):
    assert holds(sign, ESTIMATE, Fraction(2)) == expected


def test_texts_and_booleans_are_compared_with_their_like_alone():
    assert holds("=", TERM, "c") == [2]
    assert holds(">=", TERM, "c") == [2, 3]
    assert holds("=", FLAG, True) == [0, 2]
    assert holds("=", TERM, Fraction(1)) == []
    assert holds("<", P, ESTIMATE) == [0, 3]


def test_conditions_follow_three_valued_logic():
    unknown = TableCondition(">", (P, Fraction(0)))  # of row 2
    third = TableCondition("=", (TERM, "c"))
    assert holds("and", unknown, third) == []
    assert holds("or", unknown, third) == [0, 1, 2, 3]
    assert holds("not", unknown) == []
    assert holds("not", TableCondition("and", (unknown, third))) == [0, 1, 3]
    assert holds("is null", P) == [2]
    assert holds("in", TERM, "a", "d") == [0, 3]
    assert holds("in", P, Fraction(1, 100)) == [3]
    assert holds("not", TableCondition("in", (TERM, "a", None))) == []


def test_patterns_have_two_signs_and_no_others():
    assert holds("like", TERM, "_") == [0, 1, 2, 3]
    assert holds("like", TERM, "b%") == [1]
    assert holds("like", TERM, ".") == []
    assert holds("like", P, "%") == []


def test_rows_are_sorted_with_null_where_it_is_wanted():
    assert rows(None, TableOrder("p")) == [3, 1, 0, 2]
    assert rows(None, TableOrder("p", descending=True)) == [0, 1, 3, 2]
    assert rows(None, TableOrder("p", nulls_first=True)) == [2, 3, 1, 0]
    assert rows(None, TableOrder("estimate"), TableOrder("term", descending=True)) == [2, 3, 0, 1]


def test_a_column_is_read_from_wherever_it_is():
    assert list(read_column(TABLE, "estimate")) == [2.0, None, -1.0, 2.0]
    assert read_column(TABLE, "p") == (0.5, 0.1, None, 0.01)
    assert read_column(TABLE, "flag") == (True, False, True, False)


@pytest.mark.parametrize(
    ("text", "pattern", "expected"),
    [
        ("", "", True),
        ("", "%", True),
        ("abcab", "%ab", True),
        ("abcab", "ab%ab", True),
        ("abab", "ab%ab%ab", False),
        ("aXbYb", "a_b%b", True),
        ("ab", "a_b", False),
        ("a.b", "a.b", True),
        ("axb", "a.b", False),
        ("a\nb", "a%b", True),
        ("aab", "%a_", True),
    ],
)
def test_patterns_fit_as_in_sql(text, pattern, expected):
    assert bool(holds("like", text, pattern)) is expected


@pytest.mark.parametrize("pattern", ["%" * 200 + "z", "%a" * 200 + "z", "%_a" * 150 + "%z", "%" * 1000])
def test_a_pattern_of_many_wildcards_takes_no_time(pattern):
    assert do_within(0.5, lambda: bool(holds("like", "a" * 1000, pattern))) is (pattern == "%" * 1000)
