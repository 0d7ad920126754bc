"""Group commit: one thread writes the requests of many threads in one transaction, with one fsync for all.

After an error of the file nothing is granted until the store has recovered, which is tried again and again.
"""

import logging
import os
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Condition, Event, Thread, current_thread
from time import monotonic
from typing import Any, Protocol

from adomnia.errors import Refusal, Unavailable
from adomnia.ledger.journal import Work
from adomnia.ledger.schema import ERRORS, explain_error, is_unwritten, leaves_doubt, name_error, name_file

__all__ = ["Store", "Writer"]

_MAX_WAITING = 4096  # one more is refused at once, instead of late
_GROUP_SIZE = 256
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0  # seconds between tries to recover
_MOST_TRIES = 5  # of an answer that the store fails with, and recovers from, again and again
_ANSWER_SECONDS = 5.0  # how long an answer that was paid for waits for the ledger to recover
_log = logging.getLogger("adomnia.ledger")


class Store(Protocol):
    """What the writer writes to: the journal."""

    def run(self, works: Sequence[Work]) -> Sequence[Any]:
        """Do all works in one durable transaction."""

    def maintain(self) -> None:
        """Do what is due after a transaction."""

    def recover(self, doubtful: bool) -> None:
        """Make the store usable again after an error; raises while that is not possible."""

    def close(self) -> None:
        """Let go of the file."""


@dataclass(eq=False)
class _Task:
    work: Work
    urgent: bool
    since: float = field(default_factory=monotonic)
    done: Event = field(default_factory=Event)
    outcome: Any = None
    tries: int = 0

    def may_try_again(self) -> bool:
        """Whether it is an answer, and has not failed so often that it may be what everybody fails with."""
        self.tries += 1
        return self.urgent and self.tries < _MOST_TRIES

    def is_overdue(self) -> bool:
        return monotonic() - self.since > _ANSWER_SECONDS

    def finish(self, outcome: object) -> None:
        self.outcome = outcome
        self.done.set()


