"""Bodies of every size, speed and shape."""

from __future__ import annotations

import asyncio
import json
from fractions import Fraction

import pytest

from adomnia.api import bodies
from kit import house
from kit.effort import do_within

QUERY = f"{house.DATASET}/query"
JSON = {"Content-Type": "application/json"}
FINE = {"sql": house.COUNT, "epsilon": 0.125}


def sent(own: house.House, body: object, **headers: str):
    return own.ask("alice", "POST", QUERY, content=body, headers={**JSON, **headers})


def code(response):
    return response.json()["error"]["code"]


def error_of(response) -> str:
    return response.json()["error"]["why"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"nothing",
        b'{"sql": NaN}',
        b'{"sql": "SELECT 1", "epsilon": Infinity}',
        b"\xff\xfe",
        b'{"sql": "\xff"}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"epsilon": ' + b"9" * 5_000 + b"}",
        b"{} {}",
        b'\xef\xbb\xbf{"sql": "SELECT 1"}',
    ],
    ids=lambda body: repr(body[:20]),
)
def test_what_is_not_json_is_malformed(shared_house, body):
    response = sent(shared_house, body)
    assert (response.status_code, code(response)) == (422, "malformed")


@pytest.mark.parametrize(
    ("body", "key"),
    [
        (b'{"sql": "SELECT 1", "epsilon": 0.1, "epsilon": 100}', "epsilon"),
        (b'{"sql": "SELECT 1", "epsilon": 1, "parameters": {"a": 1, "\\u0061": 2}}', "a"),
        (b'{"' + b"k" * 900 + b'": 1, "' + b"k" * 900 + b'": 1}', "k" * 100),
    ],
    ids=["outer", "inner", "long"],
)
@pytest.mark.parametrize("path", [QUERY, f"{house.DATASET}/batch", f"{house.DATASET}/price", f"{house.API}/sign-in"])
def test_a_key_that_stands_twice_is_refused_by_its_name(shared_house, path, body, key):
    response = shared_house.ask("alice", "POST", path, content=body, headers=JSON)
    assert (response.status_code, code(response)) == (422, "malformed")
    assert error_of(response) == f"has the key {key!r} twice in one object"


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        "SELECT 1",
        7,
        {},
        {"sql": None},
        {"sql": 7},
        {"sql": ["SELECT 1"]},
        {"sql": {"a": 1}},
        {**FINE, "epsilon": "much"},
        {**FINE, "epsilon": True},
        {**FINE, "epsilon": [1]},
        {**FINE, "replay": "yes"},
        {**FINE, "weights": [1]},
        {**FINE, "request_id": 7},
        {**FINE, "unknown": 1},
        {**FINE, "sql": "\ud800"},
        {**FINE, "request_id": "\udfff"},
        {**FINE, "\ud800": 1},
    ],
    ids=repr,
)
def test_json_of_another_form_is_malformed(shared_house, body):
    response = sent(shared_house, json.dumps(body).encode())
    assert (response.status_code, code(response)) == (422, "malformed")
    assert set(response.json()["error"]) == {"code", "what", "why", "fix", "position", "request_id"}


@pytest.mark.parametrize(
    "body",
    [
        {**FINE, "sql": "SELECT\x00 1"},
        {**FINE, "sql": ""},
        {**FINE, "sql": "x" * 500_000},
        {**FINE, "request_id": "a\x00b"},
        {**FINE, "request_id": "x" * 201},
        {**FINE, "request_id": ""},
        {**FINE, "request_id": "dataset:1"},
        {**FINE, "epsilon": 10**4000},
        {**FINE, "epsilon": "1e-9999"},
        {**FINE, "epsilon": "1e9999"},
        {**FINE, "epsilon": -1},
        {**FINE, "epsilon": 0},
        {**FINE, "epsilon": None},
        {**FINE, "confidence": 1e300},
        {**FINE, "confidence": 10**4000},
        {**FINE, "rows": 0},
        {**FINE, "effort": "none"},
        {**FINE, "weights": {"other": 1}},
    ],
    ids=lambda body: repr(body)[:60],
)
def test_values_that_make_no_sense_are_refused_and_explained(shared_house, body):
    response = sent(shared_house, json.dumps(body).encode())
    assert response.status_code in {400, 422}
    assert response.json()["error"]["fix"]


