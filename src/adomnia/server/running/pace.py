"""When replies leave: at the edge of a time bucket, so that how long a look at the data took is not told."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING, Protocol, TypeVar

from adomnia.errors import Failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.server.running.counter import Counter

__all__ = ["Pace", "edge", "edges", "told"]

_SHORTEST_SLEEP = 0.001  # event loops count in milliseconds


class Reply(Protocol):
    """What work gives: a reply, and whether it may leave at once because no data was, or may have been, read for it."""

    @property
    def at_once(self) -> bool: ...


_Reply = TypeVar("_Reply", bound=Reply)


def edge(waited: float, bucket: float, limit: float) -> float:
    """The first edge that is not before `waited` seconds: bucket, twice that, four times that, ..., the limit.

    >>> [edge(waited, 0.1, 1.0) for waited in (0.0, 0.1, 0.11, 0.5, 0.9)]
    [0.1, 0.1, 0.2, 0.8, 1.0]
    """
    if not bucket:
        return waited
    end = bucket
    while end < waited:
        end *= 2
    return min(end, limit)


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
    return edge(max(0.0, seconds - bucket / 2), bucket, limit)


class Pace:
    """Runs work at the counter and holds its reply back until the next edge, counted from the request's arrival."""

    def __init__(self, counter: Counter, bucket: float, limit: float, clock: Callable[[], float] = monotonic) -> None:
        self._counter, self._bucket, self._limit, self._clock = counter, bucket, limit, clock

    async def run(self, who: str, arrived: float, work: Callable[[], _Reply]) -> _Reply:
        """What the work gives, at an edge unless it may leave at once.

        After the limit a Failure leaves instead, while the work goes on to its end and keeps its place.
        """
        future = self._counter.start(who, work)
        # `wait`, because it leaves the work alone if the task that asks is cancelled.
        await asyncio.wait((future,), timeout=max(0.0, self._limit - (self._clock() - arrived)))
        if not future.done():
            raise Failure()
        reply = future.result()
        if not reply.at_once:
            leaves = arrived + edge(self._clock() - arrived, self._bucket, self._limit)
            while (left := leaves - self._clock()) > 0:
                await asyncio.sleep(max(left, _SHORTEST_SLEEP))
        return reply

    def stop(self) -> None:
        """Take nothing more."""
        self._counter.stop()
