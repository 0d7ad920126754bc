"""Connections to PostgreSQL: how one is named, opened, and what may be said of it when it fails.

A URL names a service, a host or a socket, and never a password: that is for the environment (PGPASSWORD), a password
file (PGPASSFILE, ~/.pgpass) or a service file. What the driver says of an error is shown to nobody: it may quote rows,
statements and passwords.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from math import ceil
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

from adomnia.errors import Refusal, Unavailable, install_extra

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping
    from types import ModuleType

    import psycopg
    from psycopg.pq.abc import PGconn

SCHEMES = ("postgresql://", "postgres://")
_CONNECT_SECONDS = 10
_LONGEST_NAME = 63  # of a schema
_Result = TypeVar("_Result")
_SECRETS = {"password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"}
_READ_BACK = "SELECT name, setting FROM pg_catalog.pg_settings WHERE name = ANY(%s)"
_ASKING_SECONDS = 15.0  # for what every server answers at once


def is_url(source: str) -> bool:
    """Whether a source is in PostgreSQL.

    >>> is_url("postgresql:///hospital?service=main"), is_url("people.parquet")
    (True, False)
    """
    return source.lower().startswith(SCHEMES)


def check_url(url: str, what: str) -> None:
    """Refuse a URL that cannot be one, or that has a password in it; the message does not repeat it."""
    fix = "write postgresql://user@host:5432/database, or postgresql:///?service=NAME"
    try:
        parts = urlsplit(url)
        secret = parts.password is not None or _SECRETS & {name.lower() for name, _ in parse_qsl(parts.query)}
        _ = parts.port
    except ValueError:
        raise Refusal(what, "is no URL of PostgreSQL", fix) from None
    # A password with a / or ? in it ends the host before the @, and would be told as a port, a database or a name.
    if not is_url(url) or parts.fragment or "@" in parts.path + parts.query:
        raise Refusal(what, "is no URL of PostgreSQL", fix)
    if secret:
        why = "has a password in it, and whoever reads the catalog would have it too"
        raise Refusal(what, why, "remove it, and keep it in a password file (PGPASSFILE, ~/.pgpass) or in PGPASSWORD")


def describe(url: str) -> str:
    """What a message may say of where a connection leads: its host and database, or its service.

    >>> describe("postgresql://alice@db.example.org:5433/hospital")
    'PostgreSQL at db.example.org:5433, database hospital'
    """
    parts = urlsplit(url)
    told = dict(parse_qsl(parts.query))
    if "service" in told:
        return f"PostgreSQL, service {told['service']}"
    place = parts.netloc.rpartition("@")[2] or "this machine"
    database = parts.path.lstrip("/") or told.get("dbname", "")
    return f"PostgreSQL at {place}" + (f", database {database}" if database else "")


def usual_schema(dataset: str) -> str:
    """The schema of the ledger of a dataset whose catalog names none.

    >>> usual_schema("Hospital")
    'adomnia_hospital'
    """
    return f"adomnia_{dataset.lower()}"[:_LONGEST_NAME]


def driver() -> ModuleType:
    """The module `psycopg`, or a Refusal that says how to install it."""
    try:
        import psycopg
    except ImportError:
        fix = install_extra("postgres")
        raise Refusal("PostgreSQL", "needs the package psycopg, which is not installed", fix) from None
    return psycopg


def connect(
    url: str,
    *,
    program: str,
    settings: Mapping[str, str] | None = None,
    autocommit: bool = False,
    patience_seconds: float | None = None,
) -> psycopg.Connection[Any]:
    """A connection with these settings of the server from its first statement on; an Unavailable where there is none.

    It notices within seconds that the other side is gone. With `patience_seconds` it also waits for no statement longer
    than that, even where the other side is there and says nothing; after such an error it has to be closed.
    """
    module = driver()
    logging.getLogger("psycopg").disabled = True  # what it says of lost connections is not ours to tell
    options = " ".join(f"-c {name}={_escape(value)}" for name, value in (settings or {}).items())
    watched = {"keepalives": 1, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
    try:
        connection: psycopg.Connection[Any] = module.connect(
            url,
            autocommit=autocommit,
            application_name=program,
            options=options,
            connect_timeout=_CONNECT_SECONDS if patience_seconds is None else max(2, ceil(patience_seconds)),
            **watched,
        )
    except module.Error as error:  # out of here nothing carries it: its words may have the password
        why, fix = _explain_refused(error.pgconn)
    else:
        if patience_seconds is not None:
            _limit_waiting(connection, patience_seconds)
        return connection
    raise Unavailable(describe(url), why, fix)


def _explain_refused(failed: PGconn | None) -> tuple[str, str]:
    """Why there is no connection, as far as it can be told without the words of the server, and what to do."""
    kept = "PGPASSFILE, ~/.pgpass or PGPASSWORD"
    if failed is not None and failed.needs_password:
        fix = f"write it into {kept}, with host, port, database and role as in the URL"
        return "asks for a password, and there is none for this role", fix
    if failed is not None and failed.used_password:
        fix = f"see that its password in {kept} is right, and that the database is there and lets it CONNECT"
        return "does not let this role in", fix
    if failed is not None and b"FATAL" in failed.error_message:  # the server itself has spoken
        fix = "see that role and database are there, that pg_hba.conf lets it in, and that connections are left"
        return "does not let this role in", fix
    return "cannot be reached", "see that the server runs, and that host, port and sslmode of the URL are right"


def check_settings(connection: psycopg.Connection[Any], url: str, wanted: Mapping[str, str]) -> None:
    """A Refusal where a setting is not in force, written as pg_settings has it: something took it away, or has others.

    The environment and the URL may name some (PGTZ, client_encoding), and a pooler may drop all of them.
    """
    module = driver()
    try:
        with module.Cursor(connection) as cursor:
            found = dict(cursor.execute(_READ_BACK, [list(wanted)]).fetchall())
        connection.rollback()
    except module.Error:
        found = None  # out of here the error carries no cause
    if found is None:
        raise Unavailable(describe(url), "ended the connection", "see that the server runs, and try again")
    for name, value in wanted.items():
        if found.get(name) != value:
            why = f"does not keep the setting {name} of a connection"
            fix = (
                "remove it from the URL and from the environment (PGTZ, PGDATESTYLE, PGCLIENTENCODING), and connect to "
                "the server itself or to a pooler that keeps sessions"
            )
            raise Refusal(describe(url), why, fix)


@contextmanager
def asking(connection: psycopg.Connection[Any]) -> Iterator[None]:
    """For what every server answers at once: one that says nothing is waited for some seconds, and no longer."""
    wait = connection.wait
    _limit_waiting(connection, _ASKING_SECONDS)
    try:
        yield
    finally:
        connection.wait = wait  # type: ignore[method-assign]


def _limit_waiting(connection: psycopg.Connection[Any], patience_seconds: float) -> None:
    """Put an end to the waiting of a connection."""
    wait = connection.wait

    def wait_patiently(steps: Generator[Any, Any, _Result], *rest: float | None, **options: float | None) -> _Result:
        limited: _Result = wait(_end_waiting(steps, monotonic() + patience_seconds), *rest, **options)  # type: ignore[arg-type]
        return limited

    connection.wait = wait_patiently  # type: ignore[assignment, method-assign]


def _end_waiting(steps: Generator[Any, Any, _Result], until: float) -> Generator[Any, Any, _Result]:
    """The same steps of waiting, which the driver takes about ten times a second, until a moment and no longer."""
    try:
        wanted = next(steps)
        while True:
            ready = yield wanted
            if not ready and monotonic() > until:
                raise driver().OperationalError
            wanted = steps.send(ready)
    except StopIteration as end:
        result: _Result = end.value
        return result


def _escape(value: str) -> str:
    """A value as libpq's `options` take it."""
    return value.replace("\\", "\\\\").replace(" ", "\\ ")
