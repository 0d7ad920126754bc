"""The engine: builds the index in the database once for each version of the data, and runs our statements there."""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import replace
from sys import getsizeof
from time import monotonic
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pyarrow import ArrowException

from adomnia.engines.cells import are_few, count_nobody, count_people, read_cells, read_nothing, read_rows
from adomnia.engines.contract import Progress, Statement, silent
from adomnia.engines.duckdb.engine import DuckDB
from adomnia.engines.index import list_indexed
from adomnia.engines.limits import PUBLIC_BYTES, PUBLIC_SECONDS, USUAL, Limits
from adomnia.engines.postgres.arrow_tables import read_batches, read_table
from adomnia.engines.postgres.building import Builder, IndexSchema, may_create, name_schema
from adomnia.engines.postgres.dialect import POSTGRES
from adomnia.engines.postgres.functions import BY_LIBRARY
from adomnia.engines.postgres.running import MOST_CONNECTIONS, ConnectionPool
from adomnia.engines.postgres.settings import expect_bits, open_session, render_same_bits
from adomnia.engines.postgres.sources import table_source
from adomnia.engines.render import render, render_rows
from adomnia.engines.sources.facts import check_header, count_readings, find_facts, read_header, read_texts
from adomnia.engines.sources.state import State, fresh_key
from adomnia.errors import AdomniaError, Failure, Unavailable
from adomnia.postgres import asking, describe, driver

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import psycopg
    import pyarrow as pa

    from adomnia.catalog.model import Catalog, Table
    from adomnia.catalog.model import Place as CatalogPlace
    from adomnia.engines.cells import At
    from adomnia.engines.contract import Engine
    from adomnia.engines.dialect import Dialect
    from adomnia.noise import Integers
    from adomnia.privacy.queries import Query
    from adomnia.privacy.relations import Select

_FAULTS = (AdomniaError, ArrowException, LookupError, ValueError, TypeError, OverflowError)
_HERE = "postgresql://"  # the database that the environment names: PGHOST, PGDATABASE, PGUSER, ...
_ASKING_SECONDS = 5.0  # for what every server answers at once
_LOCK_MILLISECONDS = 10_000
_MOST_SORTING = 2**28
_UNITS = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_LOCK = "SELECT pg_catalog.pg_advisory_lock_shared($1)"
_READABLE = (
    "SELECT COUNT(*) FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace "
    "WHERE n.nspname = $1 AND c.relkind = 'r' AND has_schema_privilege(n.oid, 'USAGE') "
    "AND has_table_privilege(c.oid, 'SELECT')"
)


