"""The engine: builds the index once for each version of the data, as Parquet, and runs our statements over it.

A server in a container has other folders than we have, and one that only speaks Spark's protocol may take an address
for a path below its own folder: rows of people would lie where nobody named a place for them. So a folder is tried
first.
"""

import shutil
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from adomnia.catalog.model import Catalog
from adomnia.engines.cells import At, count_people, read_cells
from adomnia.engines.contract import Progress, Statement, silent
from adomnia.engines.index import list_indexed
from adomnia.engines.limits import PUBLIC_BYTES, PUBLIC_SECONDS, USUAL, Limits
from adomnia.engines.render import render, render_rows
from adomnia.engines.sources.facts import check_header, count_readings, find_facts, read_header, read_texts
from adomnia.engines.sources.state import POINTER, State, find_place, fresh_key
from adomnia.engines.spark.building import ParquetBuilder
from adomnia.engines.spark.dialect import SPARK
from adomnia.engines.spark.lake_tables import fingerprint
from adomnia.engines.spark.running import SparkStatements
from adomnia.engines.spark.session import LOCAL, PinnedSession, ScratchFolder, is_this_machine, open_session
from adomnia.engines.spark.sources import escape
from adomnia.errors import AdomniaError, Failure, Refusal, Unavailable
from adomnia.noise import Integers
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Select

if TYPE_CHECKING:
    from pyspark.sql.types import StructField

    from adomnia.engines.spark.pinning import Session


_Read = TypeVar("_Read")

ENDING = ".spark"
_INEXACT = frozenset({"double", "float"})
_ROOM = "adomnia-index-"
_ASKING_SECONDS = 5.0  # for what Spark answers at once


class Spark:
    """Spark over the contribution index. Threads may share it: a session runs many statements at a time."""

    dialect = SPARK
    find_facts = staticmethod(find_facts)
    read_header = staticmethod(read_header)
    check_header = staticmethod(check_header)
    read_texts = staticmethod(read_texts)
    count_readings = staticmethod(count_readings)

    def __init__(
        self, connect: Callable[[], PinnedSession], seconds: float | None, let_go: Callable[[], None] = lambda: None
    ) -> None:
        self._let_go = let_go
        self._running = SparkStatements(connect, seconds)

    @classmethod
    def open(cls, catalog: Catalog, folder: Path, progress: Progress = silent, limits: Limits = USUAL) -> "Spark":
        """The engine over a catalog's files; its index is a folder in `folder`, and is built if it is not there."""
        choice = catalog.engine
        refuse_unseen(choice.url, choice.index)
        state = State(folder.absolute())  # what is relative to this process is elsewhere for another

        def build(room: Path, own: BuildSession) -> None:
            room.mkdir(mode=0o700)
            if choice.index is None:
                place = f"file:{room}"
                check_shared_folder(own.session, room)
            else:
                place = _name_place(choice.index, catalog.name)
                if choice.url is None and choice.index.startswith("/"):  # a folder of ours, before a row is in it
                    Path(place.removeprefix("file:")).mkdir(mode=0o700, parents=True)
                (room / POINTER).write_text(place)
            ParquetBuilder(own.session, catalog, place, state.key(), progress).build({})
            own.check_again()

        with LOCAL.kept():
            path, let_go = state.hold_index(catalog, build, ENDING, lambda: BuildSession(catalog, limits))
            return _open(cls, catalog, find_place(path), limits, let_go)

    @classmethod
    def load(
        cls,
        catalog: Catalog,
        frames: Mapping[str, object],
        progress: Progress = silent,
        limits: Limits = USUAL,
        spill: str = "",
    ) -> "Spark":
        """The engine over tables in memory, whose index is a folder that is removed with it."""
        refuse_unseen(catalog.engine.url, None)
        room = ScratchFolder(_ROOM, spill)
        place = f"file:{room.path.absolute()}"
        with LOCAL.kept():
            try:
                with closing(open_session(catalog.engine.url, limits)) as own:
                    check_shared_folder(own.session, room.path.absolute())
                    ParquetBuilder(own.session, catalog, place, fresh_key(), progress).build(frames)
            except BaseException:
                room.leave()
                raise
            return _open(cls, catalog, place, limits, room.leave)

    def render(self, queries: tuple[Query, ...]) -> Statement:
        return render(queries, self.dialect)

    def run(self, statement: Statement, queries: tuple[Query, ...]) -> tuple[Integers, ...]:
        return self._exact(statement, lambda result: read_cells(result, queries))

    def keys(self, statement: Statement, query: Query) -> tuple[Integers, At]:
        return self._exact(statement, lambda result: count_people(result, query.keys))

    def _exact(self, statement: Statement, reading: Callable[[pa.Table], _Read]) -> _Read:
        with suppress(Exception):
            return reading(self._running.fetch(statement))
        raise Failure()  # out here it carries no cause, whose words may quote a row

    def render_rows(self, rows: Select) -> Statement:
        return render_rows(rows, self.dialect)

    def read(self, statement: Statement, most: int) -> list[tuple[Any, ...]]:
        with suppress(Exception):
            rows = self._running.fetch_brief(statement, most, PUBLIC_SECONDS)
            if rows.nbytes <= PUBLIC_BYTES:
                return list(zip(*(column.to_pylist() for column in rows.columns), strict=True))
        raise Failure()

    def is_open(self) -> bool:
        return self._running.can_go_on(_ASKING_SECONDS)

    def is_reachable(self) -> bool:
        return self._running.is_there(_ASKING_SECONDS)

    def close(self) -> None:
        """Let go of the index; what still runs fails."""
        self._running.close()
        self._let_go()


