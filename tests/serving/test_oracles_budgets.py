"""Attacks on the clock: when a look at the data ended is told at an edge, to everybody and in every way."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, suppress
from hashlib import sha256
from threading import Event, Thread
from time import monotonic, sleep
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest

from adomnia.api.running.served_dataset import ServedDataset
from adomnia.asking.batch import Batch
from adomnia.catalog.read import FILE
from adomnia.errors import Failure
from adomnia.pricing.questions import Question
from adomnia.privacy.events import Pure
from adomnia.privacy.losses import loss
from kit import house
from kit.altering import altered
from kit.waiting import HANG_SECONDS, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BUCKET = 0.6
SOON = 0.15  # much less than a bucket, much more than a request takes
SLACK = 0.02  # clocks count in steps
AGES = "SELECT COUNT(*) AS n FROM people WHERE age > {}"


class Sent:
    """A request on its way, and when its reply was there, in seconds after `began`."""

    def __init__(self, began: float, send: Callable[[], Any]) -> None:
        self.at, self.reply = 0.0, None
        self._began, self._send = began, send
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self.reply = self._send()
        self.at = monotonic() - self._began

    def wait(self) -> Sent:
        self._thread.join(HANG_SECONDS)
        assert self.reply is not None
        return self


class Slow:
    """A look at the data that takes as long as a test wants."""

    def __init__(self, opened: house.House, monkeypatch: pytest.MonkeyPatch) -> None:
        with opened.services.dataset.curator() as curator:
            self.ledger, engine = curator.ledger, curator.engine
        self._run, self.began, self.begun, self.may_end = engine.run, 0.0, Event(), Event()
        monkeypatch.setattr(engine, "run", self._slowly)

    def _slowly(self, *asked: Any) -> Any:
        self.began = self.began or monotonic()
        self.begun.set()
        assert self.may_end.wait(HANG_SECONDS)
        return self._run(*asked)

    def end(self, analyst: str, request_id: str) -> None:
        """Let it end, and wait until its answer is kept."""
        self.may_end.set()

        def is_kept() -> bool:
            with suppress(Exception):  # not yet
                return self.ledger.answer(analyst, request_id) is not None
            return False

        wait_until(is_kept)


def warm_up(opened: house.House) -> None:
    """Import and compile whatever the first question needs, without waiting for an edge."""
    with opened.services.dataset.curator() as curator, altered(curator, wait=lambda _started: None):
        opened.query("carol", AGES.format(100))


@contextmanager
def in_house(tmp_path: Any, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> Iterator[tuple[house.House, Slow]]:
    with house.opened(tmp_path, bucket=BUCKET, **settings) as opened:
        warm_up(opened)
        slow = Slow(opened, monkeypatch)
        yield opened, slow
        slow.may_end.set()


POLLS = {
    "the answer by its id": lambda opened: opened.ask("alice", "GET", f"{house.DATASET}/answers/mine"),
    "the list of answers": lambda opened: opened.ask("alice", "GET", f"{house.DATASET}/answers"),
    "the same question": lambda opened: opened.query("alice", AGES.format(30), request_id="mine"),
    "an equal question": lambda opened: opened.query("alice", AGES.format(30)),
    "the equal question of another analyst": lambda opened: opened.query("bob", AGES.format(30)),
}


def hears(reply: Any) -> bool:
    """Whether a reply tells that the question has ended."""
    return reply.status_code == 200 and (b'"mine"' in reply.content or b'"values"' in reply.content)


@pytest.mark.parametrize("poll", POLLS)
def test_nobody_hears_of_an_answer_before_the_edge_at_which_it_leaves(tmp_path, monkeypatch, poll):
    """Asked for after the look at the data and before the edge: who polls would know its end to the millisecond."""
    with in_house(tmp_path, monkeypatch) as (opened, slow):
        began = monotonic()
        first = Sent(began, lambda: opened.query("alice", AGES.format(30), request_id="mine"))
        assert slow.begun.wait(HANG_SECONDS)
        slow.end("alice", "mine")
        second = Sent(began, lambda: POLLS[poll](opened)).wait()
        first.wait()
        assert first.at >= BUCKET - SLACK
        assert not hears(second.reply) or second.at >= BUCKET - SLACK


def test_equal_questions_sent_one_after_the_other_do_not_take_the_time_of_the_first(tmp_path, monkeypatch):
    """Each has edges of its own, and leaves at the first of them after the end: together they enclose it."""
    with in_house(tmp_path, monkeypatch) as (opened, slow):
        began = monotonic()
        sent = []
        for _ in range(3):
            sent.append(Sent(began, lambda: opened.query("alice", AGES.format(30), request_id="mine")))
            sleep(SOON)
        # Past the first edge of the first, which it has begun by now, and in general before that of the second.
        assert slow.begun.wait(HANG_SECONDS)
        sleep(max(0.0, BUCKET + 0.5 * SOON - (monotonic() - slow.began)))
        slow.end("alice", "mine")
        first, *others = [each.wait() for each in sent]
        assert first.at >= 2 * BUCKET - SLACK
        assert all(other.at >= 2 * BUCKET - SLACK for other in others)


def test_a_price_does_not_leave_when_a_question_ends(tmp_path, monkeypatch):
    """An analyst whose threads are all taken waits for the first that ends, and a price leaves at once."""
    with in_house(tmp_path, monkeypatch) as (opened, slow):
        began = monotonic()
        most = opened.services.settings.threads - 1  # that one analyst may have
        asked = [Sent(began, lambda k=k: opened.query("alice", AGES.format(k), request_id=f"{k}")) for k in range(most)]
        assert slow.begun.wait(HANG_SECONDS)
        body = {"sql": house.COUNT, "epsilon": 0.1}
        assert opened.ask("alice", "POST", f"{house.DATASET}/price", json=body).status_code == 200
        slow.end("alice", "0")
        assert [each.wait().reply.status_code for each in asked] == [200] * most


def stripe(catalog: Any, text: str, epsilon: float) -> str:
    """Which lock a question takes: everything that decides it is public."""
    asked = Batch((Question(text, epsilon=epsilon),), 0.95, catalog.version)
    identity = asked.identity(asked.price(asked.plans(catalog), catalog), "any")
    return sha256(repr(("question", identity.hex())).encode()).hexdigest()[:2]


def test_a_refusal_does_not_wait_for_a_question(tmp_path, monkeypatch):
    """Noise for such a price cannot be drawn, which is found before it is the question's turn; and it costs nothing."""
    with in_house(tmp_path, monkeypatch) as (opened, slow):
        with opened.services.dataset.curator() as curator:
            wanted = stripe(curator.catalog, AGES.format(30), 0.125)
            prices = (k * 1e-40 for k in range(1, 10_000))
            price = next(each for each in prices if stripe(curator.catalog, house.COUNT, each) == wanted)
        began = monotonic()
        first = Sent(began, lambda: opened.query("alice", AGES.format(30), request_id="mine"))
        assert slow.begun.wait(HANG_SECONDS)
        second = Sent(began, lambda: opened.query("bob", epsilon=price))
        assert second.wait().reply.status_code == 400  # which tells nothing of how long the other one takes
        slow.end("alice", "mine")
        assert first.wait().reply.status_code == 200


