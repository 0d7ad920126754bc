from __future__ import annotations

import asyncio
from threading import Event

import pytest

from adomnia.server.later import Later
from adomnia.server.running.counter import Counter

PATIENCE = 20.0


def bounded(doing):
    """A coroutine to its end, or an error after a while."""
    return asyncio.run(asyncio.wait_for(doing, PATIENCE))


class Gate:
    """Work that waits until it is let through, and remembers who was served."""

    def __init__(self):
        self.served = []
        self.opened = Event()

    def work(self, name):
        def done():
            assert self.opened.wait(PATIENCE)
            self.served.append(name)
            return name

        return done


@pytest.fixture
def gate():
    gate = Gate()
    yield gate
    gate.opened.set()


def test_the_counter_gives_what_the_work_gives():
    async def ask():
        counter = Counter(2, 4)
        assert await counter.run("alice", lambda: 7) == 7
        with pytest.raises(ZeroDivisionError):
            await counter.run("alice", lambda: 1 / 0)
        assert (counter.waiting, counter.running) == (0, 0)
        counter.close()

    bounded(ask())


def test_no_more_runs_and_waits_than_was_said(gate):
    heard = []

    async def ask():
        counter = Counter(2, 4, lambda *load: heard.append(load))
        accepted = [counter.start(f"user {k}", gate.work(k)) for k in range(6)]
        assert (counter.running, counter.waiting) == (2, 4)
        with pytest.raises(Later) as later:
            counter.start("another", gate.work("never"))
        assert (later.value.code, later.value.seconds) == ("overload", 1)
        gate.opened.set()
        assert await asyncio.gather(*accepted) == list(range(6))
        assert (counter.running, counter.waiting) == (0, 0)
        counter.close()

    bounded(ask())
    assert max(waiting for waiting, _ in heard) == 4
    assert max(running for _, running in heard) == 2
    assert heard[-1] == (0, 0)
    assert "never" not in gate.served


def test_a_flood_of_one_takes_half_of_the_queue_and_others_have_their_turn(gate):
    async def ask():
        counter = Counter(2, 8)
        first = [counter.start("mallory", gate.work("mallory")) for _ in range(5)]
        # One thread of two is theirs, and four of eight places to wait.
        assert (counter.running, counter.waiting) == (1, 4)
        with pytest.raises(Later, match="too many of yours"):
            counter.start("mallory", gate.work("mallory"))
        other = [counter.start("alice", gate.work("alice")) for _ in range(2)]
        assert (counter.running, counter.waiting) == (2, 5)
        gate.opened.set()
        await asyncio.gather(*first, *other)
        counter.close()

    bounded(ask())
    assert sorted(gate.served) == ["alice"] * 2 + ["mallory"] * 5
    assert "alice" in gate.served[:3]
    assert gate.served[-1] == "mallory"


def test_one_thread_serves_everybody_in_turn(gate):
    async def ask():
        counter = Counter(1, 8)
        for name in ("a", "a", "a", "b", "b", "c"):
            counter.start(name, gate.work(name))
        gate.opened.set()
        await counter.run("d", gate.work("d"))
        while counter.running:
            await asyncio.sleep(0.001)
        counter.close()

    bounded(ask())
    # The first began at once; from then on names take turns.
    assert gate.served[:4] == ["a", "a", "b", "c"]


def test_work_goes_on_when_nobody_waits_for_it_any_more(gate):
    async def ask():
        counter = Counter(1, 2)
        task = asyncio.create_task(counter.run("alice", gate.work("kept")))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert counter.running == 1
        gate.opened.set()
        while counter.running:
            await asyncio.sleep(0.001)
        counter.close()

    bounded(ask())
    assert gate.served == ["kept"]


def test_a_fault_that_nobody_waits_for_is_no_news(caplog):
    async def ask():
        counter = Counter(1, 2)
        counter.start("alice", lambda: 1 / 0)
        counter.start("alice", lambda: 1).cancel()
        while counter.running or counter.waiting:
            await asyncio.sleep(0.001)
        counter.close()

    bounded(ask())
    assert caplog.records == []


def test_a_counter_that_stops_finishes_what_it_has_and_takes_nothing_more(gate):
    async def ask():
        counter = Counter(1, 2)
        accepted = [counter.start("alice", gate.work(k)) for k in range(2)]
        counter.stop()
        with pytest.raises(Later) as later:
            counter.start("bob", gate.work("late"))
        assert later.value.code == "stopping"
        gate.opened.set()
        assert await asyncio.gather(*accepted) == [0, 1]
        counter.close()

    bounded(ask())


def test_work_may_outlive_the_event_loop(gate):
    counters = []

    async def ask():
        counter = Counter(1, 2)
        counter.start("alice", gate.work("late"))
        counters.append(counter)

    bounded(ask())
    gate.opened.set()
    counters[0].close()
    for thread in counters[0]._threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert gate.served == ["late"]
