"""Parameters become constants: no value is read as SQL, and the plan is that of the question written out."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.sql.reading import parameters as module
from adomnia.sql.reading.parameters import BoundText, bind, translate_places
from adomnia.sql.reading.parse import parse

COUNT = "SELECT COUNT(*) FROM people WHERE "


@pytest.mark.parametrize(
    ("value", "constant"),
    [
        (18, "18"),
        (-18, "(-18)"),
        (0.5, "0.5"),
        (1e-7, "1e-07"),
        (-1.5, "(-1.5)"),
        (Decimal("1E+5"), "1E+5"),
        (True, "TRUE"),
        (False, "FALSE"),
        (None, "NULL"),
        ("O'Hara", "'O''Hara'"),
        ("", "''"),
        ("a -- b", "'a -- b'"),
        ("x' OR '1' = '1", "'x'' OR ''1'' = ''1'"),
        (date(987, 1, 31), "DATE '0987-01-31'"),
        (np.int64(3), "3"),
        (np.bool_(True), "TRUE"),
        (np.datetime64("2024-01-31"), "DATE '2024-01-31'"),
        (np.datetime64("2024-01-31T12:30"), "TIMESTAMP '2024-01-31 12:30:00'"),
    ],
)
def test_a_value_is_one_constant(value, constant):
    assert bind(f"{COUNT}age = ?", [value]) == f"{COUNT}age = {constant}"
    assert bind(f"{COUNT}age = :of_it", {"of_it": value}) == f"{COUNT}age = {constant}"


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("age>-?", "age>- (-5)"),
        ("age =?AND TRUE", "age = (-5) AND TRUE"),
        ("age IN (?,?)", "age IN ((-5),(-5))"),
        ("-- ?\n age = ? /* ? */ AND a = '?' AND \"?\" = 1", "-- ?\n age = (-5) /* ? */ AND a = '?' AND \"?\" = 1"),
        ("x::INT = ?", "x::INT = (-5)"),
        ("?::INT = x AND x = ? ::INT", "(-5) ::INT = x AND x = (-5) ::INT"),
    ],
)
def test_constants_touch_nothing(text, made):
    number = made.count("(-5)")
    assert bind(text, [-5] * number) == made


def test_names_may_stand_there_often_and_may_be_words_of_sql():
    made = bind(f"{COUNT}a = :date OR b = :date OR c = :select", {"date": 1, "select": 2})
    assert made == f"{COUNT}a = 1 OR b = 1 OR c = 2"
    assert bind("SELECT n: COUNT(*)", {}) == "SELECT n: COUNT(*)"
    assert bind(COUNT, None) is COUNT


@pytest.mark.parametrize(
    ("text", "given_values", "says"),
    [
        ("a = ? OR\nb = ?", [1], r"which is 2, and got 1\. Fix: pass one value for each \?\. \(line 2, column 5\)"),
        ("a = ?", [1, 2], r"which is 1, and got 2\. .*\(line 1, column 6\)"),
        ("a = :x", {}, r":x has no value\. Fix: pass parameters=\{\"x\": value\}\. \(line 1, column 5\)"),
        ("a = :x", {"x": 1, "y": 2}, "Parameter y is not in the text"),
        ("a = ?", {"x": 1}, r"\? has no name.*\(line 1, column 5\)"),
        ("a = :x", [1], r":x is a name, and the values have none\. .*\(line 1, column 5\)"),
        ("a = :1", {"1": 1}, ":1 is not the name of a parameter"),
        ("a = :group by", {"group": 1}, ":group by is not the name of a parameter"),
        ("a = ?", [[1]], r"\? is a list\. Fix: write a parameter for each value: IN \(\?, \?\)"),
        ("a = ?", [object()], r"\? is of type object\. Fix: pass a number"),
        ("a = ?", [datetime(2024, 1, 31, tzinfo=UTC)], "is not a local time"),
        ("a = ?", [b"x"], "is of type bytes"),
        ("a = ?", [np.datetime64("2024-01-31", "ns")], "is of type datetime64"),
        ("a = ?", [np.timedelta64(5, "ns")], "is of type timedelta64"),
        ("a = ?", [np.array([1, 2])], "is of type ndarray"),
        ("a = :x", {"x": float("nan")}, ":x is beyond the range of a double"),
        ("a = ?", [float("-inf")], "beyond the range"),
        ("a = ?", [Decimal("sNaN")], "beyond the range"),
        ("a = ?", [10**400], "beyond the range"),
        ("a = ?", [Decimal("1." + "1" * 500)], "beyond the range"),
        ("a = ?", ["x" * 1025], "longer than 1,024 characters"),
        ("a = 1 OR\nb = ?", ["\x00"], r"U\+0000 is invisible\. .*\(line 2, column 5\)"),
    ],
)
def test_what_is_no_value_for_the_text_is_refused_at_its_place(text, given_values, says):
    with pytest.raises(Refusal, match=says) as refused:
        bind(text, given_values)
    assert refused.value.code in {"bad_parameter", "bad_character"}


@pytest.mark.parametrize("given_values", ["ab", b"ab", 5, {1}])
def test_parameters_are_a_list_or_a_dictionary(given_values):
    with pytest.raises(TypeError, match="must be a list or a dictionary"):
        bind("a = ?", given_values)


@given(st.lists(st.text(max_size=12), min_size=2, max_size=2))
def test_every_text_is_the_constant_that_was_passed_or_refused(values):
    text = f"{COUNT}name = ? AND\nage = 1 AND city = ?"
    try:
        tree = parse(bind(text, values))
    except Refusal as refusal:
        assert refusal.code in {"bad_character", "syntax_not_allowed"}  # noqa: PT017 - of signs that nobody may write
        return
    assert sorted(each.this for each in tree.find_all(exp.Literal) if each.is_string) == sorted(values)


def test_places_are_those_of_the_text_that_was_written():
    text = "a = ? AND\nb =? AND c\n= ? AND d"
    made = bind(text, ["line\nline\nline", -1, 3])
    for word in ("a", "AND", "b", "c", "d"):
        written, bound = text.index(word), made.index(word)
        position = module.position_at(made, bound)
        assert made.find_written(position) == module.position_at(text, written)
    assert made.find_written(module.position_at(made, made.index("line"))) == (1, 5)


def test_refusals_without_a_place_and_other_texts_stay_as_they_are():
    for text, place in ((bind("a = ?", [1]), None), ("a", (1, 1))):
        with pytest.raises(Refusal) as refused, translate_places(text):
            raise Refusal("x", "is wrong", "write y", place)
        assert refused.value.position == place


def test_no_value_ends_its_own_text():
    try:
        made = bind("name = ?", ["x' OR '1' = '1"])
    except Refusal as refusal:
        made = str(refusal)
    assert made == "name = 'x'' OR ''1'' = ''1'"


def test_what_is_not_one_constant_is_refused(monkeypatch):
    monkeypatch.setattr(module, "_write_constant", lambda *_: "'x' OR TRUE")
    with pytest.raises(Refusal, match="A parameter cannot stand where it does"):
        bind("name = ?", ["x"])


def test_a_text_that_would_be_read_otherwise_is_refused(monkeypatch):
    """Should a constant ever run into what is beside it, nothing is asked."""
    monkeypatch.setattr(module, "_space", lambda _: "")
    with pytest.raises(Refusal, match="A parameter cannot stand where it does"):
        bind("x = a?", [5])
    assert isinstance(bind("a = ?", [1]), BoundText)
