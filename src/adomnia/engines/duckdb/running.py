"""The statements that run: one thread watches all of them, and interrupts what takes too long."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, Event, Thread
from time import monotonic

import duckdb

from adomnia.errors import Failure
from adomnia.work import current

_AGAIN_SECONDS = 0.05  # an interrupt that comes between two steps of a statement is forgotten, and has to be repeated


class Running:
    """Gives every statement a cursor of its own, and knows which are at work and since when."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, seconds: float | None) -> None:
        self._connection = connection
        self._started: dict[duckdb.DuckDBPyConnection, float] = {}  # the oldest first
        self._changed, self._closed = Condition(), False
        self._watcher: Thread | None = None  # and no thread that is not needed: it would keep an engine that is dropped
        if seconds is not None:
            self._watcher = Thread(target=self._watch, args=(seconds,), name="adomnia statements", daemon=True)
            self._watcher.start()

    @contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor for one statement, which fails if it takes too long or the engine is closed meanwhile."""
        with self._changed:
            if self._closed:
                raise Failure()
            cursor = self._connection.cursor()
            self._started[cursor] = monotonic()
            self._changed.notify_all()
        try:
            yield cursor
        finally:
            # Under the lock: nobody interrupts a cursor that is closed, and the connection outlives all of them.
            with self._changed:
                del self._started[cursor]
                cursor.close()
                self._changed.notify_all()

    @contextmanager
    def brief(self, seconds: float) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor for what nobody pays for: it ends after so many seconds, or when nobody waits for it any more."""
        work, ended = current(), Event()

        def end(cursor: duckdb.DuckDBPyConnection) -> None:
            latest = monotonic() + seconds
            while not ended.wait(_AGAIN_SECONDS):
                if monotonic() >= latest or (work is not None and work.abandoned):
                    cursor.interrupt()

        with self.cursor() as cursor:
            watcher = Thread(target=end, args=(cursor,), name="adomnia public rows", daemon=True)
            watcher.start()
            try:
                yield cursor
            finally:
                ended.set()
                watcher.join()  # nobody interrupts a cursor that is closed

    def close(self) -> None:
        """Interrupt what runs, wait until all of it has ended, and let go of the connection."""
        with self._changed:
            self._closed = True
            while self._started:
                self._interrupt(len(self._started))
                self._changed.wait(_AGAIN_SECONDS)
            self._connection.close()
            self._changed.notify_all()
        if self._watcher is not None:
            self._watcher.join()

    def _watch(self, seconds: float) -> None:
        with self._changed:
            while not self._closed:
                self._changed.wait(self._interrupt_late(seconds))

    def _interrupt_late(self, seconds: float) -> float | None:
        """Interrupt what has run too long; in how many seconds to look again, if there is anything to look for."""
        ages = [monotonic() - start for start in self._started.values()]
        late = sum(age >= seconds for age in ages)
        self._interrupt(late)
        if late:
            return _AGAIN_SECONDS
        return seconds - ages[0] if ages else None

    def _interrupt(self, count: int) -> None:
        for cursor in list(self._started)[:count]:
            cursor.interrupt()
