from __future__ import annotations

import asyncio
import selectors
from time import monotonic

import pytest

from adomnia.api.running.thread_pool import FairThreadPool
from adomnia.api.running.time_buckets import TimeBuckets, find_edge, round_to_edge
from adomnia.errors import Failure
from kit.waiting import HANG_SECONDS

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


class Timed:
    """A pool whose work takes as long as it says."""

    def __init__(self, loop, seconds):
        self._loop, self._seconds, self.ended = loop, seconds, []
        self.stopped = False

    def submit(self, _who, work):
        future = self._loop.create_future()

        def end():
            self.ended.append(self._loop.time())
            future.set_result(work())

        self._loop.call_later(self._seconds, end)
        return future

    def stop(self):
        self.stopped = True


class Clock:
    """Time that passes by sleeping alone; a sleep may end a little early."""

    def __init__(self, early=0.0):
        self.now, self._early, self.sleeps = 1000.0, early, 0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.sleeps += 1
        self.now += max(seconds - self._early, 1e-4)


def kept_after(seconds, bucket=BUCKET, clock=None):
    """When an answer is kept, counted from the start of a look at the data that takes so long."""
    clock = clock or Clock()
    started = clock.now
    clock.now += seconds
    TimeBuckets(None, bucket, LIMIT, clock, clock.sleep).wait_for_edge(started)
    return clock.now - started


@pytest.mark.parametrize(
    ("seconds", "kept"),
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
        (5.1, 6.4),
        (7.0, 12.8),
    ],
)
def test_answers_are_kept_on_an_edge_whatever_the_look_at_the_data_took(seconds, kept):
    assert kept_after(seconds) == pytest.approx(kept, abs=TOLERANCE)


def test_times_that_differ_by_what_the_data_did_are_told_apart_by_their_bucket_alone():
    assert {round(kept_after(0.11 + 0.008 * k), 3) for k in range(10)} == {0.2}


def test_a_sleep_that_ends_early_is_gone_on_with():
    clock = Clock(early=0.01)
    assert kept_after(0.05, clock=clock) == pytest.approx(0.1, abs=TOLERANCE)
    assert clock.sleeps > 1


def test_without_buckets_answers_are_kept_when_they_are_there():
    clock = Clock()
    assert kept_after(0.03, bucket=0.0, clock=clock) == pytest.approx(0.03)
    assert clock.sleeps == 0


def test_a_clock_that_stands_behind_the_start_raises_nothing():
    clock = Clock()
    TimeBuckets(None, BUCKET, LIMIT, clock, clock.sleep).wait_for_edge(clock.now + 3)


def test_what_the_work_gives_leaves_at_once(loop):
    buckets = TimeBuckets(Timed(loop, 0.03), BUCKET, LIMIT, loop.time)
    assert loop.run_until_complete(buckets.run("alice", 0.0, lambda: "answer")) == "answer"
    assert loop.time() == pytest.approx(0.03, abs=TOLERANCE)


def test_what_is_kept_at_the_last_edge_still_leaves(loop):
    buckets = TimeBuckets(Timed(loop, LIMIT + 0.05), BUCKET, LIMIT, loop.time)
    assert loop.run_until_complete(buckets.run("alice", 0.0, lambda: "answer")) == "answer"


def test_after_the_limit_a_failure_leaves_and_the_work_goes_on(loop):
    pool = Timed(loop, 8.0)
    buckets = TimeBuckets(pool, BUCKET, LIMIT, loop.time)
    with pytest.raises(Failure) as failed:
        loop.run_until_complete(buckets.run("alice", 0.0, lambda: "answer"))
    assert str(failed.value) == "The request failed."
    assert loop.time() == pytest.approx(LIMIT + 1, abs=TOLERANCE)
    assert pool.ended == []
    loop.run_until_complete(asyncio.sleep(4))
    assert pool.ended == [pytest.approx(8.0)]


def test_what_arrived_too_long_ago_fails(loop):
    buckets = TimeBuckets(Timed(loop, 1.0), BUCKET, LIMIT, loop.time)
    with pytest.raises(Failure):
        loop.run_until_complete(buckets.run("alice", -2 * LIMIT, lambda: "answer"))


def test_a_caller_who_goes_away_stops_nothing(loop):
    pool = Timed(loop, 1.0)
    buckets = TimeBuckets(pool, BUCKET, LIMIT, loop.time)

    async def ask():
        task = asyncio.create_task(buckets.run("alice", 0.0, lambda: "answer"))
        await asyncio.sleep(0.5)
        task.cancel()
        await asyncio.sleep(1)

    loop.run_until_complete(ask())
    assert pool.ended == [pytest.approx(1.0)]


def test_in_a_thread_and_by_a_real_clock_work_waits_for_its_edge():
    async def ask():
        pool = FairThreadPool(2, 8)
        buckets = TimeBuckets(pool, 0.05, HANG_SECONDS)

        def work():
            started = monotonic()
            buckets.wait_for_edge(started)
            return monotonic() - started

        took = await buckets.run("alice", monotonic(), work)
        pool.close()
        return took

    assert asyncio.run(ask()) >= 0.05


def test_stopping_stops_the_counter(loop):
    pool = Timed(loop, 0.0)
    TimeBuckets(pool, BUCKET, LIMIT).stop()
    assert pool.stopped


def test_without_buckets_an_edge_is_where_one_stands():
    assert find_edge(0.123, 0.0, 1.0) == 0.123
    assert round_to_edge(0.123, 0.0, 1.0) == 0.123
