"""A refusal explains itself and a failure says nothing."""

from __future__ import annotations

import copy
import pickle

import pytest

from adomnia.errors import AdomniaError, Failure, Refusal


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
