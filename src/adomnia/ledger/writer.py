"""Group commit: one thread writes the requests of many threads in one transaction, with one fsync for all.

Every error of the store comes here, whoever met it. After one, nothing is granted until the store has recovered, which
is tried again and again.
"""

import logging
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Condition, Event, Thread, current_thread
from time import monotonic
from typing import Any, Protocol

from adomnia.errors import Refusal, Unavailable
from adomnia.ledger.chain import LostAnchorRefusal
from adomnia.ledger.journal import Work
from adomnia.ledger.schema import ERRORS, explain_error, is_full, is_unwritten, leaves_doubt, name_error, name_file

_MAX_WAITING = 4096  # one more is refused at once, instead of late
_GROUP_SIZE = 256
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0  # seconds between tries to recover
_MOST_TRIES = 5  # of an answer that the store fails with, and recovers from, again and again
_ANSWER_SECONDS = 5.0  # how long an answer that was paid for waits for the ledger to recover
_STUCK_SECONDS = 5.0  # of one step of the store, after which nobody else waits for its end
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

    `trouble` is the last error of the store, until it has recovered: that is, until it and `look`, which tries what is
    done beside the writer, succeed. Meanwhile everybody is refused at once, except on a full disk: what was stored can
    still be read there, and less may fit. `on_error` is told the name of each error.
    """

    def __init__(self, store: Store, look: Callable[[], None]) -> None:
        self._store, self._look = store, look
        self.trouble: Unavailable | None = None
        self.on_error: Callable[[str], None] = _ignore
        self._doubtful = self._blocked = False
        self._next_try, self._pause = 0.0, _FIRST_PAUSE
        self._since: float | None = None  # when the step of the store began that has not ended
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
        self._check_own()
        task = _Task(work, urgent)
        with self._changed:
            reason = self._closed or (None if urgent else self._find_reason())
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

    @contextmanager
    def watch(self) -> Iterator[None]:
        """What is done beside the writer: it is refused at once while there is trouble, and its errors are trouble.

        A ledger that grants nothing any more, because it is not what it was, can be looked at.
        """
        self._check_own()
        if self._closed is None and (reason := self._find_reason()) is not None:
            raise explain_error(reason)
        with self.notice():
            yield

    @contextmanager
    def notice(self) -> Iterator[None]:
        """Errors of what was begun beside the writer: they are trouble, and leave no doubt about what was written.

        Where they last, those of the recovery leave it.
        """
        try:
            yield
        except ERRORS as error:
            raise self._note(error, doubtful=False) from error

    def _find_reason(self) -> Unavailable | None:
        """Why nobody has to try now."""
        if self._blocked:
            return self.trouble
        since = self._since
        if since is not None and monotonic() - since > _STUCK_SECONDS:
            return Unavailable("The ledger", "waits for its disk, its database or a lock", "ask again in a moment")
        return None

    def _check_own(self) -> None:
        if not self.is_own():
            raise RuntimeError("Ledger must be opened again after a fork; it cannot be shared with a child.")

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
            while not self._is_due():
                self._changed.wait(self._until_next_try())
            if self._blocked or (self._closed is None and self._until_next_try() == 0.0):
                return []
            return [self._waiting.popleft() for _ in range(min(_GROUP_SIZE, len(self._waiting)))]

    def _is_due(self) -> bool:
        has_work = len(self._waiting) > 0 and not self._blocked
        return self._closed is not None or has_work or self._until_next_try() == 0.0

    def _until_next_try(self) -> float | None:
        """Seconds until it is time to recover; None if there is no trouble."""
        return None if self.trouble is None else max(0.0, self._next_try - monotonic())

    def _run_group(self, group: list[_Task]) -> None:
        """Run the works of a group; every caller hears of its outcome, or that nothing was granted."""
        try:
            with self._step():
                outcomes = self._store.run([task.work for task in group])
        except Exception as error:  # noqa: BLE001 - whatever it was, every caller must hear of it
            self._kept += [task for task in group if is_unwritten(error) and task.may_try_again()]
            reason = self._note(error, leaves_doubt(error))
            locked_out = self._list_waiting() if self._blocked and not self._doubtful else []  # not over in a moment
            self._refuse([*(task for task in group if task not in self._kept), *locked_out], reason)
            return
        for task, outcome in zip(group, outcomes, strict=True):
            task.finish(outcome)
        try:
            with self._step():
                self._store.maintain()
        except Exception as error:  # noqa: BLE001 - the group is durable, but what comes after it may not be
            self._note(error, leaves_doubt(error))

    @contextmanager
    def _step(self) -> Iterator[None]:
        """A step of the store, whose duration others judge it by."""
        self._since = monotonic()
        try:
            yield
        finally:
            self._since = None

    def _note(self, error: Exception, doubtful: bool) -> Unavailable:
        """Remember an error until it is recovered from, tell of it if it is news, and give what callers are told."""
        reason, name = explain_error(error), name_error(error)
        self.on_error(name)
        with self._changed:
            if self.trouble is None or self.trouble.why != reason.why:
                _log.error(f"The ledger {reason.why}: %s, %s", name, name_file(error))
            if isinstance(error, Refusal) and not isinstance(error, LostAnchorRefusal):
                self._closed = reason  # the chain is not what it was, and only its owner can mend that
            if isinstance(error, (Refusal, *ERRORS)):
                if self.trouble is None:
                    self._next_try, self._pause = monotonic() + _FIRST_PAUSE, _FIRST_PAUSE
                self.trouble, self._doubtful = reason, self._doubtful or doubtful
                self._blocked = self._blocked or self._doubtful or not is_full(error)
                self._changed.notify()
        return reason

    def _try_to_recover(self) -> None:
        """Recover, or try again after a longer pause; answers that have waited for too long are given up."""
        try:
            with self._step():
                self._store.recover(self._doubtful)
                self._look()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is tried again
            reason = self._note(error, leaves_doubt(error))
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
            self._next_try = monotonic() + self._pause
            late = [task for task in (*self._kept, *self._waiting) if task.is_overdue()]
            self._refuse([*late, *(self._list_waiting() if self._blocked else [])], reason)
        else:
            _log.warning("The ledger has recovered.")
            with self._changed:
                self.trouble, self._doubtful, self._blocked = None, False, False
                self._waiting.extendleft(reversed(self._kept))
                self._kept.clear()

    def _list_waiting(self) -> list[_Task]:
        """Those who wait, and have paid for nothing yet."""
        return [task for task in tuple(self._waiting) if not task.urgent]  # copied: others go on adding to it

    def _refuse(self, tasks: Sequence[_Task], reason: Unavailable) -> None:
        """Tell callers why nothing was granted to them."""
        with self._changed:
            self._waiting = deque(task for task in self._waiting if task not in tasks)
            self._kept = [task for task in self._kept if task not in tasks]
        for task in tasks:
            task.finish(explain_error(reason))


def _ignore(_name: str) -> None:
    """What is told to nobody."""
