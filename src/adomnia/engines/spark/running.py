"""The statements that run in a session: each has a tag by which it is interrupted when it takes too long.

A session that was lost is opened anew, and a statement is never asked a second time.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from threading import Event, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, TypeVar
from uuid import uuid4

import pyarrow as pa

from adomnia.engines.contract import Statement
from adomnia.errors import Failure
from adomnia.work import Work, current

if TYPE_CHECKING:
    from adomnia.engines.spark.session import PinnedSession

GRACE_SECONDS = 5.0  # in which Spark ends a statement that took too long; after them we do not wait for it
_OPENING_SECONDS = 60.0
_TRIES = 3  # of a session that is there and does not answer: a server that opens them and hangs is not there
_AGAIN_SECONDS = 0.05  # an interrupt that comes before a statement has begun is forgotten, and has to be repeated

_Done = TypeVar("_Done")


@dataclass(frozen=True, eq=False)
class Asked:
    """A statement that runs: in which session, under which tag, and whether it has ended."""

    own: "PinnedSession"
    tag: str = field(default_factory=lambda: f"adomnia-{uuid4().hex}")
    ended: Event = field(default_factory=Event)

    def run(self, statement: Statement, most: int | None) -> pa.Table:
        """Its result."""
        bound = {f"p{place}": text for place, text in enumerate(statement.parameters, start=1)}
        self.own.tag(self.tag)
        try:
            rows = self.own.session.sql(statement.text, args=bound)
            return (rows if most is None else rows.limit(most)).toArrow()
        finally:
            self.own.untag(self.tag)

    def interrupt(self) -> None:
        """End it, without waiting for a server that does not answer."""
        Thread(target=self._interrupt, name="adomnia interrupt", daemon=True).start()

    def _interrupt(self) -> None:
        while not self.ended.wait(_AGAIN_SECONDS):
            self.own.interrupt(self.tag)


class SparkStatements:
    """Runs statements for many threads in one session, and knows which are at work."""

    def __init__(self, connect: Callable[[], "PinnedSession"], seconds: float | None) -> None:
        self._connect, self._seconds = connect, seconds
        self._own = connect()
        self._lock, self._opening = Lock(), Lock()
        self._asked, self._closed = set[Asked](), False
        self._lost: list[PinnedSession] = []  # that may be in use still

    def fetch(self, statement: Statement) -> pa.Table:
        """The result of a statement, which fails if it takes too long or the session is closed meanwhile."""
        return self._fetch(statement, self._seconds)

    def fetch_brief(self, statement: Statement, most: int, seconds: float) -> pa.Table:
        """The first rows of what nobody pays for: it ends after so many seconds, or when nobody waits any more."""
        return self._fetch(statement, seconds, most, current())

    def is_there(self, seconds: float) -> bool:
        """Whether Spark answers; a session that was lost is opened anew, where that is possible."""
        for _ in range(_TRIES):
            own = self._own
            with suppress(Exception):
                finish(lambda own=own: own.session.sql("SELECT 1"), seconds)  # type: ignore[misc]
                return not self._closed
            if not self._renew(own):
                return False
        return False

    def can_go_on(self, seconds: float) -> bool:
        """Whether Spark answers or may do so again: a server elsewhere comes back, a Java of this process does not."""
        return not self._closed and (not self._own.is_local or self.is_there(seconds))

    def close(self) -> None:
        """Interrupt what runs, wait until it has ended, and end the session."""
        with self._lock:
            self._closed, left = True, list(self._asked)
        for asked in left:
            asked.interrupt()
        latest = monotonic() + GRACE_SECONDS
        for asked in left:
            asked.ended.wait(max(0.0, latest - monotonic()))
        with self._lock:
            lost, self._lost = self._lost, []
        _close_soon(lost)
        with self._opening:
            self._own.close()

    def _renew(self, lost: "PinnedSession") -> bool:
        """Take another session in the place of one that is lost, unless another thread did."""
        with self._opening:
            if self._closed:
                return False
            if self._own is not lost:
                return True
            with suppress(Exception):
                found = finish(self._connect, _OPENING_SECONDS)
                with self._lock:
                    self._own = found
                    self._lost.append(lost)
                self._close_lost()
                return True
        return False

    def _close_lost(self) -> None:
        """Close the lost sessions in which nothing runs: one that was only slow may still answer what was paid for."""
        with self._lock:
            used = [asked.own for asked in self._asked]
            idle = [own for own in self._lost if own not in used]
            self._lost = [own for own in self._lost if own in used]
        _close_soon(idle)

    def _fetch(
        self, statement: Statement, seconds: float | None, most: int | None = None, work: Work | None = None
    ) -> pa.Table:
        with self._lock:
            if self._closed:
                raise Failure()
            asked = Asked(self._own)
            self._asked.add(asked)
        try:
            if seconds is None:
                return asked.run(statement, most)
            return finish(lambda: asked.run(statement, most), seconds, asked.interrupt, work)
        finally:
            asked.ended.set()
            with self._lock:
                self._asked.remove(asked)
            self._close_lost()


def _close_soon(lost: "list[PinnedSession]") -> None:
    """End sessions without waiting for a server that hangs."""
    for own in lost:
        with suppress(Failure):
            finish(own.close, GRACE_SECONDS)


def finish(
    do: Callable[[], _Done], seconds: float, interrupt: Callable[[], None] | None = None, work: Work | None = None
) -> _Done:
    """What something gives; a Failure where it fails or does not end in time, or nobody waits for it any more.

    It is done in a thread of its own: a server that hangs keeps no promise of ours.
    """
    done, ended = list[_Done](), Event()

    def run() -> None:
        try:
            with suppress(Exception):  # whose words may quote a row
                done.append(do())
        finally:
            ended.set()

    Thread(target=run, name="adomnia statement", daemon=True).start()
    latest, given_up = monotonic() + seconds, inf
    while not ended.wait(_AGAIN_SECONDS):
        now = monotonic()
        if given_up == inf and (now >= latest or (work is not None and work.abandoned)):
            given_up = now
            if interrupt is not None:
                given_up += GRACE_SECONDS
                interrupt()
        if now >= given_up:
            break
    if not done:
        raise Failure()
    return done[0]
