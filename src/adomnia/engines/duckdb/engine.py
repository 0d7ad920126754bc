"""The engine: builds the index once for each version of the data, opens it locked down, and runs our statements.

One thread watches all that run, and interrupts what takes too long.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from sys import getsizeof
from tempfile import TemporaryDirectory
from threading import Condition, Event, Thread
from time import monotonic
from typing import Any, TypeVar

import duckdb
import pyarrow as pa
from pyarrow import ArrowException

from adomnia.catalog.model import Catalog, Table
from adomnia.engines.cells import At, are_counts, are_few, count_people, read_cells, read_counts, read_rows
from adomnia.engines.contract import Progress, Statement, silent
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
from adomnia.engines.limits import PUBLIC_BYTES, PUBLIC_SECONDS, USUAL, Limits, disk_trouble, memory_trouble
from adomnia.engines.render import render, render_rows
from adomnia.engines.sources.facts import check_header, count_readings, find_facts, read_header, read_texts
from adomnia.engines.sources.reading import (
    QUIET,
    SourceReader,
    describe_source,
    file_source,
    frame_source,
    make_runner,
    unreadable_source,
)
from adomnia.engines.sources.snapshots import Snapshots
from adomnia.engines.sources.state import State, fresh_key
from adomnia.errors import AdomniaError, Failure, Refusal
from adomnia.noise import Integers
from adomnia.postgres import is_url
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Select
from adomnia.privacy.units import ROW
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


_Read = TypeVar("_Read")

_FAULTS = (duckdb.Error, ArrowException, LookupError, ValueError, TypeError, OverflowError)
_FULL = "No space left on device"
_BATCH = 4096  # rows of public tables that are read at a time
_LOCKS = (
    QUIET,
    # It simplifies conditions by the least and the greatest values that columns hold, and forgets the NULLs that their
    # parts make: one person's row then decides about everybody's.
    "SET GLOBAL disabled_optimizers = 'statistics_propagation'",
    "SET python_enable_replacements = false",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET allow_community_extensions = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)


class DuckDB:
    """DuckDB over the contribution index. Threads may share it: every statement has a cursor of its own."""

    dialect = DUCKDB
    find_facts = staticmethod(find_facts)
    read_header = staticmethod(read_header)
    check_header = staticmethod(check_header)
    read_texts = staticmethod(read_texts)
    count_readings = staticmethod(count_readings)

    def __init__(self, connection: duckdb.DuckDBPyConnection, limits: Limits = USUAL) -> None:
        for lock in _LOCKS:
            connection.execute(lock)
        self._connection = connection
        self._running = Running(connection, limits.seconds)

    @classmethod
    def open(cls, catalog: Catalog, folder: Path, progress: Progress = silent, limits: Limits = USUAL) -> "DuckDB":
        """The engine over a catalog's files; its index lies in `folder` and is built if it is not there."""
        state = State(folder)

        def build(unfinished: Path, snapshots: Snapshots) -> None:
            with duckdb.connect(config=_settings(str(unfinished.with_name("spill")), limits)) as builder:
                copies = unfinished.with_name("copies")
                copies.mkdir(mode=0o700)
                reader = SourceReader(builder, copies, snapshots, _arrivals(catalog, progress))
                _build_file(catalog, unfinished, reader, state.key(), progress)

        path = state.index(catalog, build)
        opened = cls._open_index(state, path, limits)
        if opened is None:
            opened = cls._open_index(state, state.index(catalog, build, anew=True), limits)
        if opened is None:
            fix = "check its disk and the memory of this machine, then open the dataset again"
            raise Refusal(f"The index {path.name}", "cannot be opened, though it was built anew", fix)
        return opened

    @classmethod
    def _open_index(cls, state: State, path: Path, limits: Limits) -> "DuckDB | None":
        """The engine over an index; None where it is none that can be opened."""
        try:
            with state.opening(path) as own:
                return cls(duckdb.connect(str(own), read_only=True, config=_settings(str(state.spill), limits)), limits)
        except OSError:
            fault = disk_trouble()
        except duckdb.OutOfMemoryException:
            fault = memory_trouble()
        except duckdb.Error:
            return None
        raise fault  # out here it carries no cause, whose words name the folder

    @classmethod
    def load(
        cls,
        catalog: Catalog,
        frames: Mapping[str, object],
        progress: Progress = silent,
        limits: Limits = USUAL,
        spill: str = "",
    ) -> "DuckDB":
        """The engine over tables in memory, Arrow, pandas or Polars.

        What does not fit into memory goes to the folder `spill`; without one, nothing is written to disk. A public
        table that is not among the frames is read from its file.
        """
        connection = duckdb.connect(config=_settings(spill, limits))
        # Frames, keys and temporary tables are the cursor's own, and go with it.
        with connection.cursor() as builder, TemporaryDirectory() as scratch, Snapshots() as snapshots:
            sources = {name: frame_source(builder, name, frame) for name, frame in frames.items()}
            missing = [table for table in list_indexed(catalog) if table.public and table.name not in frames]
            sources |= _files(catalog, missing, SourceReader(builder, Path(scratch), snapshots))
            _build(catalog, sources, IndexWriter(make_runner(builder), "memory.main", fresh_key(), DUCKDB), progress)
        return cls(connection, limits)

    def render(self, queries: tuple[Query, ...]) -> Statement:
        return render(queries, self.dialect)

    def run(self, statement: Statement, queries: tuple[Query, ...]) -> tuple[Integers, ...]:
        if are_few(queries):
            return self._fetch(statement, lambda found: read_rows(_names(found), found.fetchall(), queries))
        if are_counts(queries):
            return self._fetch(statement, lambda found: read_counts(found.fetchnumpy(), queries))
        return self._exact(statement, lambda result: read_cells(result, queries))

    def keys(self, statement: Statement, query: Query) -> tuple[Integers, At]:
        return self._exact(statement, lambda result: count_people(result, query.keys))

    def _fetch(self, statement: Statement, reading: Callable[[duckdb.DuckDBPyConnection], _Read]) -> _Read:
        """The same without an Arrow table, which is made of a relation: that is parsed and planned twice."""
        with suppress(*_FAULTS), self._running.cursor() as cursor:
            cursor.execute("BEGIN TRANSACTION READ ONLY")
            return reading(cursor.execute(statement.text, list(statement.parameters)))
        raise Failure()  # out here it carries no cause, whose words may quote a row

    def _exact(self, statement: Statement, reading: Callable[[pa.Table], _Read]) -> _Read:
        with suppress(*_FAULTS):
            with self._running.cursor() as cursor:
                cursor.execute("BEGIN TRANSACTION READ ONLY")
                result = cursor.sql(statement.text, params=list(statement.parameters)).to_arrow_table()
            return reading(result)
        raise Failure()  # out here it carries no cause, whose words may quote a row

    def render_rows(self, rows: Select) -> Statement:
        return render_rows(rows, self.dialect)

    def read(self, statement: Statement, most: int) -> list[tuple[Any, ...]]:
        with suppress(duckdb.Error), self._running.brief(PUBLIC_SECONDS) as cursor:
            cursor.execute("BEGIN TRANSACTION READ ONLY")
            return _fetch(cursor.execute(statement.text, list(statement.parameters)), most)
        raise Failure()

    def is_open(self) -> bool:
        with suppress(duckdb.Error, Failure), self._running.cursor() as cursor:
            cursor.execute("SELECT 1")
            return True
        return False

    def is_reachable(self) -> bool:
        return True

    def close(self) -> None:
        """Let go of the index; what still runs fails."""
        self._running.close()


