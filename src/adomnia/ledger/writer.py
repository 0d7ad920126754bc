"""Group commit: one thread writes the requests of many threads in one transaction, with one fsync for all."""

import logging
import os
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Condition, Event, Thread, current_thread
from typing import Any

from adomnia.errors import Refusal
from adomnia.ledger.journal import Work
from adomnia.ledger.schema import explain_error
from adomnia.ledger.sqlite import is_transient

__all__ = ["Writer"]

_MAX_WAITING = 4096  # one more is refused at once, instead of late
_GROUP_SIZE = 256
_log = logging.getLogger("adomnia.ledger")


@dataclass(eq=False)
class _Task:
    work: Work
    done: Event = field(default_factory=Event)
    outcome: Any = None

    def finish(self, outcome: object) -> None:
        self.outcome = outcome
        self.done.set()


class Writer:
    """A queue, and the thread that empties it, a group at a time, through `run`."""

    def __init__(self, run: Callable[[Sequence[Work]], Sequence[Any]], close: Callable[[], None]) -> None:
        self._run = run
        self._close = close
        self._waiting: deque[_Task] = deque()
        self._changed = Condition()
        self._ended: Refusal | None = None
        self._process = os.getpid()
        self._thread = Thread(target=self._write_groups, name="adomnia-ledger", daemon=True)
        self._thread.start()

    def submit(self, work: Work, urgent: bool = False) -> Any:  # noqa: ANN401 - whatever the work gives
        """Wait until the work is durable; gives its outcome. Urgent work is accepted however much is waiting."""
        if os.getpid() != self._process:
            raise RuntimeError("Ledger must be opened again after a fork; SQLite cannot be shared with a child.")
        task = _Task(work)
        with self._changed:
            if self._ended is not None:
                raise explain_error(self._ended)
            if len(self._waiting) >= _MAX_WAITING and not urgent:
                raise Refusal("The ledger", "has too many requests waiting", "ask again in a moment", code="busy")
            self._waiting.append(task)
            self._changed.notify()
        task.done.wait()
        if isinstance(task.outcome, Exception):
            raise task.outcome
        return task.outcome

    def stop(self) -> None:
        """Finish what is waiting, then end the thread. A second call, or one in a forked child, does nothing."""
        if os.getpid() != self._process:
            return
        with self._changed:
            self._ended = self._ended or Refusal("The ledger", "is closed", "open it again")
            self._changed.notify()
        if current_thread() is not self._thread:  # the collector may find a forgotten ledger in any thread
            self._thread.join()

    def _write_groups(self) -> None:
        while group := self._next_group():
            for task, outcome in zip(group, self._run_group(group), strict=True):
                task.finish(outcome)
        self._close()

    def _next_group(self) -> list[_Task]:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._ended)
            return [self._waiting.popleft() for _ in range(min(_GROUP_SIZE, len(self._waiting)))]

    def _run_group(self, group: list[_Task]) -> Sequence[Any]:
        try:
            return self._run([task.work for task in group])
        except Exception as error:  # noqa: BLE001 - whatever it was, every caller must hear that nothing was granted
            _log.error("The ledger granted nothing to %d requests: %r", len(group), error)
            if not is_transient(error):
                self._abandon(group, explain_error(error))
            return [explain_error(error) for _ in group]

    def _abandon(self, group: list[_Task], reason: Refusal) -> None:
        """Accept no more work, and let all that is waiting fail with this group."""
        with self._changed:
            self._ended = reason
            group.extend(self._waiting)
            self._waiting.clear()
