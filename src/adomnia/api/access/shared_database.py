"""The tables of users in PostgreSQL, in a schema of the dataset's own, for servers on several hosts.

What one host revokes the others refuse from then on: nothing is remembered between two requests. No statement waits for
longer than `PATIENCE_SECONDS`, whatever has become of the other side, and after an error everybody is refused at once
for a moment instead of waiting in turn.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from hashlib import sha256
from select import POLLIN, poll
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any

from adomnia import postgres
from adomnia.api.access.database import AccessTransaction, Database, run_now
from adomnia.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import psycopg

    from adomnia.api.access.database import Clock

PATIENCE_SECONDS = 3.0
_REST_SECONDS = 0.5  # after an error nobody tries for so long
_LONGEST_NAME = 63  # of an identifier; PostgreSQL cuts off the rest without a word
_PREFIX = "adomnia-access-"  # with hyphens, which the schema of a ledger cannot have
_SETTINGS = {
    "synchronous_commit": "on",
    # A host that loses its power in a transaction keeps the others from theirs no longer than this.
    "idle_in_transaction_session_timeout": "2s",
    "statement_timeout": "2s",
    "lock_timeout": "2s",
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "off",
    "client_encoding": "UTF8",
}
_TABLES = (
    """CREATE TABLE users (
        name TEXT COLLATE "C" PRIMARY KEY, role TEXT NOT NULL, password TEXT, created DOUBLE PRECISION NOT NULL
    )""",
    """CREATE TABLE tokens (
        id TEXT PRIMARY KEY, "user" TEXT NOT NULL, digest BYTEA NOT NULL, label TEXT NOT NULL,
        created DOUBLE PRECISION NOT NULL, expires DOUBLE PRECISION, revoked BOOLEAN NOT NULL DEFAULT FALSE
    )""",
    """CREATE TABLE visits (
        id TEXT PRIMARY KEY, "user" TEXT NOT NULL, digest BYTEA NOT NULL, expires DOUBLE PRECISION NOT NULL,
        used DOUBLE PRECISION NOT NULL
    )""",
    """CREATE TABLE links (
        "user" TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, digest BYTEA NOT NULL, expires DOUBLE PRECISION NOT NULL
    )""",
    """CREATE TABLE attempts (
        id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at DOUBLE PRECISION NOT NULL, name BYTEA,
        address BYTEA NOT NULL
    )""",
    """CREATE TABLE shares (
        id TEXT PRIMARY KEY, "user" TEXT NOT NULL, digest BYTEA NOT NULL, request_id TEXT NOT NULL,
        created DOUBLE PRECISION NOT NULL
    )""",
    # After a crash it is empty, which hurts nobody, and so it needs no log.
    "CREATE UNLOGGED TABLE rates (key BYTEA PRIMARY KEY, due DOUBLE PRECISION NOT NULL)",
    "CREATE TABLE clock (latest DOUBLE PRECISION NOT NULL)",
    "INSERT INTO clock VALUES (0)",
    'CREATE INDEX tokens_of ON tokens ("user")',
    'CREATE INDEX visits_of ON visits ("user")',
    'CREATE INDEX shares_of ON shares ("user")',
    "CREATE INDEX attempts_on ON attempts (name)",
    "CREATE INDEX attempts_from ON attempts (address)",
    "CREATE INDEX rates_due ON rates (due)",
)
_NOW = "extract(epoch FROM statement_timestamp())"
_FORGET = f"DELETE FROM rates WHERE due < {_NOW}"  # noqa: S608 - our own text
# A bucket is kept as the time at which it will be full again: whoever takes tokens moves it on.
_TAKE = f"""
    INSERT INTO rates AS bucket (key, due) VALUES (%(key)s, {_NOW} + %(taken)s)
    ON CONFLICT (key) DO UPDATE SET due = greatest(bucket.due, {_NOW}) + %(taken)s
    WHERE greatest(bucket.due, {_NOW}) + %(taken)s <= {_NOW} + %(room)s
    RETURNING 1
