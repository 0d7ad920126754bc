"""One grouped question of Ad Omnia and of other packages: seconds, memory, errors. Writes them to docs/comparison.md.

    python benchmarks/comparison.py [--rows 1000000] [--rounds 5]

COUNT, SUM and AVG of fares by city at epsilon 1 for the whole question. Nobody has more than 10 trips and all declare
that, so that no cap changes the truth. In each round every package has a new process in turn, which asks four times:
the first is cold and counts from the start of the process, the others are warm. Ratios are within a round.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from shutil import rmtree
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

import duckdb

import trips
from parts.memory import in_a_process_of_its_own
from parts.peers import PACKAGES, ask_peer, find_python

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_TRIPS = 10
PAGE = Path(__file__).resolve().parents[1] / "docs" / "comparison.md"
WRITTEN = re.compile(r"(<!-- written by benchmarks/comparison.py -->\n).*?(<!-- /written -->)", re.DOTALL)
OURS, FIRST_OPEN = "adomnia", "first open"
COLUMNS = ("count", "sum", "mean")


def prepare(folder: Path, rows: int) -> None:
    """Trips of people who have ten at most."""
    trips.prepare(folder, rows)
    path, few = folder / "trips.parquet", folder / "few.parquet"
    with duckdb.connect() as connection:
        number = "row_number() OVER (PARTITION BY person_id ORDER BY day, fare)"
        connection.execute(
            f"COPY (SELECT * FROM '{path}' QUALIFY {number} <= {MOST_TRIPS} ORDER BY day) TO '{few}'"  # noqa: S608 - ours
        )
    few.rename(path)
    trips.declare(folder, MOST_TRIPS)


def find_truth(path: Path) -> dict[str, tuple[float, float, float]]:
    """Count, sum and mean of each city."""
    question = f"SELECT city, COUNT(*), SUM(fare), AVG(fare) FROM '{path}' GROUP BY city"  # noqa: S608 - ours
    with duckdb.connect() as connection:
        return {city: (count, total, mean) for city, count, total, mean in connection.execute(question).fetchall()}


def run_round(folder: Path, pythons: dict[str, str]) -> dict[str, dict[str, Any]]:
    """What each package tells, in turn; ours twice: with the index to build, and with the index there."""
    rmtree(folder / ".adomnia", ignore_errors=True)
    told = {}
    for name, python in ((FIRST_OPEN, sys.executable), *pythons.items()):
        found = ask_peer(python, OURS if name == FIRST_OPEN else name, folder / "trips.parquet")
        if found:
            told[name] = found
            print(f"  {found['name']:<44}{found['cold_seconds']:8.2f} s cold{found['seconds']:9.3f} s", flush=True)
    return told


def list_errors(told: Sequence[dict[str, Any]], truth: dict[str, tuple[float, float, float]]) -> list[float]:
    """The mean relative error of counts, sums and means over cities and answers; a missing city counts as 0."""
    answers = [{city: given for city, *given in answer} for each in told for answer in each["answers"]]
    return [
        fmean(abs(answer.get(city, (0, 0, 0))[place] / truth[city][place] - 1) for answer in answers for city in truth)
        for place in range(len(COLUMNS))
    ]


def list_lines(rounds: list[dict[str, dict[str, Any]]], truth: dict[str, tuple[float, float, float]]) -> Iterator[str]:
    """The table in Markdown."""
    yield "| | cold: first answer, s | warm, s | warm, against ours | MiB | error of count | of sum | of mean |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    for name in rounds[0]:
        told = [each[name] for each in rounds if name in each]
        colds = [each["cold_seconds"] for each in told]
        if name == FIRST_OPEN:
            yield f"| {told[0]['name']}, with the index to build | {_spread(colds, 2)} | | | | | | |"
            continue
        warm = [seconds for each in told for seconds in each["warm_seconds"]]
        ratio = [each[name]["seconds"] / each[OURS]["seconds"] for each in rounds if name in each]
        memory = median(each["memory_bytes"] for each in told) / 2**20
        errors = [_write_error(error) for error in list_errors(told, truth)]
        faster = f"{float(f'{median(ratio):.2g}'):g}"
        cells = [told[0]["name"], _spread(colds, 2), _spread(warm, 3), faster, f"{memory:,.0f}", *errors]
        yield f"| {' | '.join(cells)} |"


def _write_error(error: float) -> str:
    return "over 100%" if error > 1 else f"{100 * round(error, 6):.2g}%"


def _spread(seconds: Sequence[float], digits: int) -> str:
    return f"{median(seconds):.{digits}f} ({min(seconds):.{digits}f} to {max(seconds):.{digits}f})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    pythons = {OURS: sys.executable, "duckdb": sys.executable}
    pythons |= {peer: python for peer in PACKAGES if (python := find_python(peer))}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        in_a_process_of_its_own(prepare, folder, given.rows)
        truth = find_truth(folder / "trips.parquet")
        waiting = [os.getloadavg()[0] / (os.cpu_count() or 1)]
        rounds = []
        for number in range(given.rounds):
            print(f"round {number + 1}", flush=True)
            rounds.append(run_round(folder, pythons))
            waiting.append(os.getloadavg()[0] / (os.cpu_count() or 1))
        size = sum(count for count, _, _ in truth.values())
        told = (
            f"Measured on {datetime.now(UTC):%Y-%m-%d}: {size:,} trips, {os.cpu_count()} cores, Python "
            f"{sys.version.split()[0]}, {given.rounds} rounds. Seconds are medians of {given.rounds} cold and "
            f"{3 * given.rounds} warm answers, with the least and the greatest. Up to {max(waiting):.1f} processes "
            "waited for each core meanwhile: compare the ratios, which are within a round."
        )
        lines = [told, "", *list_lines(rounds, truth)]
    written = "\n".join(lines) + "\n"
    print(written)
    PAGE.write_text(WRITTEN.sub(lambda found: found[1] + written + found[2], PAGE.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
