from __future__ import annotations

import json

import pytest

from adomnia.errors import Failure, Refusal
from adomnia.wire.problems import ProblemReply, error_of, problem_record


@pytest.mark.parametrize("position", [None, (3, 14)])
def test_a_refusal_arrives_as_it_left(position):
    refusal = Refusal("AVG(<b>)", 'has "quotes"', "mend\nit, \u00e4", position, code="odd")
    record = json.loads(json.dumps(problem_record(refusal)))
    found = error_of(record)
    assert isinstance(found, Refusal)
    assert (found.args, found.code) == (refusal.args, "odd")
    assert record["error"]["request_id"] is None


def test_every_error_has_one_shape():
    for error in (Refusal("a", "b", "c", (1, 2)), Refusal("a", "b", "c"), Failure("x"), Failure()):
        ProblemReply.model_validate(json.loads(json.dumps(problem_record(error, "server's own"))))


def test_a_failure_says_nothing_but_its_request():
    record = problem_record(Failure("mine"))
    assert isinstance(error_of(record), Failure)
    assert (error_of(record).request_id, str(error_of(record))) == ("mine", "The request failed. Request id: mine.")
    assert problem_record(Failure("mine"))["error"] | {"request_id": ""} == problem_record(Failure("x"))["error"] | {
        "request_id": ""
    }
    assert problem_record(Failure(), "given")["error"]["request_id"] == "given"


def test_nothing_that_a_server_says_moves_the_cursor():
    said = Refusal("a\x1b[2J", "b\r", "c\u202ed")
    assert str(error_of(problem_record(said))) == "a\\x1b[2J b\\r. Fix: c\\u202ed."
    assert error_of(problem_record(Failure("\x07"))).request_id == "\\x07"
    assert error_of(problem_record(Failure({}))).request_id is None


@pytest.mark.parametrize("record", [None, [], {}, {"error": None}, {"error": {}}, {"error": {"code": 5}}, "text"])
def test_anything_else_is_no_error_of_ours(record):
    with pytest.raises(ValueError, match="Problem must have"):
        error_of(record)
