"""The counter where questions are served: a few threads, a short queue, and nobody who takes all of either."""

from __future__ import annotations

import asyncio
from collections import Counter as Tally
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from adomnia.server.later import Later

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Counter"]

_RETRY_SECONDS = 1
_Given = TypeVar("_Given")


@dataclass(frozen=True, eq=False)
class _Job:
    who: str
    work: Callable[[], Any]
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


class Counter:
    """At most `threads` pieces of work run and at most `queue` wait; what is more is sent away at once.

    Everybody who waits has their turn after one another, nobody has more than half of the queue, and nobody all threads
    as long as there are two. All but the work itself happens in the thread of the event loop, so nothing is locked.
    """

    def __init__(
        self, threads: int, queue: int, told: Callable[[int, int], None] = lambda _waiting, _running: None
    ) -> None:
        self._free, self._queue, self._told = threads, queue, told
        self._most_waiting, self._most_running = max(1, queue // 2), max(1, threads - 1)
        self._lines: dict[str, deque[_Job]] = {}  # in the order in which names have their turn
        self._running: Tally[str] = Tally()
        self.waiting = 0
        self.stopping = False
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._threads = [Thread(target=self._serve, name=f"adomnia-question-{k}", daemon=True) for k in range(threads)]
        for thread in self._threads:
            thread.start()

    @property
    def running(self) -> int:
        return self._running.total()

    def start(self, who: str, work: Callable[[], _Given]) -> asyncio.Future[_Given]:
        """What the work will give. Nothing stops it: not even the end of the task that waits for it."""
        line = self._lines.get(who, ())
        if self.stopping:
            raise Later("The server", "is stopping", _RETRY_SECONDS, code="stopping")
        if self.waiting >= self._queue or len(line) >= self._most_waiting:
            why = "has too many questions waiting" if self.waiting >= self._queue else "has too many of yours waiting"
            raise Later("The server", why, _RETRY_SECONDS, code="overload")
        loop = asyncio.get_running_loop()
        job = _Job(who, work, loop.create_future(), loop)
        job.future.add_done_callback(_seen)
        self._lines.setdefault(who, deque()).append(job)
        self.waiting += 1
        self._call()
        return job.future

    async def run(self, who: str, work: Callable[[], _Given]) -> _Given:
        """What the work gives."""
        future = self.start(who, work)
        await asyncio.wait((future,))  # and not the future itself, which would be cancelled with the task that asks
        return future.result()

    def stop(self) -> None:
        """Take nothing more; what runs and what waits is finished."""
        self.stopping = True

    def close(self) -> None:
        """Let the threads end once they are idle."""
        for _ in self._threads:
            self._jobs.put(None)

    def _call(self) -> None:
        """Hand work to free threads, one of each name in turn."""
        while self._free and (who := self._next()) is not None:
            line = self._lines.pop(who)
            self._jobs.put(line.popleft())
            if line:
                self._lines[who] = line
            self._free -= 1
            self.waiting -= 1
            self._running[who] += 1
        self._told(self.waiting, self.running)

    def _next(self) -> str | None:
        return next((who for who in self._lines if self._running[who] < self._most_running), None)

    def _ended(self, job: _Job, given: object, fault: BaseException | None) -> None:
        self._free += 1
        self._running[job.who] -= 1
        if not self._running[job.who]:
            del self._running[job.who]
        if not job.future.cancelled():
            if fault is None:
                job.future.set_result(given)
            else:
                job.future.set_exception(fault)
        self._call()

    def _serve(self) -> None:
        while (job := self._jobs.get()) is not None:
            given, fault = None, None
            try:
                given = job.work()
            except BaseException as raised:  # noqa: BLE001 - it belongs to whoever waits for the work
                fault = raised
            with suppress(RuntimeError):  # the event loop may have ended first
                job.loop.call_soon_threadsafe(self._ended, job, given, fault)
            del job, given, fault  # a thread that waits keeps nothing alive


def _seen(future: asyncio.Future[Any]) -> None:
    """Whoever asked may be gone: then nobody looks at what went wrong, and that is no news."""
    if not future.cancelled():
        future.exception()
