"""What is true of every reply."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from adomnia.api import free_work
from adomnia.api.middleware import RequestMiddleware
from adomnia.api.replies import PiecewiseResponse
from adomnia.api.routes import questions
from adomnia.api.running.time_buckets import TimeBuckets
from kit import house

ALWAYS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
}
SECRET = "Zebulon's salary is 7"


class Book:
    """Logs and metrics that remember."""

    def __init__(self) -> None:
        self.seen, self.faults = [], []

    def report(self, seen) -> None:
        self.seen.append(seen)

    def log_fault(self, route, fault) -> None:
        self.faults.append((route, type(fault).__name__))


def asked(app, book: Book, secure: bool = False, path: str = "/api/v1/x", host: bytes = b"localhost"):
    """The messages that the middleware around an app sends."""
    settings = SimpleNamespace(secure=secure, hosts=("localhost",))
    services = SimpleNamespace(settings=settings, logs=book, report=book.report)
    scope = {"type": "http", "method": "GET", "path": path, "headers": [(b"host", host)], "query_string": b""}
    sent = []

    async def send(message) -> None:
        sent.append(message)

    asyncio.run(RequestMiddleware(app, services)(scope, None, send))
    return sent


def headers_of(message) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in message["headers"]}


async def fine(scope, receive, send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"ok"})


async def broken(scope, receive, send) -> None:
    raise ZeroDivisionError(SECRET)


async def broken_halfway(scope, receive, send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    raise ZeroDivisionError(SECRET)


@pytest.mark.parametrize(
    ("name", "method", "path"),
    [
        (None, "GET", "/api/v1/health"),
        (None, "GET", "/api/v1/me"),
        ("alice", "GET", "/api/v1/me"),
        ("alice", "GET", "/api/v1/users"),
        ("alice", "POST", "/api/v1/datasets/hospital/query"),
        ("olga", "GET", "/api/v1/metrics"),
        (None, "GET", "/api/v1/nothing"),
        (None, "PUT", "/api/v1/me"),
        (None, "GET", "/sign-in"),
        (None, "GET", "/"),
        (None, "GET", "/static/nothing.css"),
        (None, "GET", "/nothing"),
    ],
)
def test_every_reply_has_the_security_headers(shared_house, name, method, path):
    headers = shared_house.ask(name, method, path).headers
    assert {key: headers[key] for key in ALWAYS} == ALWAYS
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    scripts = {part.strip() for part in policy.split(";") if "script-src" in part}
    assert scripts == (set() if path.startswith("/api") else {"script-src 'self'"})
    assert "unsafe" not in policy
    assert headers["referrer-policy"] == ("no-referrer" if path.startswith("/api") else "same-origin")
    assert "strict-transport-security" not in headers
    assert "server" not in headers


def test_under_tls_browsers_are_told_to_stay_there():
    (start, _) = asked(fine, Book(), secure=True)
    assert headers_of(start)["strict-transport-security"] == "max-age=31536000"


def test_each_request_has_an_id_of_the_server_which_the_log_has_too(shared_house):
    ids = [shared_house.ask("alice", "GET", "/api/v1/me").headers["x-request-id"] for _ in range(2)]
    assert len(set(ids)) == 2
    logged = [json.loads(line).get("request_id") for line in shared_house.log.getvalue().splitlines()]
    assert set(ids) <= set(logged)


def logged_of(opened, request_id) -> list[dict]:
    lines = map(json.loads, opened.log.getvalue().splitlines())
    return [line for line in lines if line.get("request_id") == request_id]


QUERY = "/api/v1/datasets/hospital/query"
FOREIGN = {"Host": "elsewhere.example"}


@pytest.mark.parametrize(
    ("status", "asked"),
    [
        (401, (None, "GET", "/api/v1/me", {})),
        (403, ("alice", "GET", "/api/v1/users", {})),
        (403, ("alice", "GET", "/api/v1/me", {"headers": FOREIGN})),
        (404, ("alice", "GET", "/api/v1/nothing", {})),
        (404, ("alice", "POST", "/api/v1/datasets/other/query", {"json": {"sql": "x", "epsilon": 1}})),
        (405, ("alice", "PUT", "/api/v1/me", {})),
        (413, ("alice", "POST", QUERY, {"json": {"sql": "x" * 2**21}})),
        (415, ("alice", "POST", QUERY, {"content": b"{}", "headers": {"Content-Type": "text/plain"}})),
        (422, ("alice", "POST", QUERY, {"content": b"{", "headers": {"Content-Type": "application/json"}})),
        (422, ("alice", "POST", QUERY, {"json": {}})),
        (400, ("alice", "POST", QUERY, {"json": {"sql": "SELECT nothing", "epsilon": 1}})),
    ],
)
def test_every_error_tells_the_id_that_header_and_log_have(shared_house, status, asked):
    *request, options = asked
    reply = shared_house.ask(*request, **options)
    assert reply.status_code == status
    assert reply.json()["error"]["request_id"] == reply.headers["x-request-id"]
    assert [line["status"] for line in logged_of(shared_house, reply.headers["x-request-id"])] == [status]


def test_so_do_those_who_come_too_fast_or_while_it_stops(tmp_path):
    with house.opened(tmp_path, rate=0.001, burst=2) as own:
        own.services.pool.stop()
        replies = [own.ask("alice", "GET", path) for path in ("/api/v1/datasets/hospital/budget", *["/api/v1/me"] * 2)]
        assert [reply.status_code for reply in replies] == [503, 200, 429]
        for reply in (replies[0], replies[2]):
            assert reply.json()["error"]["request_id"] == reply.headers["x-request-id"]
            assert len(logged_of(own, reply.headers["x-request-id"])) == 1


@pytest.mark.parametrize(("sent", "told"), [({"request_id": "mine"}, "mine"), (None, None)])
def test_what_a_thread_logs_of_a_request_has_its_id_and_a_failed_question_keeps_its_own(
    own_house, monkeypatch, sent, told
):
    def broken(*_: object) -> None:
        raise ZeroDivisionError(SECRET)

    monkeypatch.setattr(questions, "encode_within", broken)
    monkeypatch.setattr(own_house.services.access, "users", broken)
    reply = own_house.query("alice", **sent) if sent else own_house.ask("olga", "GET", "/api/v1/users")
    given = reply.headers["x-request-id"]
    assert (reply.status_code, reply.json()["error"]["request_id"]) == (424, told or given)
    assert [(line["event"], line.get("fault")) for line in logged_of(own_house, given)] == [
        ("fault", "ZeroDivisionError"),
        ("request", None),
    ]


@pytest.mark.parametrize("broken", [TimeBuckets, PiecewiseResponse])
@pytest.mark.parametrize("sent", [{"request_id": "mine"}, {}])
def test_a_question_that_fails_unexpectedly_is_named_by_its_own_id(own_house, monkeypatch, broken, sent):
    """Under the id of the request it would be another question, which is paid for once more."""

    async def fail(*_: object) -> None:
        raise ZeroDivisionError(SECRET)

    monkeypatch.setattr(questions, "choose_id", lambda request_id: request_id or "chosen")
    monkeypatch.setattr(broken, "run" if broken is TimeBuckets else "__call__", fail)
    reply = own_house.query("alice", **sent)
    assert (reply.status_code, reply.json()["error"]["request_id"]) == (424, sent.get("request_id", "chosen"))


@pytest.mark.parametrize("path", ["query", "answers/mine"])
def test_so_is_one_whose_answer_is_not_found_again(own_house, monkeypatch, path):
    assert own_house.query("alice", request_id="mine").status_code == 200
    for module, name in ((questions, "_replay"), (questions, "encode_within"), (free_work, "encode_within")):
        monkeypatch.setattr(module, name, lambda *_: 1 / 0)
    if path == "query":
        reply = own_house.query("alice", request_id="mine")
    else:
        reply = own_house.ask("alice", "GET", f"/api/v1/datasets/hospital/{path}")
    assert (reply.status_code, reply.json()["error"]["request_id"]) == (424, "mine")


def test_what_nobody_foresaw_is_the_constant_failure_and_the_log_hears_its_class_alone():
    book = Book()
    start, body = asked(broken, book)
    assert start["status"] == 424
    assert SECRET not in body["body"].decode()
    assert book.faults == [("unmatched", "ZeroDivisionError")]
    assert [seen.status for seen in book.seen] == [424]


def test_a_reply_that_breaks_off_is_not_begun_again():
    book = Book()
    sent = asked(broken_halfway, book)
    assert [message["type"] for message in sent] == ["http.response.start"]
    assert book.faults == [("unmatched", "ZeroDivisionError")]


def test_only_requests_are_looked_at():
    seen = []

    async def app(scope, receive, send) -> None:
        seen.append(scope["type"])

    shell = RequestMiddleware(app, SimpleNamespace(settings=SimpleNamespace(secure=False, hosts=())))
    asyncio.run(shell({"type": "lifespan"}, None, None))
    assert seen == ["lifespan"]


def test_log_and_metrics_hear_the_template_of_a_route_and_never_the_path(shared_house):
    shared_house.ask("alice", "GET", f"{house.DATASET}/answers/{house.CANARY}?confidence={house.CANARY}")
    shared_house.ask("alice", "GET", f"/{house.CANARY}")
    shared_house.ask(None, "GET", "/api/v1/me", headers={"Authorization": f"Bearer {house.CANARY}"})
    log = shared_house.log.getvalue()
    assert house.CANARY not in log
    assert '"route": "/api/v1/datasets/{dataset}/answers/{request_id}"' in log
    assert '"route": "unmatched"' in log
    assert house.CANARY not in shared_house.ask("olga", "GET", "/api/v1/metrics").text


def test_the_log_says_who_asked_and_whether_data_may_have_been_read(shared_house):
    book = Book()
    shared_house.query("alice")
    lines = [json.loads(line) for line in shared_house.log.getvalue().splitlines()]
    assert lines[-1]["user"] == "alice"
    assert lines[-1]["status"] == 200
    asked(fine, book)
    assert not book.seen[0].reads_data
    assert replace(book.seen[0], seconds=0, request_id="").user is None
