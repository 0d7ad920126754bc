"""Ten million trips of two million people: private answers against DuckDB on the raw table, in the same run.

    python benchmarks/trips.py [--rows 10000000]

Every question is asked of both in turn, 15 times, and once more of a thousand rows, which tells the fixed cost of an
answer; medians are compared with the bar: so many times raw, and the fixed cost.
The build of the index has bars too: time, memory, size of the file. Exits with 1 where a bar is missed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import adomnia

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from adomnia.session.session import LocalSession

PAIRS = 15
CAPS = (10, 100)
FEW_ROWS = 1000  # of a table that tells what an answer costs whatever the rows are
BUILD_SECONDS, BUILD_MEBIBYTES, FILE_RATIO = 15, 2048, 1.6
PEOPLE_PER_ROW = 0.201
BATCH = 1_000_000
PREPARING = "3GB"  # of memory, for tables of DuckDB
DAYS = 365
CITIES = [f"city {place:02d}" for place in range(50)]

CATALOG = """
[dataset]
name = "trips"
version = 1
unit = "people.person_id"
[budget]
epsilon = 1_000_000
[analysts.somebody]
epsilon = 1_000_000
[tables.people]
source = "people.parquet"
rows_per_person = 1
[tables.people.columns]
person_id = { type = "id" }
[tables.trips]
source = "trips.parquet"
person = "person_id -> people.person_id"
rows_per_person = CAP
[tables.trips.columns]
person_id = { type = "id" }
city = { type = "category", values = CITIES }
fare = { type = "number", lower = 0, upper = 100 }
distance = { type = "number", lower = 0, upper = 50 }
day = { type = "integer", lower = 0, upper = LAST_DAY }
"""


@dataclass(frozen=True)
class Question:
    """One thing to ask, and how many times as long as the raw query it may take."""

    name: str
    sql: str
    ratio: float = 1.2


QUESTIONS = [
    Question("COUNT WHERE", "SELECT COUNT(*) FROM trips WHERE fare > 20"),
    Question("COUNT, SUM, AVG by city", "SELECT city, COUNT(*), SUM(fare), AVG(fare) FROM trips GROUP BY city"),
    Question("COUNT WHERE, clustered", "SELECT COUNT(*) FROM trips WHERE day = 200"),
    Question(
        "SUM, AVG by city, clustered", "SELECT city, SUM(fare), AVG(fare) FROM trips WHERE day = 200 GROUP BY city"
    ),
    Question("SUM of an expression", "SELECT SUM(fare * 1.2 + distance) FROM trips", ratio=1.8),
    Question("AVG of one by city", "SELECT city, AVG(fare * 1.2 + distance) FROM trips GROUP BY city", ratio=1.8),
]


def list_trips(rows: int) -> Iterator[pa.Table]:
    """People with 1 to 100 trips each by Zipf's law, skewed cities, lognormal fares; rows are in the order of days.

    They come a million at a time: of a hundred million, only whose trips they are is in memory at once.
    """
    draw = np.random.default_rng(20)
    person = _draw_people(rows, draw)
    last_rows = np.cumsum(draw.multinomial(rows, np.full(DAYS, 1 / DAYS)))
    popularity = 1 / np.arange(1, len(CITIES) + 1)
    for start in range(0, rows, BATCH):
        own = person[start : start + BATCH]
        city = draw.choice(len(CITIES), size=len(own), p=popularity / popularity.sum()).astype(np.int32)
        day = np.searchsorted(last_rows, np.arange(start, start + len(own)), side="right")
        yield pa.table(
            {
                "person_id": own.astype(np.int64) * 7 + 1_000_003,
                "city": pa.DictionaryArray.from_arrays(city, pa.array(CITIES)).cast(pa.string()),
                "fare": np.clip(draw.lognormal(2.5, 0.7, len(own)), 0, 100),
                "distance": np.clip(draw.exponential(6, len(own)), 0, 50),
                "day": day.astype(np.int16),
            }
        )


def _draw_people(rows: int, draw: np.random.Generator) -> np.ndarray:
    """Whose trip each row is: numbers from 0 on, in no order."""
    sizes = np.arange(1, 101)
    weights = sizes ** -_exponent(1 / PEOPLE_PER_ROW)
    people = draw.choice(sizes, size=int(rows * PEOPLE_PER_ROW * 1.05) + 10, p=weights / weights.sum())
    person = np.repeat(np.arange(len(people), dtype=np.int32), people)[:rows].copy()
    draw.shuffle(person)
    return person


def _exponent(mean: float) -> float:
    """The exponent of a Zipf law on 1..100 with this mean."""
    sizes, low, high = np.arange(1, 101), 0.0, 4.0
    for _ in range(50):
        middle = (low + high) / 2
        weights = sizes**-middle
        low, high = (middle, high) if (weights * sizes).sum() / weights.sum() > mean else (low, middle)
    return low


def prepare(folder: Path, rows: int) -> None:
    """The data as Parquet files, the same as tables of DuckDB, and a catalog."""
    writer: pq.ParquetWriter | None = None
    for batch in list_trips(rows):
        writer = writer or pq.ParquetWriter(folder / "trips.parquet", batch.schema)
        writer.write_table(batch)
    if writer is not None:
        writer.close()
    settings: dict[str, str | bool | int | float | list[str]] = {"memory_limit": PREPARING, "temp_directory": ""}
    with duckdb.connect(str(folder / "raw.duckdb"), config=settings) as raw:
        raw.execute("SET enable_progress_bar = false")
        raw.execute("CREATE TABLE trips AS FROM read_parquet($1)", [str(folder / "trips.parquet")])
        raw.execute("CREATE TABLE people AS SELECT DISTINCT person_id FROM trips")
        raw.execute(f"COPY people TO '{folder / 'people.parquet'}'")
    declare(folder, max(CAPS))


def declare(folder: Path, cap: int) -> None:
    """Write the catalog. The index holds all rows with their ranks, so that one serves every cap."""
    facts = {"CAP": cap, "CITIES": CITIES, "LAST_DAY": DAYS - 1}
    text = CATALOG
    for word, fact in facts.items():
        text = text.replace(word, str(fact))
    (folder / "catalog.toml").write_text(text)


def build(folder: Path) -> tuple[float, float]:
    """Build the index: seconds, and the peak memory of this process in MiB."""
    start = perf_counter()
    adomnia.open(folder).close()
    return perf_counter() - start, getrusage(RUSAGE_SELF).ru_maxrss / 1024


def in_a_process_of_its_own(work: Callable[[Path], tuple[float, float]], folder: Path) -> tuple[float, float]:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, folder).result()


def interleaved(*works: Callable[[], object], pairs: int = PAIRS) -> list[float]:
    """The medians in milliseconds of things done in turn, after one round to warm up."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(pairs + 1):
        for work, record in zip(works, times, strict=True):
            start = perf_counter()
            work()
            record.append((perf_counter() - start) * 1000)
    return [median(record[1:]) for record in times]


