"""Hosts that share a ledger agree on what they serve: one catalog, and for each version one set of data and one key.

Each host has its own copy of the catalog, of the files and of the key by which the index orders rows. With another key,
or other files, equal questions would count other rows; with an older catalog, budgets would be those of the day before.
So what is served is recorded in the database of the ledger, and a host that comes with something else is refused. The
record has hashes only, and those of data are made with the key, which is not there: nobody can try out guesses on them.
"""

from __future__ import annotations

import hmac
import json
import logging
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from adomnia import postgres
from adomnia.catalog.read import FILE
from adomnia.errors import Refusal, Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import psycopg

    from adomnia.catalog.model import Catalog

_SECONDS = 10
_CODE = "disagreement"
_TABLE = """
    CREATE TABLE "adomnia-hosts".catalogs (
        number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, dataset TEXT NOT NULL, version INTEGER NOT NULL,
        text TEXT NOT NULL, key TEXT NOT NULL, data TEXT NOT NULL, since TIMESTAMPTZ NOT NULL DEFAULT now(),
        UNIQUE (dataset, text)
    )
"""
_INSERT = 'INSERT INTO "adomnia-hosts".catalogs (dataset, version, text, key, data) VALUES (%s, %s, %s, %s, %s)'
_SELECT = 'SELECT version, text, key, data FROM "adomnia-hosts".catalogs WHERE dataset = %s ORDER BY number'
_DELETE = 'DELETE FROM "adomnia-hosts".catalogs WHERE dataset = %s AND text = %s'
_log = logging.getLogger("adomnia.hosts")


@dataclass(frozen=True)
class Deployment:
    """What a host would serve: hashes of the text of its catalog, of the key of its index, and of its data by table."""

    dataset: str
    version: int
    text: str
    key: str = ""
    data: Mapping[str, str] | None = None


def describe_deployment(catalog: Catalog, state: Path) -> Deployment:
    """What this host would serve, once its engine is open; where the index is not in the folder, it has no key here."""
    key, record = _read(state / "index.key"), _read(state / "index.json")
    known = json.loads(record)["versions"].get(str(catalog.version), {}) if record else {}
    data = {table: _hash(key, f"data {table} {digest}") for table, digest in known.items()}
    text = sha256(_read(catalog.folder / FILE)).hexdigest()
    return Deployment(catalog.name, catalog.version, text, _hash(key, "key") if key else "", data)


@contextmanager
def agreeing(url: str, deployment: Deployment) -> Iterator[None]:
    """Record what a host is about to serve before its budgets are declared; a catalog that is refused then is no news.

    Else the one that all hosts serve would count as older than what none of them can.
    """
    is_new = agree(url, deployment)
    try:
        yield
    except Refusal:
        if is_new:
            with _open(url) as connection:
                connection.execute(_DELETE, [deployment.dataset, deployment.text])
        raise


def agree(url: str, deployment: Deployment) -> bool:
    """Record what a host is about to serve, and tell whether that is new.

    Refused is what does not go with what others serve, or served last.
    """
    with _open(url) as connection:
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('adomnia-hosts', 0))")
        if not _has_record(connection):
            connection.execute('CREATE SCHEMA IF NOT EXISTS "adomnia-hosts"')
            connection.execute(_TABLE)
        served = _list_served(connection, deployment.dataset)
        _check(deployment, served)
        is_new = not served or served[-1].text != deployment.text
        if is_new:
            values = (
                deployment.dataset,
                deployment.version,
                deployment.text,
                deployment.key,
                json.dumps(deployment.data),
            )
            connection.execute(_INSERT, values)
    return is_new


def check_current(url: str, catalog: Catalog) -> None:
    """Refuse a catalog that others have replaced; one that is newer than theirs is taken, and not recorded."""
    deployment = Deployment(catalog.name, catalog.version, sha256(_read(catalog.folder / FILE)).hexdigest())
    with _open(url) as connection:
        if _has_record(connection):
            _check_text(deployment, _list_served(connection, deployment.dataset))


@contextmanager
def _open(url: str) -> Iterator[psycopg.Connection[Any]]:
    """A transaction of the shared database; an Unavailable after any error of it, whose words are shown to nobody."""
    psycopg, limit = postgres.driver(), f"{_SECONDS}s"
    settings = {
        "statement_timeout": limit,
        "lock_timeout": limit,
        "idle_in_transaction_session_timeout": limit,
        "search_path": "pg_catalog,pg_temp",
        "default_transaction_isolation": "read committed",  # what is read after the lock is what others have recorded
        "default_transaction_read_only": "off",
    }
    try:
        connection = postgres.connect(url, program="adomnia hosts", settings=settings, patience_seconds=_SECONDS)
        with closing(connection):
            yield connection
            connection.commit()
    except (psycopg.Error, Unavailable) as error:
        _log.error("The record of what hosts serve is not available: %s", type(error).__name__)
    else:
        return
    fix = "see that it runs, and that its role has the rights that docs/cluster.md names"
    raise Unavailable("The shared database", "does not take the record of what is served", fix)


def _has_record(connection: psycopg.Connection[Any]) -> bool:
    return connection.execute("SELECT to_regclass('\"adomnia-hosts\".catalogs')").fetchone() != (None,)


def _list_served(connection: psycopg.Connection[Any], dataset: str) -> list[Deployment]:
    rows = connection.execute(_SELECT, [dataset]).fetchall()
    return [Deployment(dataset, version, text, key, json.loads(data)) for version, text, key, data in rows]


def _check(deployment: Deployment, served: Sequence[Deployment]) -> None:
    _check_text(deployment, served)
    for other in served:
        if other.version == deployment.version:
            _check_same(deployment, other)


def _check_text(deployment: Deployment, served: Sequence[Deployment]) -> None:
    if not served or deployment.text == served[-1].text:
        return
    fix = "copy the newest catalog.toml to this host"
    if deployment.version < served[-1].version:
        why = f"has version {deployment.version}, and other hosts serve version {served[-1].version}"
        raise Refusal(FILE, why, fix, code=_CODE)
    if any(deployment.text == other.text for other in served):
        fix += "; to go back to this one, change it, if only by a comment"
        raise Refusal(FILE, "was replaced by a newer one on another host", fix, code=_CODE)


def _check_same(deployment: Deployment, other: Deployment) -> None:
    """Refuse another key or other data under the same version; tables that are new have nothing to be compared with."""
    if deployment.key != other.key:
        why = f"orders rows in another way than the hosts do that serve version {deployment.version}"
        fix = "copy index.key from one of them and start again; the index is then built anew"
        raise Refusal("The file .adomnia/index.key", why, fix, code=_CODE)
    mine, theirs = deployment.data or {}, other.data or {}
    for table in sorted(mine.keys() & theirs.keys()):
        if mine[table] != theirs[table]:
            why = f"is not what other hosts have as version {deployment.version}"
            fix = "copy the files that they have, or raise `version` in catalog.toml everywhere"
            raise Refusal(f"The data of table {table}", why, fix, code=_CODE)


def _hash(key: bytes, text: str) -> str:
    return hmac.new(key, text.encode(), sha256).hexdigest()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
