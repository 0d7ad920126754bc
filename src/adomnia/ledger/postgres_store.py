"""The store in PostgreSQL: one writer at a time over all machines, and what is told as done is on the server's disk.

docs/proofs/ledger.md, section 11, says why: a lock of the transaction orders all writers, and an answer to COMMIT that
does not come is found out under the same lock.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from time import monotonic, sleep
from typing import TypeVar

from adomnia import postgres
from adomnia.errors import Unavailable
from adomnia.ledger.chain import GENESIS, Anchor, Head, damage_refusal
from adomnia.ledger.failpoints import failpoint
from adomnia.ledger.journal import is_on_chain
from adomnia.ledger.postgres_records import PostgresRecords
from adomnia.ledger.postgres_schema import (
    UNREACHABLE,
    Connection,
    check_server,
    create_tables,
    find_format,
    is_late,
    is_lost,
    lock_number,
    translate_errors,
)
from adomnia.ledger.records import StoreError, Wanted
from adomnia.ledger.schema import empty_refusal

_WAIT_SECONDS = 20.0  # for any reply of the server; then the connection is given up
_LOCK_SECONDS = 5  # for other writers
# Of a writer that hangs while others have waited for the lock in vain: then it loses it. Less than they wait, so that
# one wait is enough. One that is slow and keeps nobody waiting has more time.
_HUNG_SECONDS = 3
_IDLE_SECONDS = 10
_SETTLE_SECONDS = 10.0  # to find out whether a COMMIT without a reply was done
_SETTLE_PAUSE = 0.2
_LONGEST_NAME = 63  # bytes of an application_name
_Result = TypeVar("_Result")
_SETTINGS = {
    "synchronous_commit": "on",
    "lock_timeout": f"{_LOCK_SECONDS}s",
    "statement_timeout": "0",  # one that is cut off while COMMIT waits for a standby would be told as done
    "idle_in_transaction_session_timeout": "0",  # of readers, who lock nothing; writers have less
    "search_path": "pg_catalog",
    "client_encoding": "UTF8",
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "off",
    # A machine that lost its power, or its way here, is noticed in half a minute, whatever the server does by itself.
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "20000",
}
# Who has a lock and has waited long for its own client, counted from the end of its last statement: the beginning of
# that would count the wait for the lock. Between two messages of one round trip no timeout of the server counts, and
# the machine of a process that was stopped goes on answering for it.
_END_HUNG = """
    SELECT pg_catalog.pg_terminate_backend(held.pid)
    FROM pg_catalog.pg_locks AS held JOIN pg_catalog.pg_stat_activity AS holder ON holder.pid = held.pid
    WHERE held.locktype = 'advisory' AND held.granted AND held.objsubid = 1
        AND held.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
        AND (held.classid::bigint << 32 | held.objid::bigint) = ANY(%s::bigint[])
        AND holder.wait_event_type = 'Client'
        AND holder.state_change < pg_catalog.clock_timestamp() - pg_catalog.make_interval(secs => %s)
