"""Questions over HTTP: answered, priced, explained, answered once more; and what happens when things go wrong."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from concurrent.futures import CancelledError
from contextlib import contextmanager
from fractions import Fraction
from urllib.parse import quote

import pyarrow as pa
import pytest

from adomnia.errors import Failure
from adomnia.session.session import LocalSession
from adomnia.work import MOST_STEPS, Abandoned, Work, limit, spend
from kit import house
from kit.waiting import HANG_SECONDS, wait_until

DATASET, COUNT = house.DATASET, house.COUNT
BY_CITY = "SELECT city, COUNT(*) AS n, AVG(salary) AS pay FROM people GROUP BY city"
SCRIPT = "<script>alert('é')</script>"


def error(response):
    return response.json()["error"]


def code(response):
    return response.status_code, error(response)["code"]


@contextmanager
def endless_prices(monkeypatch):
    """A session whose prices take steps until somebody ends it; yields when one began, and how it ended."""
    began, ended = threading.Event(), []

    def price(*_arguments, **_named):
        began.set()
        try:
            for _ in range(int(100 * HANG_SECONDS)):
                spend(1)
                time.sleep(0.01)
        except Abandoned as fault:
            ended.append(type(fault))
            raise
        raise AssertionError("Nobody ended it.")

    with monkeypatch.context() as patch:
        patch.setattr(LocalSession, "price", price)
        yield began, ended


async def ask_and_hang_up(own: house.House, path: str, body: bytes, began: threading.Event) -> list[int]:
    """The status of the reply to a caller who is gone once the work has begun."""
    messages, replies = [{"type": "http.request", "body": body, "more_body": False}], []
    headers = {"host": "127.0.0.1:8000", "content-type": "application/json"}
    headers |= {"authorization": f"Bearer {own.tokens['alice']}"}
    scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b""}
    scope |= {"headers": [(name.encode(), text.encode()) for name, text in headers.items()], "http_version": "1.1"}
    scope |= {"scheme": "http", "server": ("127.0.0.1", 8000), "client": ("127.0.0.1", 1), "root_path": "", "state": {}}

    async def receive():
        if messages:
            return messages.pop()
        await asyncio.to_thread(began.wait, 30)
        return {"type": "http.disconnect"}

    async def send(message):
        if message["type"] == "http.response.start":
            replies.append(message["status"])

    await own.app(scope, receive, send)
    return replies


def spent(own: house.House, name: str = "alice") -> Fraction:
    told = own.ask(name, "GET", f"{DATASET}/budget").json()
    return Fraction(told["personal"]["spent"]["epsilon"])


def curator_of(own: house.House):
    with own.services.dataset.curator() as curator:
        return curator


@contextmanager
def slow_engine(own: house.House, monkeypatch):
    """An engine whose next look at the data takes until the test lets it go on; yields when it began, and how to."""
    engine = curator_of(own).engine
    began, go_on, run = threading.Event(), threading.Event(), engine.run

    def waiting(*arguments):
        began.set()
        assert go_on.wait(HANG_SECONDS)
        return run(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(engine, "run", waiting)
        try:
            yield began, go_on
        finally:
            go_on.set()


def test_an_answer_has_columns_intervals_cost_receipt_and_what_is_left(shared_house):
    told = shared_house.query("alice", BY_CITY).json()
    names = [(column["name"], column["kind"]) for column in told["columns"]]
    assert names == [("city", "key"), ("n", "value"), ("pay", "value")]
    assert all(low <= high for low, high in zip(told["columns"][1]["lower"], told["columns"][1]["upper"], strict=True))
    assert told["cost"]["epsilon"] == "0.125"
    assert told["receipt"]["analyst"] == "alice"
    assert told["replayed"] is False


def test_the_same_question_again_is_the_same_answer_and_free(own_house):
    first = own_house.query("alice", BY_CITY).json()
    paid = spent(own_house)
    again = own_house.query("alice", BY_CITY).json()
    assert again == {**first, "replayed": True}
    assert spent(own_house) == paid == Fraction(1, 8)


def test_a_kept_reply_is_given_without_asking_the_curator(own_house, monkeypatch):
    first = own_house.query("alice").json()
    session = type(curator_of(own_house).session("alice"))
    monkeypatch.setattr(session, "sql", lambda *_, **__: pytest.fail("The curator was asked."))
    again = own_house.query("alice")
    assert again.json() == {**first, "replayed": True}
    assert again.headers["content-type"] == "application/json"


def test_a_kept_reply_says_what_is_left_now(own_house):
    own_house.query("alice")
    own_house.query("alice", BY_CITY)
    left = own_house.query("alice").json()["left"]
    assert Fraction(left["epsilon"]) == 100_000 - Fraction(2, 8)


def test_a_kept_reply_is_only_its_analyst_s_own(own_house):
    own_house.query("alice")
    told = own_house.query("bob").json()
    assert told["receipt"]["analyst"] == "bob"
    assert spent(own_house, "bob") == Fraction(1, 8)


@pytest.mark.parametrize("change", [{"epsilon": 0.25}, {"confidence": 0.9}, {"sql": f"{COUNT} WHERE age > 3"}])
def test_a_kept_reply_is_only_for_the_very_same_question(own_house, change):
    first, other = (own_house.query("alice", **asked).json() for asked in ({}, change))
    # The numbers alone may be equal by chance.
    assert (other["columns"], other["receipt"]) != (first["columns"], first["receipt"])


def test_who_wants_no_replay_pays_again(own_house):
    own_house.query("alice")
    told = own_house.query("alice", replay=False).json()
    assert told["replayed"] is False
    assert spent(own_house) == Fraction(2, 8)
    assert own_house.query("alice", replay=False).json()["replayed"] is False


def test_a_kept_reply_does_not_outlive_its_catalog(own_house):
    own_house.query("alice")
    catalog = own_house.services.settings.folder / "catalog.toml"
    catalog.write_text(catalog.read_text().replace("version = 1", "version = 2"))
    own_house.services.dataset.reload()
    told = own_house.query("alice").json()
    assert told["replayed"] is False
    assert spent(own_house) == Fraction(2, 8)


def test_a_kept_reply_is_not_for_an_analyst_who_left_the_catalog(own_house):
    own_house.query("carol")
    catalog = own_house.services.settings.folder / "catalog.toml"
    catalog.write_text(catalog.read_text().replace("[analysts.carol]\nepsilon = 1\n", ""))
    own_house.services.dataset.reload()
    assert code(own_house.query("carol")) == (404, "unknown_dataset")


def test_a_request_id_makes_retries_safe(own_house):
    first = own_house.query("alice", request_id="mine").json()
    again = own_house.query("alice", request_id="mine").json()
    assert first["receipt"]["request_id"] == "mine"
    assert again == {**first, "replayed": True}
    assert spent(own_house) == Fraction(1, 8)


@pytest.mark.parametrize("fresh", ["another", "with space", "é"])
def test_an_id_that_was_never_used_gets_what_was_paid_for_before(own_house, fresh):
    first = own_house.query("alice", request_id="mine", epsilon=2).json()  # of so little noise that no note is due
    assert own_house.query("alice", request_id=fresh, epsilon=2).json() == {**first, "replayed": True}


@pytest.mark.parametrize("mine", ["mine", "with space"])
def test_an_id_that_was_used_for_another_question_is_refused_kept_reply_or_not(own_house, mine):
    own_house.query("alice", request_id=mine)
    own_house.query("alice", BY_CITY)
    assert code(own_house.query("alice", BY_CITY, request_id=mine)) == (409, "request_id_used")
    assert spent(own_house) == Fraction(2, 8)


def test_an_id_that_failed_fails_for_ever_kept_reply_or_not(own_house, monkeypatch):
    own_house.query("alice")
    with monkeypatch.context() as patch:
        patch.setattr(curator_of(own_house).engine, "run", _broken)
        assert own_house.query("alice", BY_CITY, request_id="failed").status_code == 424
    assert code(own_house.query("alice", BY_CITY, request_id="failed")) == (424, "failure")
    assert code(own_house.query("alice", request_id="failed")) == (409, "request_id_used")


@pytest.mark.parametrize("bad", ["", "a\nb", "dataset:1", "x" * 201])
def test_a_bad_request_id_is_refused_kept_reply_or_not(own_house, bad):
    own_house.query("alice")
    assert code(own_house.query("alice", request_id=bad)) == (400, "request_id")


def test_another_analyst_s_id_is_their_own(own_house):
    mine = own_house.query("alice", request_id="same").json()
    theirs = own_house.query("bob", BY_CITY, request_id="same").json()
    assert mine["receipt"]["hash"] != theirs["receipt"]["hash"]
    assert code(own_house.ask("carol", "GET", f"{DATASET}/answers/same")) == (404, "unknown_answer")


def _broken(*_: object, **__: object):
    raise ZeroDivisionError(house.CANARY)


def test_what_fails_after_it_was_paid_is_the_constant_failure(own_house, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(curator_of(own_house).engine, "run", _broken)
        named = own_house.query("alice", request_id="mine")
        unnamed = own_house.query("alice", BY_CITY)
    assert code(named) == code(unnamed) == (424, "failure")
    assert error(named)["request_id"] == "mine"
    assert len(error(unnamed)["request_id"]) == 32
    assert spent(own_house) == Fraction(2, 8)
    assert house.CANARY not in named.text + unnamed.text + own_house.log.getvalue()
    assert 'outcome="failed"} 2' in own_house.ask("olga", "GET", f"{house.API}/metrics").text


def test_what_breaks_outside_of_the_curator_is_too(own_house, monkeypatch):
    monkeypatch.setattr("adomnia.api.routes.questions.encode_answer", _broken)
    response = own_house.query("alice", request_id="mine")
    assert code(response) == (424, "failure")
    assert error(response)["request_id"] == "mine"
    assert '"fault": "ZeroDivisionError"' in own_house.log.getvalue()
    assert house.CANARY not in own_house.log.getvalue()


def test_a_budget_that_does_not_pay_is_a_status_of_its_own(shared_house):
    assert code(shared_house.query("carol", epsilon=2)) == (402, "budget")


def test_a_refused_question_says_where_it_is_wrong(shared_house):
    response = shared_house.query("alice", "SELECT COUNT(*)\nFROM peeple")
    assert response.status_code == 400
    assert error(response)["position"] == [2, 6]


def test_script_in_any_text_comes_back_as_json_alone(own_house):
    texts = [
        own_house.query("alice", f"SELECT {SCRIPT} FROM people"),
        own_house.query("alice", f'SELECT COUNT(*) AS "{SCRIPT}" FROM people'),
        own_house.query("alice", COUNT, **{SCRIPT: 1}),
        own_house.query("alice", COUNT, request_id=SCRIPT),
        own_house.ask("alice", "GET", f"{DATASET}/answers/{quote(SCRIPT, safe='')}?place={quote(SCRIPT)}"),
        own_house.ask("alice", "GET", f"{house.API}/datasets/{quote(SCRIPT, safe='')}/budget"),
        own_house.ask("olga", "POST", f"{house.API}/users", json={"name": SCRIPT, "role": "owner"}),
    ]
    for response in texts:
        assert response.headers["content-type"] == "application/json"
        assert response.headers["x-content-type-options"] == "nosniff"
        response.json()


def test_several_questions_are_paid_at_once(own_house):
    body = {"questions": [COUNT, {"sql": BY_CITY}], "epsilon": 0.5, "request_id": "both"}
    told = own_house.ask("alice", "POST", f"{DATASET}/batch", json=body).json()
    assert [len(answer["columns"]) for answer in told["answers"]] == [1, 3]
    assert spent(own_house) == Fraction(1, 2)
    again = own_house.ask("alice", "POST", f"{DATASET}/batch", json=body).json()
    assert [answer["columns"] for answer in again["answers"]] == [answer["columns"] for answer in told["answers"]]
    assert again["answers"][0]["replayed"] is True
    second = own_house.ask("alice", "GET", f"{DATASET}/answers/both?place=1").json()
    assert second["columns"] == told["answers"][1]["columns"]
    assert code(own_house.ask("alice", "GET", f"{DATASET}/answers/both?place=2")) == (404, "unknown_answer")


@pytest.mark.parametrize("questions", [[], ["SELECT 1", "nonsense"]])
def test_one_refusal_refuses_a_batch(own_house, questions):
    body = {"questions": questions, "epsilon": 0.5}
    assert own_house.ask("alice", "POST", f"{DATASET}/batch", json=body).status_code == 400
    assert spent(own_house) == 0


def test_prices_and_explanations_spend_nothing(own_house):
    for route, body in (
        ("price", {"sql": BY_CITY, "epsilon": 0.5}),
        ("price", {"questions": [COUNT, BY_CITY], "epsilon": 0.5}),
        ("price", {"sql": COUNT, "error": 10}),
        ("explain", {"sql": BY_CITY}),
        ("explain", {"sql": BY_CITY, "epsilon": 0.5}),
        ("query", {"sql": f"EXPLAIN {BY_CITY}"}),
    ):
        response = own_house.ask("alice", "POST", f"{DATASET}/{route}", json=body)
        assert response.status_code == 200, response.text
    assert spent(own_house) == 0


def test_a_price_says_what_the_question_ends_and_then_the_budget_tells_rho(own_house):
    priced = own_house.ask("bob", "POST", f"{DATASET}/price", json={"sql": COUNT, "rho": 0.5}).json()
    mine, ours = priced["warnings"]
    assert mine.startswith("After this question your budget adds up rho and no longer epsilon: a question at epsilon e")
    assert ours.startswith("After this question the dataset's budget adds up rho and no longer epsilon: ")
    assert own_house.query("bob", rho=0.5, epsilon=None).status_code == 200
    account = own_house.ask("bob", "GET", f"{DATASET}/budget").json()["personal"]
    assert account["spent"] == {"epsilon": None, "rho": "0.5", "delta": "0", "pure": False}
    assert account["says"].startswith("Spent: rho 0.5 of ")
    assert mine.partition(" Left: ")[2] == account["says"].partition(" Left: ")[2]


def test_public_rows_are_free_and_not_kept(own_house):
    told = own_house.query("alice", "SELECT city FROM cities", epsilon=None)
    assert told.status_code == 200
    assert told.json()["receipt"] is None
    assert own_house.query("alice", "SELECT city FROM cities", epsilon=None).json()["replayed"] is False


def test_answers_are_listed_and_given_again_by_their_id(own_house):
    first = own_house.query("alice", BY_CITY, request_id="a/b c?é").json()
    own_house.query("bob", BY_CITY)
    (listed,) = own_house.ask("alice", "GET", f"{DATASET}/answers").json()["answers"]
    assert listed["request_id"] == "a/b c?é"
    path = f"{DATASET}/answers/{quote('a/b c?é', safe='')}"
    again = own_house.ask("alice", "GET", path).json()
    assert again == {**first, "replayed": True}
    wider = own_house.ask("alice", "GET", f"{path}?confidence=0.99&simultaneous=true").json()
    assert wider["columns"][1]["values"] == first["columns"][1]["values"]
    assert wider["columns"][1]["lower"][0] < first["columns"][1]["lower"][0]
    for query in ("place=-1", "place=x", "confidence=2", "confidence=nan", "simultaneous=perhaps"):
        assert code(own_house.ask("alice", "GET", f"{path}?{query}")) == (422, "malformed")


def test_an_answer_for_which_there_is_no_memory_costs_nothing(own_house, monkeypatch):
    monkeypatch.setattr("adomnia.api.running.answer_memory._SMALL_BYTES", 0)
    memory = own_house.services.answer_memory
    assert own_house.query("alice", BY_CITY, request_id="one").status_code == 200
    assert memory.used_bytes == 0  # the reply is sent
    paid = spent(own_house)
    with memory.job() as claim:
        claim.resize(memory._largest_bytes)
        for refused in (own_house.query("alice"), own_house.ask("alice", "GET", f"{DATASET}/answers/one")):
            assert code(refused) == (503, "overload")
            assert refused.headers["retry-after"] == "5"
        assert own_house.query("alice", BY_CITY).json()["replayed"] is True  # from the cache of replies
    memory._largest_bytes = 1
    assert code(own_house.query("alice")) == (400, "too_many_cells")
    assert spent(own_house) == paid


def test_answers_are_listed_page_by_page(own_house):
    for name in ("1", "a/b c?é", "3"):
        own_house.query("alice", BY_CITY, request_id=name, replay=False)
    own_house.query("bob", BY_CITY, request_id="theirs")

    def page(**parameters):
        return own_house.ask("alice", "GET", f"{DATASET}/answers", params=parameters)

    first = page(limit=2).json()
    second = page(limit=2, after=first["next"]).json()
    end = page(limit=2, after=second["next"]).json()
    assert first["next"] == "a/b c?é"
    assert [past["request_id"] for past in first["answers"] + second["answers"]] == ["1", "a/b c?é", "3"]
    assert page().json() == {"answers": first["answers"] + second["answers"], "next": "3"}
    assert end == {"answers": [], "next": None}
    for after in ("theirs", "2", "bob\ntheirs", ""):
        assert code(page(after=after)) == (404, "unknown_answer")
    for parameters in ({"limit": 0}, {"limit": 1001}, {"limit": "x"}):
        assert code(page(**parameters)) == (422, "malformed")


def test_a_question_goes_on_when_its_asker_is_gone(own_house, monkeypatch):
    body = json.dumps({"sql": COUNT, "epsilon": 0.125, "request_id": "mine"}).encode()
    with slow_engine(own_house, monkeypatch) as (began, go_on):
        asking = asyncio.run_coroutine_threadsafe(_gone(own_house, body), own_house.client.loop)
        assert began.wait(HANG_SECONDS)
        asking.cancel()
        with pytest.raises(CancelledError):
            asking.result(HANG_SECONDS)
        go_on.set()
    told = own_house.query("alice", request_id="mine").json()
    assert told["receipt"]["request_id"] == "mine"
    assert spent(own_house) == Fraction(1, 8)


async def _gone(own: house.House, body: bytes) -> None:
    headers = {"Authorization": f"Bearer {own.tokens['alice']}", "Content-Type": "application/json"}
    await own.client._http.post(f"{DATASET}/query", content=body, headers=headers)


def test_a_connection_that_ends_in_the_middle_of_a_body_pays_nothing(own_house):
    own_house.client.run(_half(own_house))
    assert spent(own_house) == 0


async def _half(own: house.House) -> None:
    headers = {"host": "127.0.0.1:8000", "content-type": "application/json"}
    headers["authorization"] = f"Bearer {own.tokens['alice']}"
    path = f"{DATASET}/query"
    scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b""}
    scope |= {"headers": [(name.encode(), value.encode()) for name, value in headers.items()], "scheme": "http"}
    scope |= {"http_version": "1.1", "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8000), "root_path": ""}
    messages = iter([{"type": "http.request", "body": b'{"sql": "SEL', "more_body": True}, {"type": "http.disconnect"}])
    sent = []

    async def receive():
        return next(messages)

    async def send(message) -> None:
        sent.append(message)

    await own.app(scope, receive, send)
    assert sent[0]["status"] == 422


def test_after_the_limit_the_constant_failure_leaves_and_the_answer_can_be_had_later(tmp_path, monkeypatch):
    with house.opened(tmp_path, limit=HANG_SECONDS) as own, slow_engine(own, monkeypatch) as (_, go_on):
        with monkeypatch.context() as hurried:
            hurried.setattr(own.services.time_buckets, "_limit", 0.3)
            response = own.query("alice", request_id="mine")
        assert code(response) == (424, "failure")
        assert error(response)["request_id"] == "mine"
        go_on.set()
        again = own.query("alice", request_id="mine")
        assert again.json()["receipt"]["request_id"] == "mine"
        assert spent(own) == Fraction(1, 8)


def test_what_reads_data_is_seen_at_an_edge_and_the_rest_at_once(tmp_path, monkeypatch):
    bucket = 0.3
    with house.opened(tmp_path, bucket=bucket) as own:
        slept = []
        monkeypatch.setattr(own.services.time_buckets, "_sleep", lambda left: (slept.append(left), time.sleep(left)))
        start = time.monotonic()
        own.query("alice", request_id="mine")
        assert time.monotonic() - start >= bucket
        waited = len(slept)
        own.query("alice", request_id="mine")  # kept
        own.query("alice", "nonsense")
        own.query("carol", epsilon=2)
        assert len(slept) == waited


def test_an_answer_is_seen_by_nobody_before_its_edge(tmp_path, monkeypatch):
    """Who polls for an answer, or asks the same, would else learn how long the look at the data took."""
    with house.opened(tmp_path, bucket=0.2) as own:
        waiting, edge = threading.Event(), threading.Event()

        def wait_for_edge(left):
            waiting.set()
            edge.wait(HANG_SECONDS)
            time.sleep(left)

        def look():
            listed = own.ask("alice", "GET", f"{DATASET}/answers").json()["answers"]
            return own.ask("alice", "GET", f"{DATASET}/answers/mine").status_code, len(listed)

        monkeypatch.setattr(own.services.time_buckets, "_sleep", wait_for_edge)
        asking = asyncio.run_coroutine_threadsafe(_asked(own, 1, request_id="mine"), own.client.loop)
        assert waiting.wait(HANG_SECONDS)  # the data was read
        assert look() == (424, 0)
        edge.set()
        assert asking.result(HANG_SECONDS) == 200
        assert look() == (200, 1)


def test_prices_and_budgets_do_not_wait_for_questions(tmp_path, monkeypatch):
    with house.opened(tmp_path, threads=1, queue=4) as own, slow_engine(own, monkeypatch) as (began, go_on):
        futures = [asyncio.run_coroutine_threadsafe(_asked(own, number), own.client.loop) for number in range(2)]
        assert began.wait(HANG_SECONDS)
        for method, path, body in (
            ("GET", "budget", None),
            ("GET", "answers", None),
            ("GET", "catalog", None),
            ("POST", "price", {"sql": COUNT, "epsilon": 1}),
            ("POST", "explain", {"sql": COUNT}),
        ):
            assert own.ask("alice", method, f"{DATASET}/{path}", json=body).status_code == 200
        assert not any(future.done() for future in futures)
        go_on.set()
        assert [future.result(HANG_SECONDS) for future in futures] == [200, 200]


def test_when_too_many_wait_the_rest_are_sent_away_and_pay_nothing(tmp_path, monkeypatch):
    with house.opened(tmp_path, threads=1, queue=2) as own:
        with slow_engine(own, monkeypatch) as (began, go_on):
            loop = own.client.loop
            asked = [_asked(own, 0), _asked(own, 1), _asked(own, 2, "bob")]
            futures = [asyncio.run_coroutine_threadsafe(each, loop) for each in asked]
            assert began.wait(HANG_SECONDS)
            wait_until(lambda: own.services.time_buckets._pool.waiting == 2)
            sent_away = own.query("carol", f"{COUNT} WHERE age > 99")
            go_on.set()
            assert [future.result(HANG_SECONDS) for future in futures] == [200] * 3
        assert code(sent_away) == (503, "overload")
        assert sent_away.headers["retry-after"] == "1"
        assert [spent(own, name) for name in ("alice", "bob", "carol")] == [Fraction(1, 4), Fraction(1, 8), 0]


async def _asked(own: house.House, number: int, name: str = "alice", **more: str) -> int:
    headers = {"Authorization": f"Bearer {own.tokens[name]}"}
    body = {"sql": f"{COUNT} WHERE age > {number}", "epsilon": 0.125, **more}
    return (await own.client._http.post(f"{DATASET}/query", json=body, headers=headers)).status_code


def test_no_answer_shows_a_value_of_a_person(own_house):
    texts = [own_house.query("alice", BY_CITY).text]
    texts += [own_house.query("alice", "SELECT name, COUNT(*) FROM people GROUP BY name").text]
    texts += [own_house.query("alice", f"SELECT COUNT(*) FROM people WHERE age > '{house.CANARY}'").text]
    told = "".join(texts[:2]) + own_house.log.getvalue()
    assert house.CANARY not in told


def test_a_failure_of_the_ledger_s_own_making_keeps_its_id(own_house, monkeypatch):
    session = type(curator_of(own_house).session("alice"))

    def failing(*_, **__):
        raise Failure("other")

    monkeypatch.setattr(session, "sql", failing)
    assert error(own_house.query("alice", request_id="mine"))["request_id"] == "other"


def test_a_price_ends_with_the_caller_who_asked_for_it(own_house, monkeypatch):
    body = json.dumps({"sql": COUNT, "epsilon": "1"}).encode()
    with endless_prices(monkeypatch) as (began, ended):
        replies = own_house.client.run(ask_and_hang_up(own_house, f"{DATASET}/price", body, began))
    assert (replies, ended) == ([499], [Abandoned])
    assert own_house.services.pool.running == 0
    assert own_house.ask("alice", "POST", f"{DATASET}/price", json={"sql": COUNT, "epsilon": "1"}).status_code == 200


def test_what_takes_too_many_steps_is_refused_and_says_so(own_house):
    many = ", ".join(f"CORR(age + {k}, salary)" for k in range(60))
    batch = [{"sql": f"SELECT {many} FROM people WHERE age > {k}"} for k in range(40)]
    with limit(Work(1)):  # of the test, which is another thread
        reply = own_house.ask("alice", "POST", f"{DATASET}/price", json={"questions": batch, "epsilon": "1"})
    assert code(reply) == (400, "too_much_work")
    assert f"{MOST_STEPS:,} steps" in error(reply)["why"]


def test_an_effort_that_nobody_knows_is_refused_wherever_it_is_named(shared_house):
    for path in ("explain", "price", "query"):
        body = {"sql": COUNT, "effort": "AAA", **({} if path == "explain" else {"epsilon": "1"})}
        reply = shared_house.ask("alice", "POST", f"{DATASET}/{path}", json=body)
        assert (path, *code(reply)) == (path, 400, "bad_effort")


ARROW, CSV = "application/vnd.apache.arrow.stream", "text/csv"


def as_form(own, form, **body):
    asked = {"sql": BY_CITY, "epsilon": 0.25, **body}
    return own.ask("alice", "POST", f"{DATASET}/query", json=asked, headers={"Accept": form})


def test_one_answer_has_three_forms_and_is_paid_once(shared_house):
    before = shared_house.ask("alice", "GET", f"{DATASET}/budget").json()["personal"]["left"]["epsilon"]
    first = as_form(shared_house, ARROW, request_id="three forms")
    told = as_form(shared_house, "*/*").json()
    again, text = as_form(shared_house, ARROW), as_form(shared_house, CSV)
    assert (first.status_code, first.headers["content-type"]) == (200, ARROW)
    assert text.headers["content-type"] == "text/csv; charset=utf-8"
    beside = json.loads(text.headers["Adomnia-Answer"])
    assert (beside["receipt"], beside["replayed"], bool(beside["caps"])) == (told["receipt"], True, True)
    for response, replayed in ((first, False), (again, True)):
        reader = pa.ipc.open_stream(response.content)
        facts = json.loads(reader.schema.metadata[b"adomnia"])
        same = told.keys() - {"columns", "replayed", "notes", "texts"}  # a note says before it is paid what it is worth
        assert {name: facts[name] for name in same} == {name: told[name] for name in same}
        assert facts["replayed"] is replayed
        table = reader.read_all()
        for column in told["columns"]:
            assert table[column["name"]].to_pylist() == column["values"]
            if column["kind"] == "value":
                assert table[f"{column['name']}_lower"].to_pylist() == column["lower"]
    assert text.text.splitlines()[0] == '"city","n","n_lower","n_upper","pay","pay_lower","pay_upper"'
    after = shared_house.ask("alice", "GET", f"{DATASET}/budget").json()["personal"]["left"]["epsilon"]
    assert Fraction(before) - Fraction(after) == Fraction(1, 4)


def test_an_earlier_answer_has_them_too_with_other_intervals(shared_house):
    as_form(shared_house, ARROW, request_id="three forms")
    path = f"{DATASET}/answers/{quote('three forms')}"
    told = shared_house.ask("alice", "GET", f"{path}?confidence=0.5&simultaneous=true").json()
    response = shared_house.ask("alice", "GET", f"{path}?confidence=0.5&simultaneous=true", headers={"Accept": ARROW})
    reader = pa.ipc.open_stream(response.content)
    assert json.loads(reader.schema.metadata[b"adomnia"])["simultaneous"] is True
    assert reader.read_all()["n_upper"].to_pylist() == told["columns"][1]["upper"]
    assert shared_house.ask("bob", "GET", path, headers={"Accept": ARROW}).status_code == 404


@pytest.mark.parametrize("form", [ARROW, CSV])
def test_an_error_is_json_whatever_was_accepted(shared_house, form):
    response = as_form(shared_house, form, sql="SELECT nothing FROM people")
    assert response.headers["content-type"] == "application/json"
    assert code(response) == (400, "unknown_column")


@pytest.mark.parametrize("form", ["*/*", ARROW, CSV])
def test_the_memory_of_a_table_is_given_back_when_it_is_sent(shared_house, form):
    memory = shared_house.services.answer_memory
    assert (
        as_form(shared_house, form, sql="SELECT age, salary > 5, COUNT(*) FROM people GROUP BY 1, 2").status_code == 200
    )
    assert memory.used_bytes == 0


def test_what_a_refusal_calls_a_field_is_its_name_in_json(shared_house):
    refused = shared_house.ask("alice", "POST", f"{DATASET}/query", json={"sql": COUNT})
    assert error(refused)["fix"] == "pay with one of `epsilon`, `rho` or `error`"


def test_the_catalog_is_asked_about_like_anything_else_and_free(shared_house):
    told = shared_house.ask("alice", "POST", f"{DATASET}/query", json={"sql": "SHOW TABLES"}).json()
    assert told["columns"][0]["values"] == ["people", "visits", "cities"]
    assert (told["cost"], told["receipt"]) == (None, None)
