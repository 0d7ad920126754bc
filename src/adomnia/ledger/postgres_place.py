"""A ledger in PostgreSQL: the URL of a database, a schema in it, and the anchor that this machine has of it.

Turns over all machines are advisory locks of one session for each process, which end with it.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from time import monotonic, sleep

from adomnia.errors import Unavailable
from adomnia.ledger.audit import examine
from adomnia.ledger.chain import GENESIS, Anchor, Head, digest
from adomnia.ledger.failpoints import failpoint
from adomnia.ledger.files import in_use_refusal
from adomnia.ledger.postgres_records import PostgresRecords, load_copy
from adomnia.ledger.postgres_schema import (
    UNREACHABLE,
    Connection,
    check_schema_name,
    check_server,
    find_format,
    lock_number,
    translate_errors,
)
from adomnia.ledger.postgres_store import Chain, PostgresStore, connect, name_program, snapshot
from adomnia.ledger.records import StoreError
from adomnia.ledger.schema import explain_errors
from adomnia.postgres import check_url, driver, usual_schema

SHARED_ANCHORED = "lifetime.postgres"
ANCHORED = "ledger.postgres"  # what this machine calls the ledger: the file beside it is its anchor

_OTHERS = """SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE datname = pg_catalog.current_database()
             AND (application_name = %s OR %s AND pg_catalog.starts_with(application_name, %s))
             AND pid <> pg_catalog.pg_backend_pid()"""
_ENDING_SECONDS, _ENDING_PAUSE = 2.0, 0.02  # the server may know a session that has just ended for a moment longer
_MOST_IDLE = 4  # connections that are kept for the next reader
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


@dataclass(frozen=True)
class PostgresPlace:
    """Where a ledger is that many machines share. `folder` is this machine's, and holds its anchor.

    `lifetime` is the name of an account that several datasets of the database share, if this one does.
    """

    url: str
    schema: str
    dataset: str
    folder: Path
    lifetime: str | None = None
    anchored: str = ANCHORED

    def __post_init__(self) -> None:
        check_url(self.url, "url of [ledger]")
        check_schema_name(self.schema)

    @property
    def anchor(self) -> Anchor:
        return Anchor(self.folder / self.anchored)

    def exists(self) -> bool:
        """Whether the ledger was made; refuses a schema that is no ledger, or another dataset's."""
        with self._connected() as connection:
            return find_format(connection, self.schema, self.dataset)

    @property
    def member(self) -> str:
        """What the dataset is called in an account that it shares: two of one name are told apart by their schemas."""
        return self.dataset if self.schema == usual_schema(self.dataset) else f"{self.dataset} in {self.schema}"

    @property
    def shared(self) -> "PostgresPlace | None":
        """Where the shared account is: a ledger of its own, in which datasets are what analysts are in theirs."""
        if self.lifetime is None:
            return None
        schema = f"adomnia_lifetime_{digest(self.lifetime.encode())[:16]}"  # its name may hold any character
        return PostgresPlace(self.url, schema, self.lifetime, self.folder, anchored=SHARED_ANCHORED)

    def open_store(self) -> PostgresStore:
        places = [self] if self.shared is None else [self, self.shared]
        return PostgresStore(self.url, *(Chain(each.schema, each.dataset, each.anchor, each.member) for each in places))

    def open_reader(self) -> "PostgresReader":
        return PostgresReader(self)

    def open_locks(self) -> PostgresLocks:
        return PostgresLocks(self.url, self.schema)

    def check_unused(self) -> None:
        """Refuse while a session of this role is known to use it. One that is overlooked notices, and pays no more.

        An account that datasets share is used by whoever has any of them open, and perhaps by nobody else in its name.
        """
        names = name_program(self.schema), self.anchored == SHARED_ANCHORED, name_program("")
        deadline = monotonic() + _ENDING_SECONDS
        with self._connected() as connection:
            while connection.execute(_OTHERS, names).fetchone() != (0,):
                if monotonic() > deadline:
                    raise in_use_refusal()
                sleep(_ENDING_PAUSE)

    def take_over(self, draft: Path, saved: Head) -> None:
        """Load the file into a new schema; the old one is renamed. The anchor remembers entries all the time."""
        if not self.anchor.exists():
            self.anchor.create(saved)
        with self._connected() as connection, connection.transaction():
            check_server(connection)
            load_copy(connection, self.schema, self.dataset, draft)
        failpoint("draft-moved")
        self.anchor.create(Anchor(draft).read())

    def join(self) -> Head:
        """Let this machine know the ledger as it is now, all of which is examined; gives its head.

        A machine that knows it already finds out whether it is still the same. A shared account is joined as well.
        """
        if self.shared is not None:
            self.shared.join()
        with explain_errors():
            if not self.exists():
                return GENESIS  # whoever opens it first makes it
        with explain_errors(), closing(self.open_reader()) as reader:
            known = self.anchor.read() if self.anchor.exists() else None
            with reader.snapshot() as records:
                head = examine(records, known or GENESIS)
            if known is None:
                self.folder.mkdir(exist_ok=True)
                self.anchor.create(head)
        return head

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        connection = connect(self.url, self.schema)
        with closing(connection), translate_errors(lambda: connection):
            yield connection


class PostgresReader:
    """Snapshots of a ledger, each on a connection of its own; a few are kept for the next ones."""

    def __init__(self, place: PostgresPlace) -> None:
        self._place = place
        self._idle: list[Connection] = []

    @contextmanager
    def snapshot(self) -> Iterator[PostgresRecords]:
        """The ledger as it is now."""
        connection = self._take()
        try:
            with snapshot(connection, [self._place.schema]) as (records,):
                yield records
        except BaseException:
            connection.close()
            raise
        if len(self._idle) < _MOST_IDLE:
            self._idle.append(connection)
        else:
            connection.close()

    def _take(self) -> Connection:
        """A connection that is alive, as far as one can know."""
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:  # not asked before: another thread may take the last one
                return connect(self._place.url, self._place.schema)
            try:
                connection.execute("")
            except driver().Error:
                connection.close()
                self.close()  # the others are as old, and each would be waited for
            else:
                return connection

    def close(self) -> None:
        """End the connections that nobody uses."""
        while self._idle:
            self._idle.pop().close()