@dataclass
class Report:
    """The lines of the table, and whether all bars were kept."""

    kept: bool = True

    def line(self, name: str, peer: str, found: float, bar: float, unit: str) -> None:
        fits = found <= bar
        self.kept &= fits
        verdict = "ok" if fits else "MISSED"
        print(f"{name:<38}{peer:>12}{found:>10.1f} {unit:<4}{bar:>9.1f} {unit:<4} {verdict}", flush=True)


def ask(folder: Path, few: Path, report: Report) -> None:
    """All questions at all caps, of the raw table, through a session, and through one with almost no rows."""
    with duckdb.connect(str(folder / "raw.duckdb"), read_only=True) as raw:
        for cap in CAPS:
            declare(folder, cap)
            declare(few, cap)
            with adomnia.open(folder) as curator, adomnia.open(few) as small:
                sessions = [each.session("somebody") for each in (curator, small)]
                for question in QUESTIONS:
                    private = [_asking(each, question.sql) for each in sessions]
                    peer, found, fixed = interleaved(partial(raw_answer, raw, question.sql), *private)
                    report.line(
                        f"{question.name}, cap {cap}", f"{peer:.1f} ms", found, question.ratio * peer + fixed, "ms"
                    )


def _asking(session: LocalSession, sql: str) -> Callable[[], object]:
    return partial(session.sql, sql, epsilon=1, replay=False, allow_uninformative=True)


def raw_answer(raw: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
    return raw.cursor().sql(sql).to_arrow_table()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    rows = parser.parse_args().rows
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        folder, few = Path(name) / "all", Path(name) / "few"
        for part, size in ((folder, rows), (few, FEW_ROWS)):
            part.mkdir()
            prepare(part, size)
        print(f"{rows:,} trips\n{'':<38}{'raw':>12}{'private':>15}{'bar':>14}", flush=True)
        seconds, mebibytes = in_a_process_of_its_own(build, folder)
        report.line("building the index", "", seconds, BUILD_SECONDS, "s")
        report.line("its peak memory", "", mebibytes, BUILD_MEBIBYTES, "MiB")
        (index,) = folder.rglob("index-*.duckdb")
        raw_size, size = (path.stat().st_size / 2**20 for path in (folder / "raw.duckdb", index))
        report.line("its size", f"{raw_size:.0f} MiB", size, FILE_RATIO * raw_size, "MiB")
        ask(folder, few, report)
    return 0 if report.kept else 1


if __name__ == "__main__":
    sys.exit(main())