class Postgres:
    """PostgreSQL over the contribution index. Threads may share it: every statement has a connection of its own."""

    dialect: Dialect = POSTGRES
    find_facts = staticmethod(find_facts)
    read_header = staticmethod(read_header)
    read_texts = staticmethod(read_texts)
    count_readings = staticmethod(count_readings)

    @staticmethod
    def check_header(place: CatalogPlace, table: Table) -> None:
        """Refuse a source whose columns are not those that a table declares, or cannot be read by this engine.

        Where the role may not make an index in the database, it is DuckDB that reads them.
        """
        check_header(place, table)
        if table.public or not isinstance(place, str):
            return
        with closing(open_session(place, "adomnia index", {})) as session:
            if may_create(session):
                table_source(session, table).check(table)

    def __init__(
        self, place: IndexSchema, tables: int, limits: Limits = USUAL, drop: Callable[[], None] | None = None
    ) -> None:
        self._place, self._tables, self._drop = place, tables, drop
        self._most_bytes, self._seconds = _count_bytes(limits.memory), limits.seconds
        self._running = ConnectionPool(lambda: _open(place, limits))
        self.dialect = self._find_dialect()

    @classmethod
    def open(cls, catalog: Catalog, folder: Path, progress: Progress = silent, limits: Limits = USUAL) -> Engine:
        """The engine over the tables of a database; its index is a schema there, and is built if it is not there.

        Where the role may not make one, the rows are read once, into an index of DuckDB's.
        """
        state = State(folder)
        url = next(table.source for table in catalog.tables if not table.public)
        place = IndexSchema(url, name_schema(catalog, state.public_prints(catalog)))
        builder = Builder(place, catalog, state.key(), progress, _sorting(limits))
        if not builder.may_build():
            return DuckDB.open(catalog, folder, progress, limits)
        state.keep_prints(catalog, builder.build({}, state.known_prints(catalog)))
        state.drop_files()
        return cls(place, len(list_indexed(catalog)), limits)

    @classmethod
    def load(
        cls,
        catalog: Catalog,
        frames: Mapping[str, object],
        progress: Progress = silent,
        limits: Limits = USUAL,
        spill: str = "",  # noqa: ARG003 - the server's own
    ) -> Postgres:
        """The engine over tables in memory, copied into the database that the environment names until it is closed."""
        place = IndexSchema(_HERE, f"adomnia memory {uuid4().hex}")
        builder = Builder(place, catalog, fresh_key(), progress, _sorting(limits))
        builder.build(frames, {})
        return cls(place, len(list_indexed(catalog)), limits, builder.drop)

    def render(self, queries: tuple[Query, ...]) -> Statement:
        return render(queries, self.dialect)

    def run(self, statement: Statement, queries: tuple[Query, ...]) -> tuple[Integers, ...]:
        if not are_few(queries):
            with suppress(*_FAULTS):
                result = self._read_all(statement)
                return read_nothing(queries) if result is None else read_cells(result, queries)
            raise Failure()
        with suppress(*_FAULTS, driver().Error):
            with self._running.transaction(self._seconds) as connection:
                cursor = connection.execute(statement.text, list(statement.parameters), binary=True)
                names, rows = [column.name for column in cursor.description or ()], cursor.fetchall()
            return read_rows(names, rows, queries)
        raise Failure()  # out here it carries no cause, whose words may quote a row

    def keys(self, statement: Statement, query: Query) -> tuple[Integers, At]:
        with suppress(*_FAULTS):
            result = self._read_all(statement)
            return count_nobody() if result is None else count_people(result, query.keys)
        raise Failure()

    def _read_all(self, statement: Statement) -> pa.Table | None:
        with suppress(*_FAULTS, driver().Error), self._running.transaction(self._seconds) as connection:
            cursor = connection.cursor(binary=True)
            return read_table(cursor, statement.text, statement.parameters, self._most_bytes)
        raise Failure()  # out here it carries no cause, whose words may quote a row

    def render_rows(self, rows: Select) -> Statement:
        return render_rows(rows, self.dialect)

    def read(self, statement: Statement, most: int) -> list[tuple[Any, ...]]:
        with suppress(*_FAULTS, driver().Error), self._running.brief(PUBLIC_SECONDS) as connection:
            return _fetch(connection.cursor(binary=True), statement, most)
        raise Failure()

    def is_open(self) -> bool:
        return self._find_index() is not False

    def is_reachable(self) -> bool:
        return self._find_index() is True

    def _find_index(self) -> bool | None:
        """Whether the index is there, and can be read; None where the server does not say."""
        until = monotonic() + _ASKING_SECONDS
        for _ in range(MOST_CONNECTIONS + 1):
            if self._running.closed:
                return False
            kept = self._running.has_kept()
            with suppress(*_FAULTS, driver().Error), self._running.transaction(_ASKING_SECONDS) as connection:
                ((found,),) = connection.execute(_READABLE, [self._place.schema]).fetchall()
                return bool(found == self._tables)
            if not kept or monotonic() > until:  # else it was one that was lost meanwhile, and the next may be new
                break
        return None

    def close(self) -> None:
        """Let go of the index; what still runs fails."""
        self._running.close()
        if self._drop is not None:
            self._drop()

    def _find_dialect(self) -> Dialect:
        """What the engine offers: without the functions of which the server's library computes other bits than ours."""
        other = {}
        with suppress(*_FAULTS, driver().Error), self._running.transaction(_ASKING_SECONDS) as connection:
            for function in sorted(BY_LIBRARY):
                ((bits,),) = connection.execute(render_same_bits(function)).fetchall()
                if bits != expect_bits(function):
                    other[function] = "the C library of this server computes other last bits than that of other engines"
            offered = {name: spelling for name, spelling in POSTGRES.functions.items() if name not in other}
            return replace(POSTGRES, functions=offered, refused={**POSTGRES.refused, **other}) if other else POSTGRES
        self._running.close()
        raise Unavailable(describe(self._place.url), "ended the connection", "see that the server runs, and try again")


def _open(place: IndexSchema, limits: Limits) -> psycopg.Connection[Any]:
    """A connection that reads the index and nothing else, and holds it."""
    settings = {
        "search_path": place.search_path,
        "default_transaction_read_only": "on",
        "statement_timeout": "0" if limits.seconds is None else str(max(1, int(limits.seconds * 1000))),
        "lock_timeout": str(_LOCK_MILLISECONDS),
        "idle_in_transaction_session_timeout": "60000",
    }
    if limits.threads is not None:
        settings["max_parallel_workers_per_gather"] = str(limits.threads - 1)
    connection = open_session(place.url, "adomnia", settings)
    try:
        with asking(connection):
            connection.execute(_LOCK, [place.lock("use")])
            connection.rollback()  # the lock is the session's
    except BaseException:
        connection.close()
        raise
    return connection


def _fetch(cursor: psycopg.Cursor[Any], statement: Statement, most: int) -> list[tuple[Any, ...]]:
    """The first rows, read little by little; a Failure as soon as they take too much memory."""
    rows: list[tuple[Any, ...]] = []
    room = PUBLIC_BYTES
    for batch in read_batches(cursor, statement.text, statement.parameters):
        room -= sum(getsizeof(row) + sum(map(getsizeof, row)) for row in batch)
        if room < 0:
            raise Failure()
        rows += batch
        if len(rows) >= most:
            break
    return rows[:most]


def _count_bytes(size: str) -> int:
    """A size such as 1200MB or 2 GiB."""
    number = "".join(letter for letter in size if letter.isdigit() or letter == ".")
    unit = size[len(number) :].strip()
    step = 1024 / 1000 if "i" in unit else 1
    return int(float(number) * _UNITS[unit[0]] * step ** ("KMGT".index(unit[0]) + 1))


def _sorting(limits: Limits) -> int:
    """How much memory one sort of the build may take."""
    return min(_MOST_SORTING, _count_bytes(limits.memory) // 4)
