"""One thread writes: what many threads ask for at once becomes one transaction, and one fsync pays for all of it."""

import logging
import os
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Condition, Event, Thread, current_thread
from typing import Any

from adomnia.errors import Refusal
from adomnia.ledger.journal import Work
from adomnia.ledger.schema import explained, passes

__all__ = ["Writer"]

_QUEUE = 4096  # more than that waiting: say so at once, instead of later
_GROUP = 256
_log = logging.getLogger("adomnia.ledger")


@dataclass(eq=False)
class _Ticket:
    work: Work
    settled: Event = field(default_factory=Event)
    outcome: Any = None

    def settle(self, outcome: object) -> None:
        self.outcome = outcome
        self.settled.set()


class Writer:
    """A queue, and the thread that empties it a group at a time through `run`."""

    def __init__(self, run: Callable[[Sequence[Work]], Sequence[Any]], close: Callable[[], None]) -> None:
        self._run = run
        self._close = close
        self._waiting: deque[_Ticket] = deque()
        self._changed = Condition()
        self._ended: Refusal | None = None
        self._process = os.getpid()
        self._thread = Thread(target=self._serve, name="adomnia-ledger", daemon=True)
        self._thread.start()

    def submit(self, work: Work, urgent: bool = False) -> Any:  # noqa: ANN401 - whatever the work gives
        """The outcome of the work, once it is durable. Urgent work, such as keeping an answer, always finds room."""
        if os.getpid() != self._process:
            raise RuntimeError("Ledger must be opened again after a fork; SQLite cannot be shared with a child.")
        ticket = _Ticket(work)
        with self._changed:
            if self._ended is not None:
                raise explained(self._ended)
            if len(self._waiting) >= _QUEUE and not urgent:
                raise Refusal("The ledger", "has too many requests waiting", "ask again in a moment", code="busy")
            self._waiting.append(ticket)
            self._changed.notify()
        ticket.settled.wait()
        if isinstance(ticket.outcome, Exception):
            raise ticket.outcome
        return ticket.outcome

    def stop(self) -> None:
        """Finish what is waiting, then end; harmless a second time, and in a forked child."""
        if os.getpid() != self._process:
            return
        with self._changed:
            self._ended = self._ended or Refusal("The ledger", "is closed", "open it again")
            self._changed.notify()
        if current_thread() is not self._thread:  # the collector may find a forgotten ledger in any thread
            self._thread.join()

    def _serve(self) -> None:
        while group := self._group():
            for ticket, outcome in zip(group, self._outcomes(group), strict=True):
                ticket.settle(outcome)
        self._close()

    def _group(self) -> list[_Ticket]:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._ended)
            return [self._waiting.popleft() for _ in range(min(_GROUP, len(self._waiting)))]

    def _outcomes(self, group: list[_Ticket]) -> Sequence[Any]:
        try:
            return self._run([ticket.work for ticket in group])
        except Exception as error:  # noqa: BLE001 - whatever it was, every caller must hear that nothing was granted
            _log.error("The ledger granted nothing to %d requests: %r", len(group), error)
            if not passes(error):
                self._abandon(group, explained(error))
            return [explained(error) for _ in group]

    def _abandon(self, group: list[_Ticket], reason: Refusal) -> None:
        """Take nothing more, and let those who wait share the fate of the group."""
        with self._changed:
            self._ended = reason
            group.extend(self._waiting)
            self._waiting.clear()