@pytest.mark.parametrize("fault", [Failure(), MemoryError(), ValueError("Zebulon")])
def test_what_fails_leaves_at_an_edge_and_stays_paid_for(tmp_path, monkeypatch, fault):
    """Whether and when a look at the data fails may depend on it."""
    with in_house(tmp_path, monkeypatch) as (opened, slow):
        with opened.services.dataset.curator() as curator:
            monkeypatch.setattr(curator.engine, "run", Mock(side_effect=fault))
        before = slow.ledger.spent("alice")
        sent = Sent(monotonic(), lambda: opened.query("alice", AGES.format(30), request_id="mine")).wait()
        again = Sent(monotonic(), lambda: opened.ask("alice", "GET", f"{house.DATASET}/answers/mine")).wait()
        assert sent.reply.status_code == again.reply.status_code == 424
        assert sent.reply.content == again.reply.content
        assert sent.at >= BUCKET - SLACK
        assert slow.ledger.spent("alice") == before.plus(loss(Pure(0.125)))


def test_edges_are_counted_from_the_end_of_the_body(tmp_path, monkeypatch):
    """Who sends the last byte shortly before an edge learns whether the question took longer than that."""
    with in_house(tmp_path, monkeypatch) as (opened, slow):
        slow.may_end.set()
        text = b'{"sql":"SELECT COUNT(*) AS n FROM people","epsilon":0.125}'
        ended = []

        async def body():
            yield text[:10]
            await asyncio.sleep(BUCKET - SOON)
            ended.append(monotonic())
            yield text[10:]

        headers = {"Content-Type": "application/json"}
        reply = opened.ask("alice", "POST", f"{house.DATASET}/query", content=body(), headers=headers)
        assert reply.status_code == 200
        assert monotonic() - ended[0] >= BUCKET - SLACK


def test_a_catalog_that_could_not_be_opened_is_tried_again(tmp_path):
    """Its data may have been on its way; and another worker may have opened it."""
    (tmp_path / FILE).write_text("version 1")
    faults: list[Exception] = []

    def opener(_folder: Any) -> Any:
        if faults:
            raise faults.pop()
        return SimpleNamespace(catalog=SimpleNamespace(version=1), close=lambda: None)

    served = ServedDataset(tmp_path, opener)
    with served.lease() as before:
        pass
    faults.append(Failure())
    (tmp_path / FILE).write_text("version 2")
    served.reload()
    assert served.problem is not None
    served.reload()
    with served.lease() as after:
        assert after.identity != before.identity
    assert served.problem is None
    served.close()