def refuse_unseen(url: str | None, index: str | None) -> None:
    """Refuse a cluster of other machines where the index would lie on this one."""
    if url is not None and not is_this_machine(url) and index is None:
        why = "is on other machines, which do not see the folder of the index"
        raise Refusal("The Spark of [engine]", why, 'name one that they see: index = "s3a://bucket/adomnia"')


def _name_place(index: str, name: str) -> str:
    """A folder that nobody has written to: what is unfinished or another's is never read."""
    base = f"file:{index}" if index.startswith("/") else index
    return f"{base.rstrip('/')}/{name}-{uuid4().hex}"


def read_column(field: "StructField") -> str:
    """A column as statements read it: conditions on doubles are never handed to the reader of the files.

    There, whether -0.0 = 0.0 depends on the other rows of a file.
    """
    name = SPARK.quote(field.name)
    return f"{name} + 0e0 AS {name}" if field.dataType.typeName() in _INEXACT else name


def _open(made: type[Spark], catalog: Catalog, place: str, limits: Limits, let_go: Callable[[], None]) -> Spark:
    def connect() -> PinnedSession:
        """A session that finds the tables of the index under their names."""
        own = open_session(catalog.engine.url, limits)
        try:
            for table in list_indexed(catalog):
                rows = own.session.read.parquet(escape(f"{place}/{table.name}"))
                rows = rows.selectExpr(*map(read_column, rows.schema.fields))
                rows.createOrReplaceTempView(SPARK.quote(table.name))  # which may be a word of SQL
        except BaseException:
            own.close()
            raise
        return own

    try:
        return made(connect, limits.seconds, let_go)
    except AdomniaError:
        let_go()
        raise
    except Exception:  # noqa: BLE001 - Spark's and Java's
        let_go()
        failed = Failure()
    raise failed


class BuildSession:
    """A session to build with, opened when it is first needed; it knows what tables elsewhere were like."""

    def __init__(self, catalog: Catalog, limits: Limits) -> None:
        self._catalog, self._limits = catalog, limits
        self._own: PinnedSession | None = None
        self._seen: dict[tuple[str, str], str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_fault: object) -> None:
        if self._own is not None:
            self._own.close()

    @property
    def session(self) -> "Session":
        if self._own is None:
            self._own = open_session(self._catalog.engine.url, self._limits)
        return self._own.session

    def fingerprint(self, url: str, name: str) -> str:
        self._seen[url, name] = fingerprint(self.session, url, name or None)
        return self._seen[url, name]

    def check_again(self) -> None:
        """Refuse an index of rows that changed while it was built: parents and children could be of two moments."""
        for (url, name), before in self._seen.items():
            if fingerprint(self.session, url, name or None) != before:
                why = "changed while the index was built from it"
                raise Unavailable(f"Source {name or url}", why, "open the dataset again when nobody writes it")


_OURS, _THEIRS = "trial-of-reading", "trial-of-writing"  # no name of a table has a hyphen


def check_shared_folder(session: "Session", folder: Path) -> None:
    """Refuse a server that does not read in a folder what we write there, or writes elsewhere what we then read."""
    token = uuid4().hex
    ours, theirs = folder / _OURS, folder / _THEIRS
    ours.mkdir(mode=0o700)
    pq.write_table(pa.table({"token": [token]}), ours / "token.parquet")
    try:
        with suppress(Exception):  # Spark's and Java's
            read = session.read.parquet(escape(f"file:{ours}")).toArrow()
            if read.column(0).to_pylist() == [token]:  # else nothing is written at all
                session.sql(f"SELECT '{token}' AS token").write.parquet(f"file:{theirs}")
                if pq.read_table(theirs).column(0).to_pylist() == [token]:
                    return
    finally:
        for tried in (ours, theirs):
            shutil.rmtree(tried, ignore_errors=True)
    why = "does not read and write the folder of the index under its name on this machine"
    raise Refusal("The Spark of [engine]", why, 'name a folder that it sees: index = "s3a://bucket/adomnia"')
