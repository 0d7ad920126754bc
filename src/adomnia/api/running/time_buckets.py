"""Time buckets: an answer becomes visible at the edge of a bucket, which hides how long reading the data took."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, TypeVar

from adomnia.errors import Failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.api.running.thread_pool import FairThreadPool

_GRACE_SECONDS = 1.0  # beyond the limit, so that an answer at the last edge can still leave
_Result = TypeVar("_Result")


def find_edge(waited: float, bucket: float, limit: float) -> float:
    """The first edge that is not before `waited` seconds: bucket, twice that, four times that, ..., the limit.

    Beyond the limit doubling goes on: an answer that nobody waits for any more is kept at an edge too.

    >>> [find_edge(waited, 0.1, 1.0) for waited in (0.0, 0.1, 0.11, 0.5, 0.9, 1.1)]
    [0.1, 0.1, 0.2, 0.8, 1.0, 1.6]
    """
    if not bucket:
        return waited
    end = bucket
    while end < waited:
        end *= 2
    return min(end, limit) if waited <= limit else end


def list_edges(bucket: float, limit: float) -> list[float]:
    """All edges up to the limit.

    >>> list_edges(0.1, 1.0)
    [0.1, 0.2, 0.4, 0.8, 1.0]
    """
    found = [bucket]
    while found[-1] < limit:
        found.append(min(2 * found[-1], limit))
    return found


def round_to_edge(seconds: float, bucket: float, limit: float) -> float:
    """The edge at which a reply left that was measured a little later.

    >>> [round_to_edge(seconds, 0.1, 1.0) for seconds in (0.003, 0.104, 0.17, 1.2)]
    [0.1, 0.1, 0.2, 1.0]
    """
    return min(limit, find_edge(max(0.0, seconds - bucket / 2), bucket, limit)) if bucket else seconds


class TimeBuckets:
    """Runs questions in a pool, and delays each between reading the data and keeping its answer until an edge.

    Nobody can see an answer before it is kept; so whatever anybody can see changes at an edge.
    """

    def __init__(
        self,
        pool: FairThreadPool,
        bucket: float,
        limit: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._pool, self._bucket, self._limit, self._clock, self._sleep = pool, bucket, limit, clock, sleep

    async def run(self, user: str, arrived: float, work: Callable[[], _Result]) -> _Result:
        """Run a question; after the limit raise a Failure, while the question goes on to its end in its thread."""
        future = self._pool.submit(user, work)
        # `wait`, because it leaves the question alone if the task that asks is cancelled.
        left = arrived + self._limit + _GRACE_SECONDS - self._clock()
        await asyncio.wait((future,), timeout=max(0.0, left))
        if not future.done():
            raise Failure()
        return future.result()

    def wait_for_edge(self, started: float) -> None:
        """Sleep, in the thread of a question, until the edge after it has read the data, counted from its start."""
        end = started + find_edge(self._clock() - started, self._bucket, self._limit)
        while (left := end - self._clock()) > 0:
            self._sleep(left)

    def stop(self) -> None:
        """Take no more questions."""
        self._pool.stop()