def test_a_number_keeps_every_digit_that_was_written(shared_house):
    exact = "0.12345678901234567890123"
    text = f'{{"sql": "{house.COUNT}", "epsilon": {exact}}}'
    told = sent(shared_house, text.encode()).json()["cost"]
    assert str(Fraction(exact)) in json.dumps(told["event"])
    assert told["epsilon"] == "0.123456789013"  # in the units of budgets, rounded up


@pytest.mark.parametrize("said", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "json"])
def test_a_body_that_does_not_say_it_is_json_is_refused(shared_house, said):
    headers = {"Content-Type": said} if said else {}
    response = shared_house.ask("alice", "POST", QUERY, content=json.dumps(FINE), headers=headers)
    assert (response.status_code, code(response)) == (415, "media_type")


def test_json_may_name_its_letters(shared_house):
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert shared_house.ask("alice", "POST", QUERY, content=json.dumps(FINE), headers=headers).is_success


def test_a_body_that_announces_too_much_is_refused_unread(shared_house):
    response = sent(shared_house, b"{}", **{"Content-Length": str(bodies.LARGEST + 1)})
    assert (response.status_code, code(response)) == (413, "too_large")
    assert response.headers["connection"] == "close"


def test_a_body_without_a_length_is_read_up_to_the_limit(shared_house):
    given = 0

    async def endless():
        nonlocal given
        while True:
            given += 1
            yield b" " * 65_536

    response = sent(shared_house, endless())
    assert (response.status_code, code(response)) == (413, "too_large")
    assert given <= 17 + 1  # one more may wait in the transport


def test_a_body_just_within_the_limit_is_read(shared_house):
    text = json.dumps(FINE).encode()
    assert sent(shared_house, text + b" " * (bodies.LARGEST - len(text))).is_success


def test_a_body_of_very_many_small_parts_is_refused_quickly(shared_house):
    for body in (
        b"{" + b",".join(b'"%d":1' % number for number in range(60_000)) + b"}",
        b"[" + b",".join([b"1.5"] * 200_000) + b"]",
        b'{"weights":{' + b",".join(b'"\\"%d":"x"' % number for number in range(30_000)) + b"}}",
    ):
        assert "parts" in do_within(0.5, lambda body=body: error_of(sent(shared_house, body)))


def test_a_text_may_have_as_many_commas_as_it_likes(shared_house):
    response = sent(shared_house, json.dumps({**FINE, "sql": "SELECT '\\\"" + "," * 50_000 + "'"}).encode())
    assert response.status_code == 400


def test_only_questions_may_be_long(shared_house):
    for name, path in ((None, "sign-in"), (None, "sign-in/link"), ("olga", "users"), ("alice", "tokens")):
        body = b" " * (bodies.SMALL + 1)
        response = shared_house.ask(name, "POST", f"{house.API}/{path}", content=body, headers=JSON)
        assert (response.status_code, code(response)) == (413, "too_large")
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert shared_house.ask(None, "POST", "/sign-in", content=b"a" * 20_000, headers=form).status_code == 413


@pytest.mark.parametrize("length", ["-1", "x", "1e9", "9" * 30, "²"])
def test_a_length_that_is_no_number_announces_nothing(shared_house, length):
    headers = {"Content-Length": length.encode()}
    response = shared_house.ask("alice", "POST", QUERY, content=json.dumps(FINE), headers={**JSON, **headers})
    assert response.status_code == 200


def test_a_body_that_comes_too_slowly_is_given_up(shared_house, monkeypatch):
    monkeypatch.setattr(bodies, "SLOWEST_SECONDS", 0.05)

    async def slow():
        yield b"{"
        await asyncio.sleep(30)

    response = sent(shared_house, slow())
    assert (response.status_code, code(response)) == (408, "slow_body")
    assert response.headers["connection"] == "close"


def test_strangers_are_refused_before_their_body_is_read(shared_house):
    async def never():
        raise AssertionError("The body was read.")
        yield b""

    response = shared_house.ask(None, "POST", QUERY, content=never(), headers=JSON)
    assert response.status_code == 401
