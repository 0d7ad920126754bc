"""When answers are there: at the edge of a time bucket, so that how long a look at the data took is not told."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, TypeVar

from adomnia.errors import Failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.server.running.counter import Counter

__all__ = ["Pace", "edge", "edges", "told"]

_GRACE_SECONDS = 1.0  # beyond the limit, so that what is there at the last edge can still leave
_Given = TypeVar("_Given")


def edge(waited: float, bucket: float, limit: float) -> float:
    """The first edge that is not before `waited` seconds: bucket, twice that, four times that, ..., the limit.

    Beyond the limit doubling goes on: what nobody waits for any more is kept at an edge too.

    >>> [edge(waited, 0.1, 1.0) for waited in (0.0, 0.1, 0.11, 0.5, 0.9, 1.1)]
    [0.1, 0.1, 0.2, 0.8, 1.0, 1.6]
    """
    if not bucket:
        return waited
    end = bucket
    while end < waited:
        end *= 2
    return min(end, limit) if waited <= limit else end


def edges(bucket: float, limit: float) -> list[float]:
    """All of them.

    >>> edges(0.1, 1.0)
    [0.1, 0.2, 0.4, 0.8, 1.0]
    """
    found = [bucket]
    while found[-1] < limit:
        found.append(min(2 * found[-1], limit))
    return found


def told(seconds: float, bucket: float, limit: float) -> float:
    """The edge that a reply left at, of which the clock says a little more once it is gone.

    >>> [told(seconds, 0.1, 1.0) for seconds in (0.003, 0.104, 0.17, 1.2)]
    [0.1, 0.1, 0.2, 1.0]
    """
    return min(limit, edge(max(0.0, seconds - bucket / 2), bucket, limit)) if bucket else seconds


class Pace:
    """Runs questions at the counter, and holds each back between its look at the data and the moment it is kept.

    Before an answer is kept nobody can see that it is there; so whatever can be seen, by whomever, changes at an edge.
    """

    def __init__(
        self,
        counter: Counter,
        bucket: float,
        limit: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._counter, self._bucket, self._limit, self._clock, self._sleep = counter, bucket, limit, clock, sleep

    async def run(self, who: str, arrived: float, work: Callable[[], _Given]) -> _Given:
        """What the work gives; after the limit a Failure, while the work goes on to its end and keeps its place."""
        future = self._counter.start(who, work)
        # `wait`, because it leaves the work alone if the task that asks is cancelled.
        left = arrived + self._limit + _GRACE_SECONDS - self._clock()
        await asyncio.wait((future,), timeout=max(0.0, left))
        if not future.done():
            raise Failure()
        return future.result()

    def wait(self, started: float) -> None:
        """In the thread of a question: until the edge after its look at the data, counted from the start of that."""
        end = started + edge(self._clock() - started, self._bucket, self._limit)
        while (left := end - self._clock()) > 0:
            self._sleep(left)

    def stop(self) -> None:
        """Take nothing more."""
        self._counter.stop()
