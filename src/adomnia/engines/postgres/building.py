# ruff: noqa: S608 - SQL is what this module writes, from names that are quoted
"""The index as a schema of the curator's own, built in the database: all of it in one transaction, or nothing.

The transaction sees all tables at one moment. Whoever builds holds a lock, so that another host waits for the finished
schema; whoever uses one holds a shared lock, so that it is dropped only when nobody does.
"""

from __future__ import annotations

import json
import logging
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa

from adomnia.catalog.sources import split_table_name
from adomnia.engines.dialect import text_literal
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.index import (
    IndexWriter,
    Links,
    TableSource,
    build_public,
    build_rows,
    build_table,
    list_indexed,
    refuse_unreadable,
    tell_steps,
)
from adomnia.engines.postgres.arrow_tables import copy_table, source_type
from adomnia.engines.postgres.dialect import ORDER_SETTING, POSTGRES
from adomnia.engines.postgres.library import render_library
from adomnia.engines.postgres.settings import open_session
from adomnia.engines.postgres.sources import make_source, table_source
from adomnia.engines.postgres.stored_functions import WIDE
from adomnia.engines.sources.reading import file_source, frame_source, make_runner, open_reader
from adomnia.errors import AdomniaError, Failure, Refusal, Unavailable
from adomnia.postgres import describe, driver
from adomnia.privacy.units import ROW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import psycopg

    from adomnia.catalog.model import Catalog, Table
    from adomnia.engines.contract import Progress

_log = logging.getLogger("adomnia.index")
_FORMAT = 3  # of the index: raise it when layout or order change, and every index is built anew
_PREFIX = "adomnia"
_LONGEST_NAME, _DIGEST_OF_NAME, _DIGEST = 15, 12, 26  # in all no more than the 63 letters of a name
_FORBIDDEN, _FULL, _STANDBY, _TOO_WIDE = "42501", "53100", "25006", "54"
_PASSING = ("08", "40", "53", "55", "57")  # classes of errors that say nothing of what was asked
_FIND = (
    "SELECT nspowner = CAST(CAST(current_user AS regrole) AS oid), pg_catalog.obj_description(oid, 'pg_namespace') "
    "FROM pg_catalog.pg_namespace WHERE nspname = $1"
)
# Default privileges of the role may have given the new schema to others.
_OTHERS = (
    "SELECT DISTINCT CAST(CAST(acl.grantee AS regrole) AS text) FROM pg_catalog.pg_namespace, "
    "LATERAL pg_catalog.aclexplode(nspacl) AS acl WHERE nspname = $1 AND acl.grantee NOT IN (0, nspowner)"
)
_LOCKABLE = (
    "SELECT 1 FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace "
    "WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p', 'v')"
)
_MAY_CREATE = "SELECT has_database_privilege(current_database(), 'CREATE')"
_OURS = (
    "SELECT nspname FROM pg_catalog.pg_namespace WHERE starts_with(nspname, $1) AND nspname <> $2 "
    "AND nspowner = CAST(CAST(current_user AS regrole) AS oid)"
)
_TABLES = (
    "SELECT c.relname FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace "
    "WHERE n.nspname = $1 AND c.relkind = 'r'"
)
_UNFINISHED = (
    "SELECT c.relname FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace "
    "WHERE n.nspname = $1 AND c.relkind = 'r' AND c.relpersistence = 'u'"
)


@dataclass(frozen=True)
class IndexSchema:
    """Where an index lies: a schema of a database."""

    url: str
    schema: str

    @property
    def quoted(self) -> str:
        return POSTGRES.quote(self.schema)

    @property
    def search_path(self) -> str:
        """Nothing is found but what PostgreSQL brings, which comes first where it is not named, and in the schema.

        Every table makes a type of its name: one called float8 must not be taken for the doubles.
        """
        return f"{self.quoted}, pg_temp"

    def lock(self, purpose: str) -> int:
        """The number of a lock on it."""
        return int.from_bytes(sha256(f"{purpose} {self.schema}".encode()).digest()[:8], "big", signed=True)


