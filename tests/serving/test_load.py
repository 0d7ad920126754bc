"""More than a server can do: what it cannot do it says at once, and what it did is in the ledger."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from functools import partial

import pytest

from adomnia.api.ledger_view import open_snapshot, read_entries
from adomnia.ledger.audit import examine
from adomnia.ledger.chain import Anchor
from kit.example import write_example
from kit.ledgers import find_ledger
from kit.serving import CUT, calling, request, served, tokens, with_analysts
from kit.waiting import HANG_SECONDS

ANALYSTS = [f"analyst_{number}" for number in range(12)]
ANSWERED, TOO_FAST, OVERLOAD = 200, 429, 503


@pytest.fixture
def folder(tmp_path):
    place = write_example(tmp_path / "hospital", people=1_000, indexed=True)
    with_analysts(place, ANALYSTS, epsilon=10_000, each=1_000)
    return place


@pytest.fixture
def keys(folder):
    return tokens(folder, ANALYSTS)


def asked(key, analyst, number, **more):
    body = {"sql": f"SELECT COUNT(*) FROM people WHERE salary > {number}", "epsilon": "0.001", **more}
    return request("/datasets/hospital/query", key, body, analyst=analyst)


def different(keys, number):
    """So many questions, each a different one."""
    analysts = [ANALYSTS[place % len(ANALYSTS)] for place in range(number)]
    return [asked(keys[analyst], analyst, place) for place, analyst in enumerate(analysts)]


def pressing(requests, at_once):
    return lambda callers: callers.press(requests, at_once)


def verified(folder) -> Counter[str]:
    """How many entries of each kind a sound ledger has."""
    path = find_ledger(folder)
    anchor = Anchor(path).read()
    with open_snapshot(path) as connection:
        examine(connection, anchor)
        return Counter(entry.kind for entry in read_entries(connection))


def test_what_is_too_much_is_refused_at_once_and_the_ledger_is_exact(folder, keys):
    with served(folder, "--workers", 1, "--bucket", 0, "--rate", 10_000, "--threads", 1, "--queue", 2) as serving:
        replies = calling(serving.port, pressing(different(keys, 300), 60))
    statuses = Counter(reply.status for reply in replies)
    assert set(statuses) == {ANSWERED, OVERLOAD}
    for reply in replies:
        if reply.status == OVERLOAD:
            assert reply.content["error"]["code"] == "overload"
            assert b"\r\nretry-after: " in reply.head
    found = verified(folder)
    assert found["reserve"] == found["commit"] == statuses[ANSWERED]


def test_one_request_id_sent_by_many_at_once_is_paid_once_and_whoever_asks_too_fast_is_told(folder, keys):
    name, hurried, patient = ANALYSTS[:3]
    with served(folder, "--workers", 2, "--bucket", 0, "--rate", 5) as serving:
        # Every caller has a connection of its own, so that both processes get some.
        same = [asked(keys[name], str(place), 7, request_id="the same") for place in range(32)]
        replies = calling(serving.port, pressing(same, 32))
        flood = calling(serving.port, pressing([request("/me", keys[hurried], analyst=hurried)] * 500, 8))
        (other,) = calling(serving.port, pressing([asked(keys[patient], patient, 1)], 1))
    assert {reply.status for reply in replies} == {ANSWERED}
    assert len({str(reply.content["columns"]) for reply in replies}) == 1
    assert len({reply.content["receipt"]["hash"] for reply in replies}) == 1
    assert sorted(reply.content["replayed"] for reply in replies) == [False] + [True] * 31
    assert {reply.status for reply in flood} == {ANSWERED, TOO_FAST}
    assert all(b"\r\nretry-after: " in reply.head for reply in flood if reply.status == TOO_FAST)
    assert other.status == ANSWERED
    found = verified(folder)
    assert found["reserve"] == found["commit"] == 2


async def stopped_under_load(callers, serving, requests):
    asking = asyncio.ensure_future(callers.press(requests, 12))
    while callers.answered < 20:
        await asyncio.sleep(0.01)
    serving.process.send_signal(signal.SIGTERM)
    return await asking


def test_a_server_that_is_told_to_stop_finishes_what_it_began(folder, keys):
    with served(folder, "--workers", 1, "--bucket", 0, "--rate", 10_000) as serving:
        requests = different(keys, 2_000)
        replies = calling(serving.port, partial(stopped_under_load, serving=serving, requests=requests))
        assert serving.process.wait(timeout=HANG_SECONDS) == 0
    statuses = Counter(reply.status for reply in replies)
    assert set(statuses) <= {ANSWERED, OVERLOAD, CUT}
    assert 0 < statuses[ANSWERED] < len(replies)
    found = verified(folder)
    assert found["reserve"] == found["commit"] == statuses[ANSWERED]
