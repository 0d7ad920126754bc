"""Ten million trips of two million people: private answers against DuckDB on the raw table, in the same run.

    python benchmarks/trips.py [--rows 10000000]

Every question is asked of both in turn, 15 times, and the medians are compared with the bar that it has to stay under.
The build of the index has bars too: time, memory, size of the file. Exits with 1 where a bar is missed.
"""

from __future__ import annotations

import argparse
import os
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
    from collections.abc import Callable

PAIRS = 15
CAPS = (10, 100)
FIXED_MILLISECONDS = 14
BUILD_SECONDS, BUILD_MEBIBYTES, FILE_RATIO = 15, 2048, 1.6
PEOPLE_PER_ROW = 0.19
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


def trips(rows: int) -> pa.Table:
    """People with 1 to 100 trips each by Zipf's law, skewed cities, lognormal fares; rows are in the order of days."""
    draw = np.random.default_rng(20)
    sizes = np.arange(1, 101)
    weights = sizes ** -_exponent(1 / PEOPLE_PER_ROW)
    people = draw.choice(sizes, size=int(rows * PEOPLE_PER_ROW * 1.05) + 10, p=weights / weights.sum())
    person = draw.permutation(np.repeat(np.arange(len(people)), people)[:rows])
    popularity = 1 / np.arange(1, len(CITIES) + 1)
    city = draw.choice(len(CITIES), size=rows, p=popularity / popularity.sum()).astype(np.int32)
    return pa.table(
        {
            "person_id": person * 7 + 1_000_003,
            "city": pa.DictionaryArray.from_arrays(city, pa.array(CITIES)).cast(pa.string()),
            "fare": np.clip(draw.lognormal(2.5, 0.7, rows), 0, 100),
            "distance": np.clip(draw.exponential(6, rows), 0, 50),
            "day": np.sort(draw.integers(0, DAYS, rows)).astype(np.int16),
        }
    )


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
    table = trips(rows)
    pq.write_table(table, folder / "trips.parquet")
    pq.write_table(pa.table({"person_id": table["person_id"].unique()}), folder / "people.parquet")
    with duckdb.connect(str(folder / "raw.duckdb")) as raw:
        for name in ("trips", "people"):
            raw.execute(f"CREATE TABLE {name} AS FROM read_parquet($1)", [str(folder / f"{name}.parquet")])
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


def fsync(folder: Path) -> None:
    """One appended page made durable: what the ledger cannot do without, twice an answer."""
    with (folder / "page").open("ab") as file:
        file.write(bytes(4096))
        file.flush()
        os.fsync(file.fileno())


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


def ask(folder: Path, report: Report) -> None:
    """All questions at all caps, of the raw table and through a session."""
    with duckdb.connect(str(folder / "raw.duckdb"), read_only=True) as raw:
        for cap in CAPS:
            declare(folder, cap)
            with adomnia.open(folder) as curator:
                session = curator.session("somebody")
                for question in QUESTIONS:
                    peer, found, one_fsync = interleaved(
                        partial(raw_answer, raw, question.sql),
                        partial(session.sql, question.sql, epsilon=1, replay=False),
                        partial(fsync, folder),
                    )
                    bar = question.ratio * peer + FIXED_MILLISECONDS + 2 * one_fsync
                    report.line(f"{question.name}, cap {cap}", f"{peer:.1f} ms", found, bar, "ms")


def raw_answer(raw: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
    return raw.cursor().sql(sql).to_arrow_table()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    rows = parser.parse_args().rows
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder, rows)
        print(f"{rows:,} trips\n{'':<38}{'raw':>12}{'private':>15}{'bar':>14}", flush=True)
        seconds, mebibytes = in_a_process_of_its_own(build, folder)
        report.line("building the index", "", seconds, BUILD_SECONDS, "s")
        report.line("its peak memory", "", mebibytes, BUILD_MEBIBYTES, "MiB")
        (index,) = folder.rglob("index-*.duckdb")
        raw_size, size = (path.stat().st_size / 2**20 for path in (folder / "raw.duckdb", index))
        report.line("its size", f"{raw_size:.0f} MiB", size, FILE_RATIO * raw_size, "MiB")
        ask(folder, report)
    return 0 if report.kept else 1


if __name__ == "__main__":
    sys.exit(main())
