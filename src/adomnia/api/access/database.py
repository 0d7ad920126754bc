"""The port of access control: reading the tables of users, and changing them in transactions, wherever they are kept.

Two databases fill it: a file beside the ledger, and PostgreSQL where several hosts share users as they share a budget.
The statements are the same in both: `?` stands for a value, and "user" is a column.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from adomnia.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

_RECORD_SECONDS = 60.0  # how often the time is recorded if nothing else is written


class Cursor(Protocol):
    """What a statement gives: the number of rows that it changed, or rows."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...  # noqa: ANN401 - a row, of whatever types


@dataclass(frozen=True)
class AccessTransaction:
    """A write transaction in progress, the only one there is in any process, and the time at which it began."""

    execute: Callable[[str, tuple[object, ...]], Cursor]
    now: float

    def run(self, statement: str, *values: object) -> int:
        """Change rows; gives their number."""
        return self.execute(statement, values).rowcount

    def one(self, statement: str, *values: object) -> tuple[Any, ...] | None:
        """The first row of a query, if there is one."""
        found: tuple[Any, ...] | None = self.execute(statement, values).fetchone()
        return found


def run_now(work: Callable[[], None]) -> None:
    work()


class Clock:
    """A clock that is never behind the latest time seen so far, so that what has expired stays expired.

    If the machine's clock was set ahead and back again, waiting for it to catch up would stop the time, and nothing
    would expire: meanwhile time goes on by the monotonic clock, which nobody can set.
    """

    def __init__(self, wall: Callable[[], float], monotonic: Callable[[], float]) -> None:
        self._wall, self._monotonic = wall, monotonic
        self._mark = (wall(), monotonic())  # one value, so that threads see both halves of the same moment

    def now(self, seen: float) -> float:
        """The time, given the latest one that is on record."""
        (latest, then), monotonic = self._mark, self._monotonic()
        time = max(self._wall(), seen, latest + monotonic - then)
        self._mark = (time, monotonic)
        return time


class Database(ABC):
    """The tables of users. Reads never wait for writes; writes that nobody waits for are handed to `defer`."""

    def __init__(self, clock: Clock, defer: Callable[[Callable[[], None]], object]) -> None:
        self._clock, self._defer = clock, defer
        self._deferred: set[str] = set()

    @abstractmethod
    def may_wait(self) -> bool:
        """Whether a query may have to wait, for a network or another process, and so may not keep an event loop."""

    @abstractmethod
    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """All rows of a query, including what other processes have committed."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[AccessTransaction]:
        """A write transaction, undone as a whole if it fails and durable at its end; it also records the time."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the tables."""

    def one(self, statement: str, *values: object) -> tuple[Any, ...] | None:
        """The first row of a query, if there is one."""
        found = self.rows(statement, *values)
        return found[0] if found else None

    def now(self, latest: float) -> float:
        """The time, given the latest one on record; it is recorded again once a minute."""
        now = self._clock.now(latest)
        if now - latest >= _RECORD_SECONDS:
            self.record_time()
        return now

    def record_time(self) -> None:
        """Record the time, so that what has expired by now stays expired."""
        self.write_later("time", lambda _transaction: None)

    def write_later(self, name: str, write: Callable[[AccessTransaction], None]) -> None:
        """Defer a write that nobody waits for, unless one of the same name is deferred already."""
        if name not in self._deferred:
            self._deferred.add(name)
            self._defer(lambda: self._write(name, write))

    def _write(self, name: str, write: Callable[[AccessTransaction], None]) -> None:
        try:
            with suppress(Unavailable), self.transaction() as transaction:  # logged; the next request defers it again
                write(transaction)
        finally:
            self._deferred.discard(name)
