# ruff: noqa: S608 - questions are put together from constants
"""Joins and per-person aggregates over ten million trips: private answers against the same SQL on raw DuckDB.

    python benchmarks/relations.py [--rows 10000000]

Every question is asked of both in turn, and the medians are compared: at most 1.5 times the raw query where stored
columns are aggregated, 4 times where expressions are clamped in the query, plus what every answer costs whatever its
size (`trips.py` measures that). Exits with 1 where a bar is missed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

import adomnia
from trips import CITIES, FIXED_MILLISECONDS, Question, Report, fsync, interleaved, raw_answer, trips

REGIONS = ["east", "north", "south", "west"]
CAP = 100

CATALOG = f"""
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
person_id = {{ type = "id" }}
home = {{ type = "category", values = "cities.city" }}
age = {{ type = "integer", lower = 0, upper = 120 }}
[tables.trips]
source = "trips.parquet"
person = "person_id -> people.person_id"
rows_per_person = {CAP}
[tables.trips.columns]
person_id = {{ type = "id" }}
city = {{ type = "category", values = "cities.city" }}
fare = {{ type = "number", lower = 0, upper = 100 }}
distance = {{ type = "number", lower = 0, upper = 50 }}
day = {{ type = "integer", lower = 0, upper = 364 }}
[tables.cities]
source = "cities.csv"
public = true
[tables.cities.columns]
city = {{ type = "text" }}
region = {{ type = "category", values = {REGIONS} }}
"""

_PER_PERSON = "(SELECT person_id, COUNT(*) AS n, SUM(fare) AS paid FROM trips GROUP BY person_id)"
_PERSON = "p.person_id = t.person_id"
QUESTIONS = [
    Question(
        "join on the person", f"SELECT COUNT(*), SUM(fare) FROM trips t JOIN people p ON {_PERSON} WHERE age > 40"
    ),
    Question(
        "the same by home", f"SELECT home, COUNT(*), SUM(fare) FROM trips t JOIN people p ON {_PERSON} GROUP BY home"
    ),
    Question("left join", f"SELECT COUNT(*), COUNT(t.fare) FROM people p LEFT JOIN trips t ON {_PERSON}"),
    Question(
        "join with a public table", "SELECT region, SUM(fare) FROM trips JOIN cities USING (city) GROUP BY region"
    ),
    Question("per person, a count", f"SELECT AVG(n) FROM {_PER_PERSON} AS own"),
    Question("per person, a count and a sum", f"SELECT AVG(n), AVG(paid) FROM {_PER_PERSON} AS own"),
    Question(
        "per person, joined", f"SELECT home, AVG(n) FROM people p JOIN {_PER_PERSON} AS t ON {_PERSON} GROUP BY home"
    ),
    Question(
        "exists", f"SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM trips t WHERE {_PERSON} AND fare > 50)"
    ),
    Question(
        "in, having",
        "SELECT COUNT(*) FROM people WHERE person_id IN "
        "(SELECT person_id FROM trips GROUP BY person_id HAVING COUNT(*) > 5)",
    ),
    Question(
        "union all", "SELECT COUNT(*), SUM(x) FROM (SELECT fare AS x FROM trips UNION ALL SELECT fare FROM trips) AS t"
    ),
    Question(
        "join, an expression",
        f"SELECT home, SUM(fare * 1.2 + age) FROM trips t JOIN people p ON {_PERSON} GROUP BY home",
        ratio=4,
    ),
    Question(
        "per person, an expression",
        "SELECT AVG(s) FROM (SELECT person_id, SUM(fare * 1.2 + distance) AS s FROM trips GROUP BY person_id) AS own",
        ratio=4,
    ),
]


def prepare(folder: Path, rows: int) -> None:
    """Trips, the people who made them, public cities, and a catalog."""
    table = trips(rows)
    people = table["person_id"].unique()
    draw = np.random.default_rng(21)
    homes = pa.array(CITIES).take(pa.array(draw.integers(0, len(CITIES), len(people))))
    ages = pa.array(draw.integers(0, 100, len(people)))
    pq.write_table(table, folder / "trips.parquet")
    pq.write_table(pa.table({"person_id": people, "home": homes, "age": ages}), folder / "people.parquet")
    regions = [REGIONS[place % len(REGIONS)] for place in range(len(CITIES))]
    pc.write_csv(pa.table({"city": CITIES, "region": regions}), folder / "cities.csv")
    (folder / "catalog.toml").write_text(CATALOG)
    with duckdb.connect(str(folder / "raw.duckdb")) as raw:
        for name, reader in (("trips", "read_parquet"), ("people", "read_parquet"), ("cities", "read_csv")):
            (path,) = folder.glob(f"{name}.*")
            raw.execute(f"CREATE TABLE {name} AS FROM {reader}($1)", [str(path)])


def ask(folder: Path, report: Report) -> None:
    """All questions, of the raw tables and through a session."""
    with duckdb.connect(str(folder / "raw.duckdb"), read_only=True) as raw, adomnia.open(folder) as curator:
        session = curator.session("somebody")
        for question in QUESTIONS:
            peer, found, one_fsync = interleaved(
                partial(raw_answer, raw, question.sql),
                partial(session.sql, question.sql, epsilon=1, replay=False),
                partial(fsync, folder),
            )
            ratio = max(question.ratio, 1.5)
            bar = ratio * peer + FIXED_MILLISECONDS + 2 * one_fsync
            report.line(question.name, f"{peer:.1f} ms", found, bar, "ms")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    rows = parser.parse_args().rows
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        prepare(Path(name), rows)
        print(f"{rows:,} trips\n{'':<38}{'raw':>12}{'private':>15}{'bar':>14}", flush=True)
        ask(Path(name), report)
    return 0 if report.kept else 1


if __name__ == "__main__":
    sys.exit(main())
