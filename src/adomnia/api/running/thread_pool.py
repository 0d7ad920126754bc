"""A thread pool with a short queue, shared fairly: no user can take all threads or the whole queue."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from adomnia.api.retry import RetryLater

if TYPE_CHECKING:
    from collections.abc import Callable

_RETRY_SECONDS = 1
_Result = TypeVar("_Result")


@dataclass(frozen=True, eq=False)
class _Job:
    user: str
    work: Callable[[], Any]
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


class FairThreadPool:
    """Runs at most `threads` jobs while at most `queue` wait; more are refused at once.

    Users who wait take turns. Nobody has more than half of the queue, and nobody all threads if there are two or more.
    Everything but the jobs themselves happens in the thread of the event loop, so nothing is locked.
    """

    def __init__(
        self, threads: int, queue: int, on_load: Callable[[int, int], None] = lambda _waiting, _running: None
    ) -> None:
        self._free, self._queue, self._on_load = threads, queue, on_load
        self._most_waiting, self._most_running = max(1, queue // 2), max(1, threads - 1)
        self._queues: dict[str, deque[_Job]] = {}  # of each user, in the order of their turns
        self._running: Counter[str] = Counter()
        self.waiting = 0
        self.stopping = False
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._threads = [Thread(target=self._work, name=f"adomnia-pool-{k}", daemon=True) for k in range(threads)]
        for thread in self._threads:
            thread.start()

    @property
    def running(self) -> int:
        return self._running.total()

    def submit(self, user: str, work: Callable[[], _Result]) -> asyncio.Future[_Result]:
        """The future result of a job, which runs in the context of this task.

        It goes on even if the task that waits for it is cancelled.
        """
        queue = self._queues.get(user, ())
        if self.stopping:
            raise RetryLater("The server", "is stopping", _RETRY_SECONDS, code="stopping")
        if self.waiting >= self._queue or len(queue) >= self._most_waiting:
            why = "has too many questions waiting" if self.waiting >= self._queue else "has too many of yours waiting"
            raise RetryLater("The server", why, _RETRY_SECONDS, code="overload")
        loop = asyncio.get_running_loop()
        job = _Job(user, partial(copy_context().run, work), loop.create_future(), loop)
        job.future.add_done_callback(_retrieve_exception)
        self._queues.setdefault(user, deque()).append(job)
        self.waiting += 1
        self._dispatch()
        return job.future

    async def run(self, user: str, work: Callable[[], _Result]) -> _Result:
        """Run a job and return its result."""
        future = self.submit(user, work)
        await asyncio.wait((future,))  # and not the future itself, which would be cancelled with the task that asks
        return future.result()

    def stop(self) -> None:
        """Take no more jobs; those that run or wait are finished."""
        self.stopping = True

    def close(self) -> None:
        """Let the threads end once they are idle."""
        for _ in self._threads:
            self._jobs.put(None)

    def _dispatch(self) -> None:
        """Hand jobs to free threads, one of each user in turn."""
        while self._free and (user := self._next_user()) is not None:
            queue = self._queues.pop(user)
            self._jobs.put(queue.popleft())
            if queue:
                self._queues[user] = queue
            self._free -= 1
            self.waiting -= 1
            self._running[user] += 1
        self._on_load(self.waiting, self.running)

    def _next_user(self) -> str | None:
        return next((user for user in self._queues if self._running[user] < self._most_running), None)

    def _finish(self, job: _Job, result: object, fault: BaseException | None) -> None:
        self._free += 1
        self._running[job.user] -= 1
        if not self._running[job.user]:
            del self._running[job.user]
        if not job.future.cancelled():
            if fault is None:
                job.future.set_result(result)
            else:
                job.future.set_exception(fault)
        self._dispatch()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            result, fault = None, None
            try:
                result = job.work()
            except BaseException as raised:  # noqa: BLE001 - it belongs to whoever waits for the job
                fault = raised
            with suppress(RuntimeError):  # the event loop may have ended first
                job.loop.call_soon_threadsafe(self._finish, job, result, fault)
            del job, result, fault  # an idle thread keeps nothing alive


def _retrieve_exception(future: asyncio.Future[Any]) -> None:
    """Mark an exception as seen: asyncio would log it if whoever asked is gone."""
    if not future.cancelled():
        future.exception()
