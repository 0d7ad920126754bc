from __future__ import annotations

import pytest

from adomnia.privacy.units import ROW, Unit


def test_a_unit_is_written_as_table_and_column():
    unit = Unit.parse("people.person_id")
    assert unit == Unit("people", "person_id")
    assert str(unit) == "people.person_id"


def test_the_first_dot_ends_the_table_and_all_others_are_of_the_column():
    assert Unit.parse("people.Person Id. 1") == Unit("people", "Person Id. 1")


def test_a_row_can_be_its_own_unit():
    assert Unit.parse("row") is ROW
    assert Unit.parse(str(ROW)) is ROW
    assert Unit("row", "row") != ROW


@pytest.mark.parametrize("text", ["", "people", "people.", ".person_id", None, 7])
def test_anything_else_is_refused_with_the_rule(text):
    with pytest.raises(ValueError, match=r"^Unit must be written table\.column or row, got "):
        Unit.parse(text)


@pytest.mark.parametrize(
    ("table", "column", "message"),
    [
        ("a.b", "c", r"^Unit table must be a name without dots or outer spaces, got 'a\.b'\.$"),
        ("a", " c", r"^Unit column must be a name without outer spaces, got ' c'\.$"),
        ("a", None, r"^Unit column must be a name without outer spaces, got None\.$"),
        ("a", "", r"^Unit table and column must both be named, got 'a' and ''\.$"),
    ],
)
def test_names_are_checked(table, column, message):
    with pytest.raises(ValueError, match=message):
        Unit(table, column)


def test_the_promise_says_who_is_hidden_and_what_replacing_costs():
    promise = Unit("people", "person_id").promise()
    assert "one person (one value of people.person_id) with all their rows" in promise
    assert "(2 epsilon, (1 + e^epsilon) delta)" in promise
    assert "one row" in ROW.promise()
    assert "person_id" not in ROW.promise()
    assert (Unit("people", "person_id").noun, ROW.noun) == ("person", "row")