def name_schema(catalog: Catalog, public: Mapping[str, str]) -> str:
    """A name for everything that an index depends on; of private rows it is the version that says which they are."""
    facts: list[object] = [_FORMAT, render_library(""), catalog.version, catalog.unit]
    for table in catalog.tables:
        facts += [table.name, table.public, table.columns, table.repeats, table.link, table.source, table.source_table]
        facts += [table.source_columns, public.get(table.name)]
    digest = sha256(repr(facts).encode()).hexdigest()[:_DIGEST]
    return f"{_family(catalog)}{digest}"


def _family(catalog: Catalog) -> str:
    """How the names of all indexes of a dataset begin, and those of no other: long names may differ at their end."""
    short = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in catalog.name)
    return f"{_PREFIX} {short[:_LONGEST_NAME]} {sha256(catalog.name.encode()).hexdigest()[:_DIGEST_OF_NAME]} "


@dataclass(frozen=True)
class Builder:
    """Builds an index: the place, the catalog, the key of the order, who is told of progress, and memory for sorts."""

    place: IndexSchema
    catalog: Catalog
    key: bytes
    progress: Progress
    memory: int

    def build(self, frames: Mapping[str, object], known: Mapping[str, str]) -> dict[str, str]:
        """Build it unless it is there as a whole; gives the fingerprints of private tables that it was built from.

        A Refusal where they are not the `known` ones of this version, or those that a damaged index was built from.
        """
        with self._session() as session:
            session.autocommit = True
            session.execute("SELECT pg_catalog.pg_advisory_lock($1)", [self.place.lock("build")])
            found = find_finished(session, self.place)
            if found is not None and self._is_whole(session):
                return found
            locked = self._find_lockable(session, frames)
            session.autocommit = False
            session.isolation_level = driver().IsolationLevel.REPEATABLE_READ
            if locked:
                # Before the first statement that sees rows: a table that is emptied or rewritten by TRUNCATE or ALTER
                # TABLE looks empty even to those who began before.
                session.execute(f"LOCK TABLE {', '.join(locked)} IN ACCESS SHARE MODE")
            if found is not None:
                self._set_aside(session)
            prints = self._write(session, frames, {**(found or {}), **known})
            session.commit()
            self._drop_others(session)
            return prints

    def drop(self) -> None:
        """Drop the index again, unless somebody else uses it."""
        with self._session() as session:
            session.autocommit = True
            drop_schema(session, self.place)

    def may_build(self) -> bool:
        """Whether the role may make a schema, or finds it made."""
        with self._session() as session:
            return may_create(session) or find_finished(session, self.place) is not None

    def _is_whole(self, session: psycopg.Connection[Any]) -> bool:
        """Whether the schema still has every table of the index."""
        there = {name for (name,) in session.execute(_TABLES, [self.place.schema]).fetchall()}
        return there.issuperset(table.name for table in list_indexed(self.catalog))

    def _set_aside(self, session: psycopg.Connection[Any]) -> None:
        """Give a damaged index another name, under which it is dropped like those of other versions.

        Dropping it here would keep its readers waiting until the new one is built.
        """
        if not may_create(session):
            why, fix = (
                "has an index that lost a table, and its role may not make another",
                "GRANT CREATE ON DATABASE to it",
            )
            raise Refusal(describe(self.place.url), why, fix)
        _log.warning("The index is damaged and is built again.")
        other = POSTGRES.quote(f"{_family(self.catalog)}{uuid4().hex[:_DIGEST]}")
        session.execute(f"ALTER SCHEMA {self.place.quoted} RENAME TO {other}")

    @contextmanager
    def _session(self) -> Iterator[psycopg.Connection[Any]]:
        settings = {
            "search_path": self.place.search_path,
            "statement_timeout": "0",
            "lock_timeout": "0",
            "idle_in_transaction_session_timeout": "0",
            "default_transaction_read_only": "off",
            "work_mem": str(self.memory // 1024),
        }
        session = open_session(self.place.url, "adomnia index", settings, hidden={ORDER_SETTING: self.key.hex()})
        with _explain_faults(self.place.url), closing(session):
            yield session

    def _find_lockable(self, session: psycopg.Connection[Any], frames: Mapping[str, object]) -> list[str]:
        """The names of the private tables, but for those of kinds that have no locks of their own."""
        private = [table for table in list_indexed(self.catalog) if not table.public and table.name not in frames]
        named = [split_table_name(table.source_table or "") for table in private]
        there = [name for name in named if session.execute(_LOCKABLE, list(name)).fetchall()]
        return [".".join(map(POSTGRES.quote, name)) for name in there]

    def _write(
        self, session: psycopg.Connection[Any], frames: Mapping[str, object], known: Mapping[str, str]
    ) -> dict[str, str]:
        schema, tables = self.place.quoted, list_indexed(self.catalog)
        _refuse_names(tables)
        run = _make_runner(session)
        run(f"CREATE SCHEMA {schema}")
        for other in ("PUBLIC", *(name for (name,) in run(_OTHERS, self.place.schema))):
            run(f"REVOKE ALL ON SCHEMA {schema} FROM {other}")
        for statement in (*render_library(schema), *WIDE.render(schema)):
            run(statement)
        private = [table for table in tables if not table.public]
        sources = {table.name: self._source(session, table, frames) for table in private}
        writer = IndexWriter(run, schema, b"", POSTGRES)
        for table in private:
            sources[table.name].check(table)
            if table.name not in frames:
                refuse_unreadable(writer, table, sources[table.name])
        prints = {name: _fingerprint(run, source) for name, source in sources.items()}
        _check_unchanged(self.catalog, prints, known)
        self._copy_public(session, [table for table in tables if table.public], frames)
        links = Links(self.catalog, sources, run, POSTGRES)
        write = build_rows if self.catalog.unit == ROW else build_table
        for done, table in enumerate(private):
            write(writer, table, links, tell_steps(table.name, done, len(private), self.progress))
        self._finish(run, prints)
        return prints

    def _source(self, session: psycopg.Connection[Any], table: Table, frames: Mapping[str, object]) -> TableSource:
        if table.name not in frames:
            return table_source(session, table)
        rows, name = pa.table(frames[table.name]), f"{self.place.quoted}.{POSTGRES.quote(f' frame {table.name}')}"
        copy_table(session, name, rows, kept=False)
        return make_source(table, name, {field.name: source_type(field.type) for field in rows.schema})

    def _copy_public(self, session: psycopg.Connection[Any], tables: list[Table], frames: Mapping[str, object]) -> None:
        """Public tables in the forms of the index, as DuckDB writes them from their sources."""
        if not tables:
            return
        with open_reader() as reader:
            writer = IndexWriter(make_runner(reader.connection), "memory.main", b"", DUCKDB)
            for table in tables:
                if table.name in frames:
                    source = frame_source(reader.connection, table.name, frames[table.name])
                else:
                    source = file_source(reader, table.locate(self.catalog.folder), table)
                source.check(table)
                build_public(writer, table, source)
                rows = reader.connection.sql(f"SELECT * FROM {writer.name_of(table)}").to_arrow_table()
                copy_table(session, f"{self.place.quoted}.{POSTGRES.quote(table.name)}", rows)

    def _finish(self, run: Callable[..., Any], prints: Mapping[str, str]) -> None:
        """Drop what only building needed, and let the planner know the rest."""
        for (name,) in run(_UNFINISHED, self.place.schema):
            run(f"DROP TABLE {self.place.quoted}.{POSTGRES.quote(name)}")
        for table in list_indexed(self.catalog):
            name = f"{self.place.quoted}.{POSTGRES.quote(table.name)}"
            if not table.public:
                run(f'CREATE INDEX ON {name} USING brin ("rank") WITH (pages_per_range = 16)')
            run(f"ANALYZE {name}")
        run(f"COMMENT ON SCHEMA {self.place.quoted} IS {text_literal(json.dumps(dict(prints)))}")
        self.progress("done", 1.0)

    def _drop_others(self, session: psycopg.Connection[Any]) -> None:
        """Drop the indexes of other versions, where nobody uses them."""
        session.rollback()
        session.autocommit = True
        for (name,) in session.execute(_OURS, [_family(self.catalog), self.place.schema]).fetchall():
            drop_schema(session, IndexSchema(self.place.url, name))


def may_create(session: psycopg.Connection[Any]) -> bool:
    """Whether the role may make a schema."""
    ((may,),) = session.execute(_MAY_CREATE).fetchall()
    return bool(may)


def drop_schema(session: psycopg.Connection[Any], place: IndexSchema) -> None:
    """Drop an index, unless somebody uses it."""
    ((alone,),) = session.execute("SELECT pg_catalog.pg_try_advisory_lock($1)", [place.lock("use")]).fetchall()
    if alone:
        session.execute(f"DROP SCHEMA IF EXISTS {place.quoted} CASCADE")
        session.execute("SELECT pg_catalog.pg_advisory_unlock($1)", [place.lock("use")])


def find_finished(session: psycopg.Connection[Any], place: IndexSchema) -> dict[str, str] | None:
    """The fingerprints that an index was built from, if it is there; a Refusal if somebody else made one."""
    found = session.execute(_FIND, [place.schema]).fetchall()
    if not found:
        return None
    ((ours, prints),) = found
    if not ours:
        why = "has a schema of the name of the index that another role made"
        raise Refusal(describe(place.url), why, "drop it, or connect as that role")
    with suppress(ValueError, TypeError):  # somebody else's comment, or none
        return dict(json.loads(prints))
    why = "has a schema of the name of the index that does not say which rows it was built from"
    raise Refusal(describe(place.url), why, f"DROP SCHEMA {place.quoted} CASCADE, then open the dataset again")


def _refuse_names(tables: list[Table]) -> None:
    """Refuse names that PostgreSQL has for tables of its own, which it finds first."""
    for table in tables:
        if table.name.lower().startswith("pg_"):
            fix = f'call it otherwise in the catalog, and say table = "{table.name}" there'
            raise Refusal(f"Table {table.name}", "begins with pg_, as PostgreSQL's own tables do", fix)


def _make_runner(session: psycopg.Connection[Any]) -> Callable[..., Any]:
    def run(sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        cursor = session.execute(sql, list(parameters) or None)
        return cursor.fetchall() if cursor.description else []

    return run


def _fingerprint(run: Callable[..., Any], source: TableSource) -> str:
    """What tells the rows of a table from others, whatever their order: how many they are, and sums of their hashes."""
    rows = f'SELECT CAST(" source" AS TEXT) AS row FROM {source.relation}'
    hashes = f"SELECT COUNT(*), SUM(hashtextextended(row, 0)), SUM(hashtextextended(row, 1)) FROM ({rows}) AS rows"
    ((count, one, two),) = run(hashes)
    return f"{count} {one} {two}"


def _check_unchanged(catalog: Catalog, found: Mapping[str, str], known: Mapping[str, str]) -> None:
    for name, print_ in found.items():
        if known.get(name, print_) != print_:
            raise Refusal(
                f"The data of table {name}",
                f"changed, and version {catalog.version} stands for what it was",
                "raise `version` in catalog.toml, or put the old rows back",
            )


@contextmanager
def _explain_faults(url: str) -> Iterator[None]:
    """Say in words of ours what went wrong while the index was built: those of the server may quote rows."""
    try:
        yield
    except driver().Error as error:
        fault = _explain(url, error.sqlstate or _PASSING[0])
    else:
        return
    raise fault  # out here it carries no cause


def _explain(url: str, state: str) -> AdomniaError:
    where = describe(url)
    if state == _FORBIDDEN:
        fix = (
            "GRANT SELECT on the declared tables, and USAGE of their schemas, to the role; keep no policy on their rows"
        )
        return Refusal(where, "does not let its role read all rows that are declared", fix)
    if state == _FULL:
        return Unavailable(where, "has no room left for the index", "free space there, then open the dataset again")
    if state == _STANDBY:
        fix = "name the server that can be written to, or add target_session_attrs=read-write to the URL"
        return Unavailable(where, "is a standby that can only be read, and the index is not built yet", fix)
    if state.startswith(_TOO_WIDE):
        why = "has no room for so many columns in one row of the index"
        return Refusal(where, why, "declare fewer columns, or name the engine duckdb")
    if state.startswith(_PASSING):
        return Unavailable(where, "ended the connection", "see that the server runs, and try again")
    return Failure()