"""  # noqa: S608 - our own text
_FORMAT = "Ad Omnia users 1"
_CODE = "access"
_WHAT, _RETRY = "The shared database", "try again in a moment; if it lasts, tell the owner"
_FIND = "find the cause in the log"
_GONE = ("08", "57P")  # classes of errors: of the connection, and of a server that stops or starts
_BUSY = {"55P03", "57014", "25P03", "53300"}  # a lock, a statement or an idle transaction took too long; no room
_TROUBLES = {
    "42501": ("does not let this role do that", "give the role the rights that docs/cluster.md names"),
    "42P01": ("has not the tables it was made with", "put back a backup of it"),
    "53100": ("has no room left on its disk", "free some space there, then try again"),
    "25006": ("may only be read: it is a copy of another", "name the one that takes writes"),
}
_log = logging.getLogger("adomnia.access")


def name_schema(dataset: str) -> str:
    """The schema of a dataset's users; a long name is shortened, and then told from others by a hash.

    >>> name_schema("hospital")
    'adomnia-access-hospital'
    """
    name = f"{_PREFIX}{dataset}"
    return name if len(name) <= _LONGEST_NAME else f"{name[:40]}_{sha256(dataset.encode()).hexdigest()[:20]}"


class SharedDatabase(Database):
    """The open tables, with a connection for transactions and one for single statements, which never wait for those.

    Each is opened again once it is lost.
    """

    def __init__(
        self, url: str, dataset: str, clock: Clock, defer: Callable[[Callable[[], None]], object] = run_now
    ) -> None:
        super().__init__(clock, defer)
        self._single, self._writer = (_Line(url, name_schema(dataset)) for _ in range(2))
        try:
            with self._writer.use() as connection:
                _create_tables(connection, name_schema(dataset))
        except BaseException:
            self._writer.close()
            raise

    def may_wait(self) -> bool:
        """Always: there is a network in between."""
        return True

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """All rows of a query, including what other hosts have committed."""
        with self._single.use() as connection:
            return connection.execute(_translate(statement), values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[AccessTransaction]:
        """A write transaction, the only one of all hosts: it holds the row of the clock."""
        with self._writer.use() as connection, _transaction(connection):

            def execute(statement: str, values: tuple[object, ...]) -> psycopg.Cursor[Any]:
                return connection.execute(_translate(statement), values)

            (latest,) = execute("SELECT latest FROM clock FOR UPDATE", ()).fetchone() or (0.0,)
            transaction = AccessTransaction(execute, self._clock.now(latest))
            transaction.run("UPDATE clock SET latest = ?", transaction.now)
            yield transaction

    def take_tokens(self, key: bytes, number: int, rate: float, burst: int) -> bool:
        """Take so many tokens from the bucket of a key, if it has them; `rate` a second fill it, up to `burst`.

        The time is the database's own, so that hosts whose clocks differ fill the same bucket.
        """
        values = {"key": key, "taken": number / rate, "room": burst / rate}
        with self._single.use() as connection:
            connection.execute(_FORGET)
            return connection.execute(_TAKE, values).fetchone() is not None

    def close(self) -> None:
        """Close both connections."""
        self._single.close()
        self._writer.close()


class _Line:
    """One connection, used by one thread at a time, and opened when it is needed and not there."""

    def __init__(self, url: str, schema: str) -> None:
        self._url, self._settings = url, {**_SETTINGS, "search_path": _name_path(schema)}
        self._lock, self._rests_until, self._ended = Lock(), 0.0, False
        self._connection: psycopg.Connection[Any] | None = None

    @contextmanager
    def use(self) -> Iterator[psycopg.Connection[Any]]:
        """The connection, for one thread; an Unavailable after any error of it."""
        with self._lock:
            if self._ended or monotonic() < self._rests_until:
                raise _away()
            try:
                yield self._open()
            except postgres.driver().Error as error:
                told = self._give_up(error)
            else:
                return
        raise told  # out of here it has no cause, whose words may quote anything

    def close(self) -> None:
        with self._lock:
            self._ended = True
            self._drop()

    def _open(self) -> psycopg.Connection[Any]:
        if self._connection is not None and (self._connection.closed or _has_news(self._connection)):
            self._drop()
        if self._connection is None:
            try:
                self._connection = postgres.connect(
                    self._url,
                    program="adomnia access",
                    settings=self._settings,
                    autocommit=True,
                    patience_seconds=PATIENCE_SECONDS,
                )
            except Unavailable:
                self._rests_until = monotonic() + _REST_SECONDS
                _log.error("The shared database cannot be reached.")
                raise _away() from None
        return self._connection

    def _give_up(self, error: psycopg.Error) -> Unavailable:
        """Close the connection, whose state nobody knows; what to tell callers."""
        self._drop()
        _log.error("The shared database is in trouble: %s", type(error).__name__)
        if error.sqlstate in _BUSY:
            return Unavailable(_WHAT, "is busy", _RETRY, code="busy")
        if error.sqlstate is None or error.sqlstate.startswith(_GONE):
            self._rests_until = monotonic() + _REST_SECONDS
            return _away()
        why, fix = _TROUBLES.get(error.sqlstate, ("cannot be used because of an error that only the log names", _FIND))
        return Unavailable(_WHAT, why, fix, code=_CODE)

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None


@contextmanager
def _transaction(connection: psycopg.Connection[Any]) -> Iterator[None]:
    """One transaction; after an error of the connection there is nothing to undo, for it is closed."""
    connection.execute("BEGIN")
    try:
        yield
    except postgres.driver().Error:
        raise
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _create_tables(connection: psycopg.Connection[Any], schema: str) -> None:
    """Create schema and tables, once for all hosts; refuse a schema that is not ours or of another format."""
    if connection.execute("SELECT pg_catalog.current_setting('search_path')").fetchone() != (_name_path(schema),):
        fix = "let the URL lead to PostgreSQL itself"  # or the users of one dataset would be those of another
        raise Unavailable(_WHAT, "is behind a pooler that does not pass on settings", fix, code=_CODE)
    with _transaction(connection):
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [schema])
        found = connection.execute(
            "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = %s", [schema]
        ).fetchone()
        if found is None:
            connection.execute(f'CREATE SCHEMA "{schema}"')
            for statement in (*_TABLES, f"COMMENT ON SCHEMA \"{schema}\" IS '{_FORMAT}'"):
                connection.execute(statement)
    if found is not None and found[0] != _FORMAT:
        fix = "use the version that made it, or another database"
        raise Unavailable(_WHAT, "has users in a form that this version does not know", fix, code=_CODE)


def _name_path(schema: str) -> str:
    """Where the tables of a dataset are looked for, and made."""
    return f'"{schema}",pg_catalog,pg_temp'


def _has_news(connection: psycopg.Connection[Any]) -> bool:
    """Whether something arrived while nobody asked: that the other side has ended."""
    watch = poll()  # not select, which takes no number above 1,023
    watch.register(connection.fileno(), POLLIN)
    return bool(watch.poll(0))


def _translate(statement: str) -> str:
    return statement.replace("?", "%s")


def _away() -> Unavailable:
    return Unavailable(_WHAT, "cannot be reached", _RETRY, code=_CODE)
