from __future__ import annotations

import json

import httpx
import pytest

import adomnia
from adomnia.client import session as sessions
from adomnia.client.connection import Connection
from adomnia.errors import Refusal

URL = "http://127.0.0.1:8000"


@pytest.fixture
def replies():
    """What the server has at each path."""
    return {"/me": {"name": "alice", "role": "analyst"}, "/datasets": {"datasets": [{"name": "a/b"}]}}


@pytest.fixture
def seen():
    return []


@pytest.fixture(autouse=True)
def server(monkeypatch, replies, seen):
    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        path = request.url.raw_path.decode().removeprefix("/api/v1")
        return httpx.Response(200, content=json.dumps(replies[path]))

    def connection(address, token, timeout):
        return Connection(address, token, timeout, httpx.MockTransport(answer))

    monkeypatch.setattr(sessions, "Connection", connection)


def test_a_session_prints_though_its_server_says_nothing_or_is_left(replies):
    with adomnia.connect(URL, "ao_secret") as alice:
        replies["/datasets/a%2Fb/catalog"] = {"what": "nobody knows"}
        told = repr(alice)
        assert told.startswith("Session of alice with a/b at http://127.0.0.1:8000. The server at")
        assert "does not speak the API of this version" in told
    assert repr(alice).endswith("The connection is closed. Fix: connect again.")
    assert alice._repr_html_().startswith("<p>Session of alice")
    assert "ao_secret" not in told


def test_the_only_dataset_need_not_be_named(replies, seen):
    with adomnia.connect(URL, "ao_secret") as alice:
        assert (alice.analyst, alice.dataset) == ("alice", "a/b")
        replies["/datasets/a%2Fb/answers?limit=1000"] = {"answers": [], "next": None}
        assert alice.answers() == []


@pytest.mark.parametrize(
    ("names", "dataset"), [([], None), (["one", "two"], None), (["one"], "two"), ([], "one"), (["one", "two"], "")]
)
def test_a_dataset_that_is_not_there_is_refused(replies, names, dataset):
    replies["/datasets"] = {"datasets": [{"name": name} for name in names]}
    with pytest.raises(Refusal) as raised:
        adomnia.connect(URL, "ao_secret", dataset)
    assert raised.value.code == "unknown_dataset"
    assert ", ".join(names) in raised.value.why


def test_one_of_several_datasets_is_chosen_by_name(replies):
    replies["/datasets"] = {"datasets": [{"name": "one"}, {"name": "two"}]}
    assert adomnia.connect(URL, "ao_secret", "two").dataset == "two"


@pytest.mark.parametrize("told", [{}, [], None, {"datasets": [{}]}, {"datasets": 5}, {"datasets": "ab"}])
def test_words_that_are_not_understood_are_of_another_version(replies, told):
    replies["/datasets"] = told
    with pytest.raises(Refusal) as raised:
        adomnia.connect(URL, "ao_secret")
    assert raised.value.code == "other_version"


def test_every_question_has_a_request_id_of_its_own_before_it_is_sent(replies, seen):
    alice = adomnia.connect(URL, "ao_secret")
    for path in ("query", "batch"):
        replies[f"/datasets/a%2Fb/{path}"] = {}
    for _ in range(2):
        with pytest.raises(Refusal, match="does not speak the API"):
            alice.sql("SELECT 1", epsilon=0.1)
        with pytest.raises(Refusal, match="does not speak the API"):
            alice.batch(["SELECT 1"], epsilon=0.1)
    sent = [json.loads(request.content) for request in seen if request.method == "POST"]
    assert len({body["request_id"] for body in sent}) == 4
    assert all(len(body["request_id"]) == 32 for body in sent)
    assert sent[0] | {"request_id": ""} == {
        "sql": "SELECT 1",
        "epsilon": 0.1,
        "confidence": 0.95,
        "replay": True,
        "request_id": "",
    }


def test_a_name_that_is_not_public_is_not_loaded_before_it_is_used():
    assert adomnia.connect is sessions.connect


@pytest.mark.parametrize("name", [5, None, "a\x1b[2J"])
def test_a_name_that_cannot_be_shown_is_of_another_version(replies, name):
    replies["/me"] = {"name": name}
    with pytest.raises(Refusal) as raised:
        adomnia.connect(URL, "ao_secret")
    assert raised.value.code == "other_version"


def test_a_tree_that_has_no_end_is_of_another_version(replies):
    tree = {"text": "x", "parts": []}
    for _ in range(400):
        tree = {"text": "x", "parts": [tree]}
    replies["/datasets/a%2Fb/explain"] = {"tree": tree, "lines": [], "confidence": 0.5, "left": {}}
    with pytest.raises(Refusal) as raised:
        adomnia.connect(URL, "ao_secret").explain("SELECT 1")
    assert raised.value.code == "other_version"


@pytest.mark.parametrize(
    ("request_id", "part"), [(".", "%2E"), ("..", "%2E%2E"), ("...", "..."), ("a/../b", "a%2F..%2Fb")]
)
def test_dots_in_a_request_id_are_no_steps(replies, seen, request_id, part):
    alice = adomnia.connect(URL, "ao_secret")
    replies[f"/datasets/a%2Fb/answers/{part}?place=0"] = {}
    with pytest.raises(Refusal, match="does not speak the API"):
        alice.answer(request_id)
