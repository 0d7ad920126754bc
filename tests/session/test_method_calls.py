"""Methods in Python write the text of a question."""

from __future__ import annotations

from fractions import Fraction
from inspect import signature

import pytest

from adomnia.errors import Refusal
from adomnia.session.method_calls import MethodCalls, _define, write_call
from adomnia.sql.lower import lower
from kit.curated import alice, bob, carol, catalog, curator
from kit.planted_method import BUILT, METHOD, tally

__all__ = ["alice", "bob", "carol", "catalog", "curator", "tally"]


@pytest.fixture
def people(alice, tally, monkeypatch):
    monkeypatch.setattr(MethodCalls, "tally", _define(METHOD), raising=False)
    return alice.table("people")


def test_arguments_are_written_by_their_kind():
    arguments = {
        "column": "salary / 2",
        "columns": ["age", "salary"],
        "factor": "sex",
        "share": Fraction(1, 4),
        "shares": (0.5, 1),
        "places": 2,
        "side": "left",
        "text": "it's",
        "exact": True,
        "by": "city",
    }
    assert write_call("SELECT * FROM people", METHOD, arguments) == (
        "SELECT * FROM tally((SELECT * FROM people), column => (salary / 2), columns => (age, salary), "
        "factor => sex, share => 0.25, shares => (0.5, 1), places => 2, side => 'left', text => 'it''s', "
        "exact => TRUE, by => (city))"
    )


def test_what_is_written_is_read_as_it_was_meant(people, catalog):
    arguments = {"column": "age", "shares": [0.5, -1], "text": "'; DROP", "by": ["city", "sex"], "exact": False}
    lower(write_call("SELECT * FROM people WHERE age > 3", METHOD, arguments), catalog)
    read = BUILT[-1][1]
    assert read["shares"] == (Fraction(1, 2), Fraction(-1))
    assert read["text"] == "'; DROP"
    assert [each.name for each in read["by"]] == ["city", "sex"]


def test_it_answers_as_the_text_does(people, alice):
    text = "SELECT * FROM tally((SELECT * FROM people WHERE (age >= 18)), column => salary, by => sex)"
    first = people.where("age >= 18").tally("salary", by="sex", epsilon=1)
    again = alice.sql(text, epsilon=1)
    assert again.replayed
    assert first.records() == again.records()
    assert people.where("age >= 18").group_by("sex").tally("salary", epsilon=1).replayed


def test_required_arguments_may_be_given_in_their_order_alone(people):
    with pytest.raises(TypeError, match="takes 1 arguments without a name"):
        people.tally("salary", "age", epsilon=1)
    with pytest.raises(TypeError, match="column twice"):
        people.tally("salary", column="age", epsilon=1)


def test_an_unknown_argument_is_guessed(people):
    with pytest.raises(Refusal, match=r"did you mean epsilon\?"):
        people.tally("salary", epslon=1)
    with pytest.raises(Refusal, match="it takes column"):
        people.tally("salary", zzz=1)


def test_an_expression_cannot_reach_beyond_its_brackets(people):
    with pytest.raises(Refusal):
        people.tally("salary), by => (sex", epsilon=1)


def test_its_signature_and_docstring_tell_what_it_takes(people):
    found = signature(type(people).tally)
    assert list(found.parameters)[:3] == ["self", "column", "columns"]
    assert found.parameters["share"].default == 0.5
    assert "what to count" in type(people).tally.__doc__
