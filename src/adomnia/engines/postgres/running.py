"""The statements that run: a bounded number of connections, each in a transaction that cannot write."""

from __future__ import annotations

import logging
from contextlib import contextmanager, suppress
from math import inf
from threading import BoundedSemaphore, Event, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from adomnia.errors import Failure
from adomnia.postgres import driver
from adomnia.work import current

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    import psycopg

MOST_CONNECTIONS = 8
GRACE_SECONDS = 5.0  # in which a server ends a statement that took too long; after them we do not wait for it
_AGAIN_SECONDS = 0.05
_WAIT_SECONDS = 60.0  # for a connection that is free

logging.getLogger("psycopg").disabled = True  # what it says may quote rows


class BoundedConnection:
    """A connection that is waited for no longer than it may take: a server that hangs keeps no timeout of its own."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection, self.latest = connection, inf
        wait = connection.wait

        def wait_for(steps: Generator[Any, Any, Any], *arguments: float, **named: float) -> object:
            return wait(self._bound(steps), *arguments, **named)

        connection.wait = wait_for  # type: ignore[method-assign, assignment]

    def _bound(self, steps: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        """The same steps of waiting, until it is too late; the driver looks again every tenth of a second."""
        answer = None
        while True:
            try:
                wanted = steps.send(answer)
            except StopIteration as ended:
                return ended.value
            if monotonic() > self.latest:
                raise driver().OperationalError
            answer = yield wanted

    def cancel(self) -> None:
        """End what it runs."""
        with suppress(driver().Error):
            self.connection.cancel_safe(timeout=GRACE_SECONDS)

    def end(self) -> bool:
        """Roll back; whether it can be used again."""
        with suppress(driver().Error):
            self.connection.rollback()
        self.latest = inf
        return bool(self.connection.info.transaction_status == driver().pq.TransactionStatus.IDLE)


class ConnectionPool:
    """Gives every statement a connection of its own, and cancels what runs when it is closed.

    Connections are made when they are needed, and kept. One that met an error of the connection is thrown away; no
    statement is ever sent a second time.
    """

    def __init__(self, connect: Callable[[], psycopg.Connection[Any]], most: int = MOST_CONNECTIONS) -> None:
        self._connect = connect
        self._free: list[BoundedConnection] = []
        self._busy: set[BoundedConnection] = set()
        self._lock, self._room, self.closed = Lock(), BoundedSemaphore(most), False

    @contextmanager
    def transaction(self, seconds: float | None = None) -> Iterator[psycopg.Connection[Any]]:
        """A connection in a transaction that reads only, which is rolled back at its end."""
        with self._session(seconds) as session:
            yield session.connection

    @contextmanager
    def _session(self, seconds: float | None) -> Iterator[BoundedConnection]:
        if not self._room.acquire(timeout=_WAIT_SECONDS):
            raise Failure()
        try:
            session = self._take(seconds)
            try:
                yield session
            finally:
                self._give_back(session)
        finally:
            self._room.release()

    @contextmanager
    def brief(self, seconds: float) -> Iterator[psycopg.Connection[Any]]:
        """The same for what nobody pays for: it ends after so many seconds, or when nobody waits for it any more."""
        work, ended = current(), Event()

        def watch(session: BoundedConnection) -> None:
            while not ended.wait(_AGAIN_SECONDS):
                if work is not None and work.abandoned:
                    session.cancel()

        with self._session(seconds) as session:
            session.connection.execute(f"SET LOCAL statement_timeout = {int(seconds * 1000)}")
            watcher = Thread(target=watch, args=(session,), name="adomnia public rows", daemon=True)
            watcher.start()
            try:
                yield session.connection
            finally:
                ended.set()
                watcher.join()  # nobody cancels what another runs

    def has_kept(self) -> bool:
        """Whether there are connections that were used before, and may have been lost since."""
        return bool(self._free)

    def close(self) -> None:
        """Cancel what runs, and let go of all connections; those that are at work go when their statements end."""
        with self._lock:
            self.closed = True
            free, busy = list(self._free), list(self._busy)
            self._free.clear()
        for session in free:
            session.connection.close()
        for session in busy:
            session.cancel()

    def _take(self, seconds: float | None) -> BoundedConnection:
        with self._lock:
            if self.closed:
                raise Failure()
            session = self._free.pop() if self._free else None
        session = session or BoundedConnection(self._connect())
        session.connection.read_only = True
        session.latest = inf if seconds is None else monotonic() + seconds + GRACE_SECONDS
        with self._lock:
            self._busy.add(session)
        return session

    def _give_back(self, session: BoundedConnection) -> None:
        usable = session.end()
        with self._lock:
            self._busy.discard(session)
            if usable and not self.closed:
                self._free.append(session)
                return
        session.connection.close()