def _names(found: duckdb.DuckDBPyConnection) -> list[str]:
    return [name for name, *_ in found.description]


def _fetch(cursor: duckdb.DuckDBPyConnection, most: int) -> list[tuple[Any, ...]]:
    """The first rows, read little by little; a Failure as soon as they take too much memory."""
    rows: list[tuple[Any, ...]] = []
    room = PUBLIC_BYTES
    while batch := cursor.fetchmany(min(_BATCH, most - len(rows))):
        room -= sum(getsizeof(row) + sum(map(getsizeof, row)) for row in batch)
        if room < 0:
            raise Failure()
        rows += batch
    return rows


def _settings(spill: str, limits: Limits) -> dict[str, str | bool | int | float | list[str]]:
    settings: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": limits.memory,
        "temp_directory": spill,
        "ieee_floating_point_ops": True,  # beyond the doubles lies infinity, not an error
    }
    return settings if limits.threads is None else {**settings, "threads": limits.threads}


def _build_file(catalog: Catalog, path: Path, reader: SourceReader, key: bytes, progress: Progress) -> None:
    writer = IndexWriter(make_runner(reader.connection), '" index".main', key, DUCKDB)
    tables = list_indexed(catalog)
    for table in tables:
        if is_url(table.source):  # before its rows are on their way
            describe_source(reader, table.source, table).check(table)
    sources = _files(catalog, tables, reader)
    reader.snapshots.close()  # a transaction that stays open keeps rows alive that others deleted
    for table in tables:
        sources[table.name].check(table)
        _guard(sources[table.name], partial(refuse_unreadable, writer, table, sources[table.name]))
    _execute_on_disk(reader.connection, f'ATTACH {text_literal(str(path))} AS " index"')
    _build(catalog, sources, writer, progress)
    _execute_on_disk(reader.connection, 'DETACH " index"')


def _execute_on_disk(builder: duckdb.DuckDBPyConnection, statement: str) -> None:
    with suppress(duckdb.Error):
        builder.execute(statement)
        return
    raise disk_trouble()  # out here it carries no cause, whose words name the folder


def _files(catalog: Catalog, tables: list[Table], reader: SourceReader) -> dict[str, TableSource]:
    return {table.name: file_source(reader, table.locate(catalog.folder), table) for table in tables}


def _arrivals(catalog: Catalog, progress: Progress) -> Callable[[str, float], None]:
    """Tells of tables that stream in: one after the other, all of them before the first is built."""
    places = {table.name: place for place, table in enumerate(list_indexed(catalog))}
    return lambda table, share: progress(f"{table}: arriving", (places[table] + share) / len(places))


def _build(catalog: Catalog, sources: Mapping[str, TableSource], writer: IndexWriter, progress: Progress) -> None:
    tables = list_indexed(catalog)
    for table in tables:
        sources[table.name].check(table)
    links = Links(catalog, sources, writer.run, DUCKDB)
    write = build_rows if catalog.unit == ROW else build_table
    private = [table for table in tables if not table.public]
    for table in tables:
        if table.public:
            _guard(sources[table.name], partial(build_public, writer, table, sources[table.name]))
    for done, table in enumerate(private):
        step = tell_steps(table.name, done, len(private), progress)
        _guard(sources[table.name], partial(write, writer, table, links, step))
    progress("done", 1.0)


def _guard(source: TableSource, build: Callable[[], None]) -> None:
    fault: AdomniaError
    try:
        return build()
    except (duckdb.InvalidInputException, duckdb.IOException) as error:
        fault = disk_trouble() if _FULL in str(error) else unreadable_source(source.name)
    except duckdb.OutOfMemoryException:
        fault = memory_trouble()
    except duckdb.Error:
        fault = Failure()
    raise fault  # out here it carries no cause, whose words may quote a row
