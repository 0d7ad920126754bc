from __future__ import annotations

import asyncio
from threading import Event

import pytest

from adomnia.api.retry import RetryLater
from adomnia.api.running.thread_pool import FairThreadPool
from kit.waiting import HANG_SECONDS


def bounded(doing):
    """A coroutine to its end, or an error after a while."""
    return asyncio.run(asyncio.wait_for(doing, HANG_SECONDS))


class Gate:
    """Work that waits until it is let through, and remembers who was served."""

    def __init__(self):
        self.dataset = []
        self.opened = Event()

    def work(self, name):
        def done():
            assert self.opened.wait(HANG_SECONDS)
            self.dataset.append(name)
            return name

        return done


@pytest.fixture
def gate():
    gate = Gate()
    yield gate
    gate.opened.set()


def test_the_counter_gives_what_the_work_gives():
    async def ask():
        pool = FairThreadPool(2, 4)
        assert await pool.run("alice", lambda: 7) == 7
        with pytest.raises(ZeroDivisionError):
            await pool.run("alice", lambda: 1 / 0)
        assert (pool.waiting, pool.running) == (0, 0)
        pool.close()

    bounded(ask())


def test_no_more_runs_and_waits_than_was_said(gate):
    heard = []

    async def ask():
        pool = FairThreadPool(2, 4, lambda *load: heard.append(load))
        accepted = [pool.submit(f"user {k}", gate.work(k)) for k in range(6)]
        assert (pool.running, pool.waiting) == (2, 4)
        with pytest.raises(RetryLater) as later:
            pool.submit("another", gate.work("never"))
        assert (later.value.code, later.value.seconds) == ("overload", 1)
        gate.opened.set()
        assert await asyncio.gather(*accepted) == list(range(6))
        assert (pool.running, pool.waiting) == (0, 0)
        pool.close()

    bounded(ask())
    assert max(waiting for waiting, _ in heard) == 4
    assert max(running for _, running in heard) == 2
    assert heard[-1] == (0, 0)
    assert "never" not in gate.dataset


def test_a_flood_of_one_takes_half_of_the_queue_and_others_have_their_turn(gate):
    async def ask():
        pool = FairThreadPool(2, 8)
        first = [pool.submit("mallory", gate.work("mallory")) for _ in range(5)]
        # One thread of two is theirs, and four of eight places to wait.
        assert (pool.running, pool.waiting) == (1, 4)
        with pytest.raises(RetryLater, match="too many of yours"):
            pool.submit("mallory", gate.work("mallory"))
        other = [pool.submit("alice", gate.work("alice")) for _ in range(2)]
        assert (pool.running, pool.waiting) == (2, 5)
        gate.opened.set()
        await asyncio.gather(*first, *other)
        pool.close()

    bounded(ask())
    assert sorted(gate.dataset) == ["alice"] * 2 + ["mallory"] * 5
    assert "alice" in gate.dataset[:3]
    assert gate.dataset[-1] == "mallory"


def test_one_thread_serves_everybody_in_turn(gate):
    async def ask():
        pool = FairThreadPool(1, 8)
        for name in ("a", "a", "a", "b", "b", "c"):
            pool.submit(name, gate.work(name))
        gate.opened.set()
        await pool.run("d", gate.work("d"))
        while pool.running:
            await asyncio.sleep(0.001)
        pool.close()

    bounded(ask())
    # The first began at once; from then on names take turns.
    assert gate.dataset[:4] == ["a", "a", "b", "c"]


def test_work_goes_on_when_nobody_waits_for_it_any_more(gate):
    async def ask():
        pool = FairThreadPool(1, 2)
        task = asyncio.create_task(pool.run("alice", gate.work("kept")))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert pool.running == 1
        gate.opened.set()
        while pool.running:
            await asyncio.sleep(0.001)
        pool.close()

    bounded(ask())
    assert gate.dataset == ["kept"]


def test_a_fault_that_nobody_waits_for_is_no_news(caplog):
    async def ask():
        pool = FairThreadPool(1, 2)
        pool.submit("alice", lambda: 1 / 0)
        pool.submit("alice", lambda: 1).cancel()
        while pool.running or pool.waiting:
            await asyncio.sleep(0.001)
        pool.close()

    bounded(ask())
    assert caplog.records == []


def test_a_pool_that_stops_finishes_what_it_has_and_takes_nothing_more(gate):
    async def ask():
        pool = FairThreadPool(1, 2)
        accepted = [pool.submit("alice", gate.work(k)) for k in range(2)]
        pool.stop()
        with pytest.raises(RetryLater) as later:
            pool.submit("bob", gate.work("late"))
        assert later.value.code == "stopping"
        gate.opened.set()
        assert await asyncio.gather(*accepted) == [0, 1]
        pool.close()

    bounded(ask())


def test_work_may_outlive_the_event_loop(gate):
    pools = []

    async def ask():
        pool = FairThreadPool(1, 2)
        pool.submit("alice", gate.work("late"))
        pools.append(pool)

    bounded(ask())
    gate.opened.set()
    pools[0].close()
    for thread in pools[0]._threads:
        thread.join(HANG_SECONDS)
        assert not thread.is_alive()
    assert gate.dataset == ["late"]
