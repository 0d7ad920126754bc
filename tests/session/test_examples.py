"""Examples name columns that are there, and can be asked."""

from __future__ import annotations

from fractions import Fraction

from adomnia.privacy.kinds import Boolean, Identity, Quantity, Text
from adomnia.session.examples import ExampleNames

AGE, SEX, WHO = Quantity(Fraction(0), Fraction(120)), Text(("F", "M")), Identity(person=True)


def test_a_column_is_asked_as_its_kind_allows():
    names = ExampleNames("people", {"who": WHO, "note": Text(), "free": Quantity(), "sex": SEX, "age": AGE, "in": SEX})
    assert names.ask("age") == names.ask() == 'mean("age", by="sex", epsilon=0.1)'
    assert names.ask("in") == 'count(by="in", epsilon=0.1)'
    assert names.ask("note") == names.ask("free") == names.ask("who") == 'count(by="sex", epsilon=0.1)'
    assert names.ask(price="") == 'mean("age", by="sex")'
    assert names.fill('x("{number}", "{key}", "{person}", "{condition}")') == 'x("age", "sex", "who", "age >= 60")'


def test_names_that_need_quotes_are_left_out():
    names = ExampleNames("people", {"Age in years": AGE, "is member": Boolean(), "member": Boolean()})
    assert (names.number, names.key, names.condition) == (None, "member", "member IS NOT NULL")
    assert names.ask("Age in years") == 'count(by="member", epsilon=0.1)'


def test_where_there_is_no_such_column_a_capital_word_stands_for_it():
    names = ExampleNames("people", {})
    assert names.ask() == "count(epsilon=0.1)"
    assert names.fill('mean("{number}", by="{key}")') == 'mean("NUMBER", by="KEY")'
    assert names.condition == "COLUMN IS NOT NULL"