"""


def name_program(schema: str) -> str:
    """What a connection for a ledger says that it is."""
    return f"adomnia ledger {schema}"[:_LONGEST_NAME]


def connect(url: str, schema: str, **more: str) -> Connection:
    """A connection for a ledger, which waits for no reply for ever."""
    try:
        connection = postgres.connect(url, program=name_program(schema), settings=_SETTINGS | more, autocommit=True)
    except Unavailable:
        raise StoreError("ConnectionFailed", UNREACHABLE) from None
    connection.wait = partial(connection.wait, timeout=_WAIT_SECONDS)  # type: ignore[method-assign]
    return connection


@contextmanager
def snapshot(connection: Connection, schemas: Sequence[str]) -> Iterator[list[PostgresRecords]]:
    """A view of some chains as they are now; it keeps nobody from writing."""
    with translate_errors(lambda: connection):
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield [PostgresRecords(connection, schema) for schema in schemas]
        connection.execute("ROLLBACK")


@dataclass(frozen=True)
class Chain:
    """One chain of a store: its schema, whose it is, the anchor that this machine has of it, and its name to others."""

    schema: str
    owner: str
    anchor: Anchor
    member: str


class PostgresStore:
    """A ledger in a schema of a database; another schema may hold the account that it shares with other datasets.

    The shared one comes last, here and wherever locks are taken: so nobody waits in a circle.
    """

    def __init__(self, url: str, *chains: Chain) -> None:
        self._url, self._chains = url, chains
        self._connection = self._connect()

    @property
    def shared(self) -> tuple[str, str]:
        """What the dataset is called in an account that it shares with others, and the name of that."""
        return self._chains[0].member, self._chains[-1].owner

    @property
    def anchors(self) -> list[Anchor]:
        """Those of all chains."""
        return [chain.anchor for chain in self._chains]

    def create(self) -> None:
        """Make anchor and tables of a new ledger; a machine that does not know an old one has to join it first."""
        failpoint("before-begin")
        with self._translate_errors():
            self._end_hung_and_retry(self._try_to_create)

    def _try_to_create(self) -> None:
        with self._connection.transaction():
            check_server(self._connection)
            for chain in self._chains:
                self._lock(chain)
                if find_format(self._connection, chain.schema, chain.owner):
                    self._check_joined(chain)
                else:
                    self._create(chain)
            failpoint("before-commit")

    def _create(self, chain: Chain) -> None:
        if not chain.anchor.exists():
            chain.anchor.create(GENESIS)
        if chain.anchor.read() != GENESIS:
            raise empty_refusal()
        create_tables(self._connection, chain.schema, chain.owner)

    def _check_joined(self, chain: Chain) -> None:
        if chain.anchor.exists():
            return
        if PostgresRecords(self._connection, chain.schema).find_newest() is not None:
            fix = (
                "run `adomnia ledger join DIR` on this machine; if it had an anchor before, find that file instead, "
                "because a join would hide that entries are missing"
            )
            raise damage_refusal(f"of {chain.owner} has entries, and this machine has no anchor of it", fix)
        chain.anchor.create(GENESIS)

    @contextmanager
    def write(self, since: Sequence[int] = (), wanted: Sequence[Wanted] = ()) -> Iterator[list[PostgresRecords]]:
        """The only write transaction there is, on any machine."""
        failpoint("before-begin")
        with self._translate_errors():
            parts = self._begin(since, wanted)
            try:
                yield parts
                failpoint("before-commit")
                self._commit(parts)
            except BaseException:
                with suppress(postgres.driver().Error):
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def read(self) -> Iterator[list[PostgresRecords]]:
        """A snapshot."""
        with snapshot(self._connection, [chain.schema for chain in self._chains]) as parts:
            yield parts

    def check_same(self) -> None:
        """The server answers for its own files."""

    def maintain(self) -> None:
        """The server keeps its log itself."""

    def reopen(self) -> None:
        """Connect anew; refuses if the ledger is not there any more."""
        self.close()
        self._connection = self._connect()
        with self._translate_errors():
            check_server(self._connection)
            for chain in self._chains:
                if not find_format(self._connection, chain.schema, chain.owner):
                    raise empty_refusal()

    def rewrite(self) -> None:
        """What the server shows is durable: it ends itself where a disk fails, and reads its log again."""

    def close(self) -> None:
        """End the connection; what it has not committed is undone."""
        self._connection.close()

    def _connect(self) -> Connection:
        return connect(self._url, self._chains[0].schema, idle_in_transaction_session_timeout=f"{_IDLE_SECONDS}s")

    def _translate_errors(self) -> AbstractContextManager[None]:
        return translate_errors(lambda: self._connection)

    def _lock(self, chain: Chain) -> None:
        """Wait for the turn of this transaction. What it sees from its next statement on is all that was written."""
        self._connection.execute("SELECT pg_catalog.pg_advisory_xact_lock(%s)", (lock_number(chain.schema),))

    def _begin(self, since: Sequence[int], wanted: Sequence[Wanted]) -> list[PostgresRecords]:
        """Begin; once more on a new connection if the old one was lost while nothing was asked of it."""
        begin = partial(self._try_to_begin, since, wanted)
        try:
            return self._end_hung_and_retry(begin)
        except postgres.driver().Error as error:
            if not is_lost(error, self._connection):
                raise
        self.reopen()
        return self._end_hung_and_retry(begin)

    def _try_to_begin(self, since: Sequence[int], wanted: Sequence[Wanted]) -> list[PostgresRecords]:
        try:
            return self._ask_ahead(since, wanted)
        except postgres.driver().Error as error:
            if not is_lost(error, self._connection):
                self._connection.execute("ROLLBACK")
            raise

    def _end_hung_and_retry(self, wait: Callable[[], _Result]) -> _Result:
        """Do what waits for the locks; once more if that was in vain, and sessions were ended that kept them."""
        try:
            return wait()
        except postgres.driver().Error as error:
            if not (is_late(error) and self._end_hung()):
                raise
        return wait()

    def _end_hung(self) -> bool:
        """End the sessions that keep a lock and ask for nothing: they commit no more. Gives whether there were any.

        Sessions of other roles are not ours to end.
        """
        numbers = [lock_number(chain.schema) for chain in self._chains]
        ended: list[object] = []
        with suppress(postgres.driver().Error):
            ended = self._connection.execute(_END_HUNG, (numbers, _HUNG_SECONDS)).fetchall()
        return len(ended) > 0

    def _ask_ahead(self, since: Sequence[int], wanted: Sequence[Wanted]) -> list[PostgresRecords]:
        """All in one round trip: the locks, what is new in the chains, and what is going to be looked up."""
        parts = [PostgresRecords(self._connection, chain.schema) for chain in self._chains]
        takes = []
        with self._connection.pipeline():
            self._connection.execute("BEGIN")
            for chain, records, first in zip(self._chains, parts, since, strict=True):
                self._lock(chain)
                takes.append(records.ask_ahead(first, wanted if records is parts[0] else ()))
        for take in takes:
            take()
        return parts

    def _commit(self, parts: Sequence[PostgresRecords]) -> None:
        """End the transaction; where no reply comes, find out how it ended."""
        try:
            with self._connection.pipeline():
                for records in parts:
                    records.flush()
                done = self._connection.execute("COMMIT")
        except postgres.driver().Error as error:
            if not is_lost(error, self._connection):
                raise
            name = type(error).__name__
        else:
            if done.statusmessage != "COMMIT":
                raise StoreError("InFailedSqlTransaction", UNREACHABLE)
            return
        written = [(records.schema, records.last) for records in parts if records.last is not None]
        if written and not self._settle(*written[0], name):
            raise StoreError(name, UNREACHABLE)

    def _settle(self, schema: str, head: Head, name: str) -> bool:
        """Find out whether a transaction that wrote `head` was committed, once it has come to its end.

        It had the lock until then: whoever has the lock now sees it, or will never see it.
        """
        deadline = monotonic() + _SETTLE_SECONDS
        while monotonic() < deadline:
            with suppress(StoreError, postgres.driver().Error):
                self.reopen()
                return self._end_hung_and_retry(partial(self._is_written, schema, head))
            sleep(_SETTLE_PAUSE)
        raise StoreError(name, UNREACHABLE, unwritten=False)

    def _is_written(self, schema: str, head: Head) -> bool:
        with self._connection.transaction(force_rollback=True):
            for chain in self._chains:
                self._lock(chain)
            return is_on_chain(PostgresRecords(self._connection, schema), head)
