from __future__ import annotations

import asyncio
import selectors
from dataclasses import dataclass

import pytest

from adomnia.errors import Failure
from adomnia.server.running.counter import Counter
from adomnia.server.running.pace import Pace, edge

BUCKET, LIMIT = 0.1, 5.0
TOLERANCE = 0.001 + 1e-9  # what an event loop that counts milliseconds may add


class Skipping(selectors.SelectSelector):
    """Instead of waiting, moves the clock of its loop."""

    now = 0.0

    def select(self, timeout=None):
        self.now += timeout or 0.0
        return super().select(0)


@pytest.fixture
def loop():
    selector = Skipping()
    loop = asyncio.SelectorEventLoop(selector)
    loop.time = lambda: selector.now
    yield loop
    loop.close()


@dataclass(frozen=True)
class Reply:
    at_once: bool = False


class Timed:
    """A counter whose work takes as long as it says."""

    def __init__(self, loop, seconds):
        self._loop, self._seconds, self.ended = loop, seconds, []
        self.stopped = False

    def start(self, _who, work):
        future = self._loop.create_future()

        def end():
            self.ended.append(self._loop.time())
            future.set_result(work())

        self._loop.call_later(self._seconds, end)
        return future

    def stop(self):
        self.stopped = True


def left_after(loop, seconds, *, at_once=False, bucket=BUCKET, queued=0.0):
    """When the reply to work of that length leaves, counted from its arrival."""
    arrived = loop.time() - queued
    pace = Pace(Timed(loop, seconds), bucket, LIMIT, loop.time)
    loop.run_until_complete(pace.run("alice", arrived, lambda: Reply(at_once)))
    return loop.time() - arrived


@pytest.mark.parametrize(
    ("seconds", "leaves"),
    [
        (0.0, 0.1),
        (0.001, 0.1),
        (0.0999, 0.1),
        (0.1001, 0.2),
        (0.15, 0.2),
        (0.3, 0.4),
        (0.41, 0.8),
        (1.5, 1.6),
        (3.0, 3.2),
        (3.3, 5.0),
        (4.9, 5.0),
    ],
)
def test_replies_leave_on_an_edge_whatever_the_work_took(loop, seconds, leaves):
    assert left_after(loop, seconds) == pytest.approx(leaves, abs=TOLERANCE)


def test_times_that_differ_by_what_the_data_did_are_told_apart_by_their_bucket_alone(loop):
    first = {round(left_after(loop, 0.11 + 0.008 * k), 3) for k in range(10)}
    assert first == {0.2}


def test_time_before_the_work_counts_too(loop):
    assert left_after(loop, 0.05, queued=0.07) == pytest.approx(0.2, abs=TOLERANCE)


def test_what_read_no_data_leaves_at_once(loop):
    assert left_after(loop, 0.03, at_once=True) == pytest.approx(0.03, abs=TOLERANCE)


def test_without_buckets_replies_leave_when_they_are_there(loop):
    assert left_after(loop, 0.03, bucket=0.0) == pytest.approx(0.03, abs=TOLERANCE)


def test_after_the_limit_a_failure_leaves_and_the_work_goes_on(loop):
    counter = Timed(loop, 8.0)
    pace = Pace(counter, BUCKET, LIMIT, loop.time)
    with pytest.raises(Failure) as failed:
        loop.run_until_complete(pace.run("alice", 0.0, Reply))
    assert str(failed.value) == "The request failed."
    assert loop.time() == pytest.approx(LIMIT, abs=TOLERANCE)
    assert counter.ended == []
    loop.run_until_complete(asyncio.sleep(4))
    assert counter.ended == [pytest.approx(8.0)]


def test_what_arrived_too_long_ago_fails(loop):
    pace = Pace(Timed(loop, 1.0), BUCKET, LIMIT, loop.time)
    with pytest.raises(Failure):
        loop.run_until_complete(pace.run("alice", -LIMIT, Reply))


def test_a_caller_who_goes_away_stops_nothing(loop):
    counter = Timed(loop, 1.0)
    pace = Pace(counter, BUCKET, LIMIT, loop.time)

    async def ask():
        task = asyncio.create_task(pace.run("alice", 0.0, Reply))
        await asyncio.sleep(0.5)
        task.cancel()
        await asyncio.sleep(1)

    loop.run_until_complete(ask())
    assert counter.ended == [pytest.approx(1.0)]


def test_on_a_real_clock_and_real_threads_replies_leave_on_edges_too():
    async def ask():
        counter = Counter(2, 8)
        pace = Pace(counter, 0.05, 2.0)
        loop = asyncio.get_running_loop()
        arrived = loop.time()
        reply = await pace.run("alice", arrived, Reply)
        took = loop.time() - arrived
        counter.close()
        return reply, took

    reply, took = asyncio.run(ask())
    assert reply == Reply()
    assert any(edge <= took < edge + 0.045 for edge in (0.05, 0.1, 0.2, 0.4, 0.8))


def test_stopping_stops_the_counter(loop):
    counter = Timed(loop, 0.0)
    Pace(counter, BUCKET, LIMIT).stop()
    assert counter.stopped


def test_without_buckets_an_edge_is_where_one_stands():
    assert edge(0.123, 0.0, 1.0) == 0.123