class Writer:
    """A queue, and the thread that empties it, a group at a time, into a store.

    `trouble` is the last error of the file, until the store has recovered from it. A full disk or a lock leave nothing
    behind, and do not keep others from trying; after any other error nothing is run before the store has recovered.
    `on_error` is told the name of each error.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.trouble: Unavailable | None = None
        self.on_error: Callable[[str], None] = _ignore
        self._doubtful = self._blocked = False
        self._next_try, self._pause = 0.0, _FIRST_PAUSE
        self._waiting: deque[_Task] = deque()
        self._kept: list[_Task] = []  # answers of which nothing was written: they are tried again
        self._changed = Condition()
        self._closed: Unavailable | None = None
        self._process = os.getpid()
        self._thread = Thread(target=self._write_groups, name="adomnia-ledger", daemon=True)
        self._thread.start()

    def submit(self, work: Work, urgent: bool = False) -> Any:  # noqa: ANN401 - whatever the work gives
        """Wait until the work is durable; gives its outcome.

        Urgent work is accepted however much is waiting, and waits a while for a ledger that is in trouble.
        """
        if not self.is_own():
            raise RuntimeError("Ledger must be opened again after a fork; it cannot be shared with a child.")
        task = _Task(work, urgent)
        with self._changed:
            reason = self._closed or (self.trouble if self._blocked and not urgent else None)
            if reason is not None:
                raise explain_error(reason)
            if len(self._waiting) >= _MAX_WAITING and not urgent:
                raise Unavailable("The ledger", "has too many requests waiting", "ask again in a moment", code="busy")
            self._waiting.append(task)
            self._changed.notify()
        task.done.wait()
        if isinstance(task.outcome, Exception):
            raise task.outcome
        return task.outcome

    def is_own(self) -> bool:
        """Whether this is the process that opened it, and not a child that was forked."""
        return os.getpid() == self._process

    def stop(self, patience: float | None = None) -> None:
        """Finish what is waiting, then end the thread. A second call, or one in a forked child, does nothing.

        With `patience` the end of the thread is awaited so many seconds at most: the collector finds a forgotten ledger
        in any thread, which may hold a lock that this one needs to end.
        """
        if not self.is_own():
            return
        with self._changed:
            self._closed = self._closed or Unavailable("The ledger", "is closed", "open it again")
            self._changed.notify()
        if current_thread() is not self._thread:  # in which the collector may find it as well
            self._thread.join(patience)

    def _write_groups(self) -> None:
        while True:
            if group := self._next_group():
                self._run_group(group)
            elif self._closed is None:
                self._try_to_recover()
            else:
                self._refuse([*self._waiting, *self._kept], self.trouble or self._closed)
                break
        self._store.close()

    def _next_group(self) -> list[_Task]:
        """The works to run next; none if it is time to recover, or if the writer is closed and has done what it can."""
        with self._changed:
            self._changed.wait_for(self._is_due, self._until_next_try())
            if self._blocked or (self._closed is None and self._until_next_try() == 0.0):
                return []
            return [self._waiting.popleft() for _ in range(min(_GROUP_SIZE, len(self._waiting)))]

    def _is_due(self) -> bool:
        return self._closed is not None or (len(self._waiting) > 0 and not self._blocked)

    def _until_next_try(self) -> float | None:
        """Seconds until it is time to recover; None if there is no trouble."""
        return None if self.trouble is None else max(0.0, self._next_try - monotonic())

    def _run_group(self, group: list[_Task]) -> None:
        """Run the works of a group; every caller hears of its outcome, or that nothing was granted."""
        try:
            outcomes = self._store.run([task.work for task in group])
        except Exception as error:  # noqa: BLE001 - whatever it was, every caller must hear of it
            self._kept += [task for task in group if is_unwritten(error) and task.may_try_again()]
            self._refuse([task for task in group if task not in self._kept], self._note(error))
            return
        for task, outcome in zip(group, outcomes, strict=True):
            task.finish(outcome)
        try:
            self._store.maintain()
        except Exception as error:  # noqa: BLE001 - the group is durable, but what comes after it may not be
            self._note(error)

    def _note(self, error: Exception) -> Unavailable:
        """Remember an error of the file until it is recovered from; gives what callers are told."""
        reason, name = explain_error(error), name_error(error)
        self.on_error(name)
        if self.trouble is None or self.trouble.why != reason.why:
            _log.error("The ledger is in trouble: %s, %s", name, name_file(error))
        with self._changed:
            if isinstance(error, Refusal):  # the chain is not what it was, and only its owner can mend that
                self._closed, self._blocked = reason, True
            if isinstance(error, (Refusal, *ERRORS)):
                if self.trouble is None:
                    self._next_try, self._pause = monotonic() + _FIRST_PAUSE, _FIRST_PAUSE
                self.trouble, self._doubtful = reason, self._doubtful or leaves_doubt(error)
                self._blocked = self._blocked or self._doubtful
        return reason

    def _try_to_recover(self) -> None:
        """Recover, or try again after a longer pause; answers that have waited for too long are given up."""
        try:
            self._store.recover(self._doubtful)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is tried again
            reason = self._note(error)
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
            self._next_try = monotonic() + self._pause
            late = [task for task in (*self._kept, *self._waiting) if task.is_overdue()]
            self._refuse([*late, *(task for task in self._waiting if self._blocked and not task.urgent)], reason)
        else:
            _log.warning("The ledger has recovered.")
            with self._changed:
                self.trouble, self._doubtful, self._blocked = None, False, False
                self._waiting.extendleft(reversed(self._kept))
                self._kept.clear()

    def _refuse(self, tasks: Sequence[_Task], reason: Unavailable) -> None:
        """Tell callers why nothing was granted to them."""
        with self._changed:
            self._waiting = deque(task for task in self._waiting if task not in tasks)
            self._kept = [task for task in self._kept if task not in tasks]
        for task in tasks:
            task.finish(explain_error(reason))


def _ignore(_name: str) -> None:
    """What is told to nobody."""
