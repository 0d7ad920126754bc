"""Every question of trips.py on an engine: raw, private, and private over almost no rows, in turn."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

import adomnia
import trips
from adomnia.engines.limits import USUAL, Limits
from parts.memory import Watch, in_a_process_of_its_own, own_peak, size_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import psycopg

sys.path.append(str(Path(__file__).parents[2] / "tests"))  # it has servers to start

CAP = 10
FEW_ROWS = 1000  # of the table that tells what an answer costs whatever the rows are
LEAST_ROUNDS, MOST_ROUNDS, SECONDS = 5, 15, 20.0
_NAMES = ("people", "trips")
_MANY_ROWS, _MORE = 50_000_000, Limits(memory="4GB")  # into the usual 1200 MB twenty million people may not fit
_SETTINGS = ("shared_buffers=1GB", "work_mem=64MB", "maintenance_work_mem=512MB", "max_wal_size=8GB")


def find_obstacle(name: str) -> str | None:
    """Why an engine cannot be measured here, if it cannot."""
    if name == "postgres":
        from kit.postgres import _find_programs

        try:
            _find_programs()
        except BaseException as skipped:  # noqa: BLE001 - that of pytest is no Exception
            return str(skipped)
    if name == "spark" and not (find_spec("pyspark") and (which("java") or os.environ.get("JAVA_HOME"))):
        return "Spark needs the package pyspark, and Java"
    return None


def measure_engine(name: str, rows: int) -> dict[str, Any]:
    """The index, then every question; data, index and questions in processes of their own."""
    with tempfile.TemporaryDirectory() as place, ExitStack() as opened:
        folder = Path(place)
        for part, size in (("all", rows), ("few", FEW_ROWS)):
            (folder / part).mkdir()
            in_a_process_of_its_own(_prepare, folder / part, size)
        people = pq.ParquetFile(folder / "all" / "people.parquet").metadata.num_rows
        head = opened.enter_context(SERVERS[name](folder))
        built = in_a_process_of_its_own(_build, folder / "all", head, _MORE if rows > _MANY_ROWS else USUAL)
        asked = in_a_process_of_its_own(_ask, name, folder)
        if name == "postgres":
            built["index_bytes"] = _count_bytes(folder / "all")
    told = f"{built['seconds']:.1f} s, {_gib(built['memory_bytes'])} of memory, {_gib(built['index_bytes'])} of disk"
    print(f"  index of {rows:,} rows of {people:,} people: {told}", flush=True)
    return {"rows": rows, "people": people, "index": built, "questions": asked}


def _gib(size: float) -> str:
    return f"{size / 2**30:.2f} GiB"


def _prepare(folder: Path, rows: int) -> None:
    trips.prepare(folder, rows)
    trips.declare(folder, CAP)


def _build(folder: Path, head: int | None, limits: Limits) -> dict[str, float]:
    """Seconds, memory of all processes that take part, and disk: at most, and of the index in the end."""
    start, begun = perf_counter(), process_time()
    with Watch(folder / ".adomnia", lambda: head or os.getpid()) as watch:
        adomnia.open(folder, limits=limits).close()
        seconds, processor = perf_counter() - start, process_time() - begun
    return {
        "seconds": seconds,
        "processor_seconds": processor,
        "memory_bytes": max(watch.memory, 0 if head else own_peak()),
        "disk_bytes": watch.disk,
        "index_bytes": size_of(folder / ".adomnia"),
    }


def _ask(name: str, folder: Path) -> list[dict[str, Any]]:
    with ExitStack() as opened:
        curators = [opened.enter_context(adomnia.open(folder / part)) for part in ("all", "few")]
        raw = opened.enter_context(RAW[name](folder / "all"))
        sessions = [curator.session("somebody") for curator in curators]
        return [_compare(question, raw, sessions) for question in trips.QUESTIONS]


def _compare(question: trips.Question, raw: Callable[[str], object], sessions: list[Any]) -> dict[str, Any]:
    private = [partial(each.sql, question.sql, epsilon=1, replay=False, allow_uninformative=True) for each in sessions]
    times = take_turns(partial(raw, question.sql), *private)
    alone, found, fixed = (median(record) * 1000 for record in times)
    print(
        f"  {question.name:<32} raw {alone:9.1f} ms   private {found:9.1f} ms, of which fixed {fixed:6.1f} ms: "
        f"{max(found - fixed, 0) / alone:5.2f} times raw",
        flush=True,
    )
    grouped = "GROUP BY" in question.sql
    return {"name": question.name, "raw_ms": alone, "private_ms": found, "fixed_ms": fixed, "grouped": grouped}


def take_turns(*works: Callable[[], object]) -> list[list[float]]:
    """The seconds of things done in turn, after a round to warm up: as many rounds as time allows."""
    times: list[list[float]] = [[] for _ in works]
    start = perf_counter()
    while len(times[0]) <= LEAST_ROUNDS or (len(times[0]) <= MOST_ROUNDS and perf_counter() - start < SECONDS):
        for work, record in zip(works, times, strict=True):
            began = perf_counter()
            work()
            record.append(perf_counter() - began)
    return [record[1:] for record in times]


@contextmanager
def _no_server(_folder: Path) -> Iterator[None]:
    yield None


@contextmanager
def _postgres_server(folder: Path) -> Iterator[int]:
    """A server of its own with all tables, and catalogs that name them; gives its first process."""
    import psycopg

    from kit.postgres import Server

    server = Server(*_SETTINGS)
    try:
        with psycopg.connect(server.url(), autocommit=True) as raw:
            for part in ("all", "few"):
                raw.execute(f'CREATE SCHEMA "{part}"')
                raw.execute(f'CREATE TABLE "{part}".people (person_id bigint)')
                columns = "person_id bigint, city text, fare float8, distance float8, day int"
                raw.execute(f'CREATE TABLE "{part}".trips ({columns})')
                for name in _NAMES:
                    _copy(raw, f'"{part}".{name}', folder / part / f"{name}.parquet")
                _name_sources(folder / part, {name: (server.url(), f"{part}.{name}") for name in _NAMES})
            raw.execute("VACUUM ANALYZE")
        yield int((server.data / "postmaster.pid").read_text().split()[0])
    finally:
        server.remove()


@contextmanager
def _spark_engine(folder: Path) -> Iterator[None]:
    for part in ("all", "few"):
        text = (folder / part / "catalog.toml").read_text()
        (folder / part / "catalog.toml").write_text(f'{text}\n[engine]\nname = "spark"\n')
    yield None


@contextmanager
def _raw_duckdb(folder: Path) -> Iterator[Callable[[str], object]]:
    import duckdb

    with duckdb.connect(str(folder / "raw.duckdb"), read_only=True) as raw:
        yield partial(trips.raw_answer, raw)


@contextmanager
def _raw_postgres(folder: Path) -> Iterator[Callable[[str], object]]:
    import psycopg

    with psycopg.connect(_find_url(folder), autocommit=True) as raw:
        raw.execute('SET search_path = "all"')
        yield lambda sql: raw.execute(sql).fetchall()


@contextmanager
def _raw_spark(folder: Path) -> Iterator[Callable[[str], object]]:
    """The session that the engine started with our settings, over the same files."""
    from pyspark.sql import SparkSession

    raw = SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
    raw.read.parquet(str(folder / "trips.parquet")).createOrReplaceTempView("raw_trips")
    yield lambda sql: raw.sql(sql.replace("FROM trips", "FROM raw_trips")).collect()


SERVERS = {"duckdb": _no_server, "postgres": _postgres_server, "spark": _spark_engine}
RAW = {"duckdb": _raw_duckdb, "postgres": _raw_postgres, "spark": _raw_spark}


def _copy(raw: psycopg.Connection[Any], name: str, path: Path) -> None:
    with raw.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN (FORMAT csv)") as copy:
        for batch in pq.ParquetFile(path).iter_batches(200_000):
            sink = pa.BufferOutputStream()
            pyarrow.csv.write_csv(batch, sink, pyarrow.csv.WriteOptions(include_header=False))
            copy.write(sink.getvalue().to_pybytes())


def _name_sources(folder: Path, sources: dict[str, tuple[str, str]]) -> None:
    text = (folder / "catalog.toml").read_text()
    text = text.replace('name = "trips"', f'name = "trips_{folder.name}"')
    for name, (url, table) in sources.items():
        text = text.replace(f'source = "{name}.parquet"', f'source = "{url}"\ntable = "{table}"')
    (folder / "catalog.toml").write_text(text)


def _find_url(folder: Path) -> str:
    lines = (folder / "catalog.toml").read_text().splitlines()
    return next(line.split('"')[1] for line in lines if line.startswith('source = "postgresql'))


def _count_bytes(folder: Path) -> int:
    """Of the schema that holds the index of all rows."""
    import psycopg

    size = "SELECT SUM(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace"
    with psycopg.connect(_find_url(folder)) as raw:
        ((found,),) = raw.execute(f"{size} WHERE nspname LIKE 'adomnia trips_all %' AND relkind = 'r'").fetchall()
    return int(found)
