"""Turns over all machines: advisory locks of one session for each process, which end with it."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from time import monotonic, sleep

from adomnia.errors import Unavailable
from adomnia.ledger.postgres_errors import UNREACHABLE, translate_errors
from adomnia.ledger.postgres_schema import Connection, lock_number
from adomnia.ledger.postgres_store import connect
from adomnia.ledger.records import StoreError

__all__ = ["PostgresLocks"]

_FIRST_PAUSE, _LONGEST_PAUSE = 0.001, 0.05  # seconds between two tries
_PATIENCE_SECONDS = 300.0  # with a holder that never ends: a process may be stopped, and its session stays
_REST_SECONDS = 0.5  # after an error everybody who waited behind it is told at once, and not one by one


class PostgresLocks:
    """Locks of subjects against all other processes that use the ledger, on any machine.

    To the server all threads of this process are one: they take turns by other means.
    """

    def __init__(self, url: str, schema: str) -> None:
        self._url, self._schema = url, schema
        self._connection: Connection | None = None
        self._guard, self._rests_until = Lock(), 0.0

    @contextmanager
    def hold(self, number: int) -> Iterator[None]:
        """Wait for the lock, and hold it. Waiting in the server would keep the session from all other threads."""
        place, pause = lock_number(self._schema, "turn", str(number)), _FIRST_PAUSE
        deadline = monotonic() + _PATIENCE_SECONDS
        while not self._ask("SELECT pg_catalog.pg_try_advisory_lock(%s)", place):
            if monotonic() > deadline:
                why = "is kept waiting by somebody who does the same elsewhere, and does not end"
                raise Unavailable("The ledger", why, "ask again in a moment; if it lasts, tell the owner", code="busy")
            sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        try:
            yield
        finally:
            with suppress(StoreError):  # a session that is lost has lost its locks
                self._ask("SELECT pg_catalog.pg_advisory_unlock(%s)", place)

    def close(self) -> None:
        """End the session."""
        with self._guard:
            self._end()

    def _ask(self, statement: str, place: int) -> bool:
        """Ask; once more in a new session if the old one was lost, and other locks of this process with it."""
        with self._guard:
            if monotonic() < self._rests_until:
                raise StoreError("ConnectionFailed", UNREACHABLE)
            with suppress(StoreError):
                return self._try_to_ask(statement, place)
            self._end()
            try:
                return self._try_to_ask(statement, place)
            except StoreError:
                self._end()  # it may have got the lock, and nobody would ever give that up
                self._rests_until = monotonic() + _REST_SECONDS
                raise

    def _try_to_ask(self, statement: str, place: int) -> bool:
        connection = self._connection = self._connection or connect(self._url, self._schema)
        with translate_errors(lambda: connection):
            return bool(connection.execute(statement, (place,)).fetchone()[0])

    def _end(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None
