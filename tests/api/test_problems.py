"""One shape for everything that goes wrong."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path

import pytest
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

import adomnia
from adomnia.api.openapi import MEANINGS
from adomnia.api.problems import STATUSES, classify_fault, render_problem, status_of
from adomnia.api.replies import encode_json
from adomnia.api.retry import RetryLater
from adomnia.errors import Failure, Refusal, Unavailable

SHAPE = {"code", "what", "why", "fix", "position", "request_id"}


@pytest.mark.parametrize(("code", "status"), [*STATUSES.items(), ("refused", 400), ("unknown_column", 400)])
def test_the_code_of_a_refusal_decides_its_status(code, status):
    response = render_problem(Refusal("The thing", "is wrong", "mend it", (2, 3), code=code))
    error = json.loads(response.body)["error"]
    assert response.status_code == status
    assert set(error) == SHAPE
    assert (error["code"], error["what"], error["why"], error["fix"]) == (code, "The thing", "is wrong", "mend it")
    assert error["position"] == [2, 3]


def test_no_status_is_a_5xx_but_503_and_each_is_explained_in_the_document():
    assert {status for status in STATUSES.values() if status >= 500} == {503}
    assert set(STATUSES.values()) | {400, 424} == set(MEANINGS) | {405}


def test_every_code_with_a_status_of_its_own_is_given_somewhere_in_the_source():
    source = "\n".join(path.read_text() for path in Path(adomnia.__file__).parent.rglob("*.py"))
    given = set(re.findall(r'code="(\w+)"', source)) | set(re.findall(r'[A-Z_]+ = "(\w+)"', source))
    assert set(STATUSES) <= given


def test_a_failure_says_nothing_but_its_request_id():
    response = render_problem(Failure("7f3a"))
    error = json.loads(response.body)["error"]
    assert response.status_code == status_of(Failure()) == 424
    assert (error["code"], error["request_id"]) == ("failure", "7f3a")
    other = json.loads(render_problem(Failure("8b2c")).body)["error"]
    assert {**error, "request_id": None} == {**other, "request_id": None}


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (RetryLater("The server", "is busy", 7, code="overload"), "7"),
        (Unavailable("The ledger", "is busy", "try again", "busy"), "1"),
        (Unavailable("The ledger", "is full", "free space", retry_seconds=9), "9"),
        (Refusal("The sign-in", "came too soon", "wait", code="too_many_attempts"), "900"),
        (Refusal("The thing", "is wrong", "mend it"), None),
        (Failure(), None),
    ],
)
def test_who_should_come_back_is_told_when(error, seconds):
    assert render_problem(error).headers.get("retry-after") == seconds


def test_headers_say_how_to_sign_in_and_that_a_connection_ends():
    assert (
        render_problem(Refusal("You", "are nobody", "sign in", code="signed_out")).headers["www-authenticate"]
        == "Bearer"
    )
    assert render_problem(Refusal("It", "is large", "send less", code="too_large")).headers["connection"] == "close"
    assert "connection" not in render_problem(Refusal("It", "is wrong", "mend it")).headers


def test_what_is_wrong_with_a_field_is_told_without_repeating_what_was_sent():
    errors = [{"loc": ("body", "epsilon"), "msg": "Value error, must be a number", "input": "secret", "type": "x"}]
    error = classify_fault(RequestValidationError(errors))
    assert error.code == "malformed"
    assert str(error).startswith("The field epsilon is not as it should be: must be a number. Fix: ")
    assert "secret" not in str(error)


def test_a_field_of_a_very_long_name_is_told_in_part():
    error = classify_fault(RequestValidationError([{"loc": ("body", "x" * 5000), "msg": "Extra", "type": "x"}]))
    assert len(str(error)) < 400


def test_the_whole_body_may_be_what_is_wrong():
    error = classify_fault(RequestValidationError([{"loc": ("body",), "msg": "Field required", "type": "x"}]))
    assert error.what == "The body of the request"


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (HTTPException(404), "unknown_route"),
        (HTTPException(405), "method"),
        (ClientDisconnect(), "malformed"),
        (Refusal("a", "b", "c", code="budget"), "budget"),
        (Unavailable("a", "b", "c"), "unavailable"),
        (OSError(28, "secret"), "unavailable"),
        (sqlite3.OperationalError("secret"), "unavailable"),
    ],
)
def test_faults_that_are_foreseen_are_explained(fault, code):
    assert classify_fault(fault).code == code
    assert "secret" not in str(classify_fault(fault))


@pytest.mark.parametrize("code", ["unavailable", "access", "busy", "signed_out"])
def test_trouble_of_ours_is_a_503_whatever_it_is_called(code):
    response = render_problem(Unavailable("The ledger", "is full", "free space", code))
    assert (response.status_code, json.loads(response.body)["error"]["code"]) == (503, code)


@pytest.mark.parametrize("fault", [HTTPException(400), HTTPException(500), KeyError("x"), RecursionError()])
def test_faults_that_nobody_foresaw_are_not(fault):
    assert classify_fault(fault) is None


def test_json_holds_no_numbers_that_json_does_not_have():
    assert encode_json({"a": "\ud800<é"}) == b'{"a":"\\ud800<\\u00e9"}'
    with pytest.raises(ValueError, match="JSON"):
        encode_json({"a": float("nan")})
