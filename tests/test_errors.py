"""A refusal explains itself and a failure says nothing."""

from __future__ import annotations

import copy
import pickle

import pytest

from adomnia.errors import AdomniaError, Failure, Refusal, Unavailable, render
from adomnia.messages.references import Option
from adomnia.messages.surfaces import Surface
from adomnia.messages.texts import Fix, Message


def test_a_refusal_says_what_why_and_what_to_do():
    refusal = Refusal(what="AVG(city)", why="needs a number and city is a category", fix="average a number column")
    assert str(refusal) == "AVG(city) needs a number and city is a category. Fix: average a number column."


def test_a_refusal_ends_with_its_position_in_the_text():
    assert (
        str(Refusal("COPY", "is not allowed", "use SELECT", position=(2, 7)))
        == "COPY is not allowed. Fix: use SELECT. (line 2, column 7)"
    )


def test_a_failure_is_the_same_text_whatever_happened():
    assert str(Failure()) == "The request failed."
    assert str(Failure("7f3a")) == "The request failed. Request id: 7f3a."


def test_a_failure_takes_no_detail_that_could_leak():
    with pytest.raises(TypeError):
        Failure("7f3a", "division by zero in row 3")


@pytest.mark.parametrize(
    "error", [Refusal("A", "is not b", "c", (1, 2)), Refusal("A", "is not b", "c"), Failure("7f3a"), Failure()]
)
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_errors_cross_process_boundaries_unchanged(error, again):
    received = again(error)
    assert (type(received), str(received), vars(received)) == (type(error), str(error), vars(error))
    assert isinstance(received, AdomniaError)


def test_an_error_is_shown_in_the_words_of_a_surface():
    paid = Message("without ", Option("epsilon"))
    refusal = Refusal(paid, paid, Fix(Message("add ", Option("rows", "9")), "give_rows", rows=9), (1, 2), code="price")
    told = render(refusal, Surface.COMMAND_LINE)
    assert str(told) == "without --epsilon without --epsilon. Fix: add --rows 9. (line 1, column 2)"
    assert (told.code, told.fix.action, told.fix.facts) == ("price", "give_rows", {"rows": 9})
    assert refusal.fix == "add rows=9"
    assert str(pickle.loads(pickle.dumps(told))) == str(copy.copy(told)) == str(told)
    away = render(Unavailable("The server", "is away", Message("add ", Option("rows")), "busy", 7), Surface.JSON)
    assert (away.code, away.retry_seconds, away.fix) == ("busy", 7, "add `rows`")
