"""Medians: how far off they are, and how long one of ten million rows, and one for each of fifty groups, takes.

    python benchmarks/quantiles.py [--rows 10000000]

Errors are means over 200 seeds, each with rows and noise of its own, one row a person, at epsilon 1, against the median
of the rows; beside each stands what a choice of the value alone would be off by, without an interval. Exits with 1
where a bar is missed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from fractions import Fraction
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

import adomnia
from adomnia.mechanisms.quantiles import Quantiles, SecretHistogram
from adomnia.mechanisms.ranks import Target
from adomnia.noise import SystemBits
from adomnia.privacy.domains import Numbers
from adomnia.privacy.sensitivity import Sensitivity
from trips import Report, declare, interleaved, prepare, raw_answer

SEEDS = 200
ERRORS = {1_000: 0.025, 10_000: 0.0035, 100_000: 0.0004}
DECILES = ", ".join(f"QUANTILE(fare, 0.{tenth})" for tenth in range(1, 10))
QUESTIONS = {
    "MEDIAN(fare)": ("SELECT MEDIAN(fare) FROM trips", 300.0),
    "MEDIAN(fare) by city": ("SELECT city, MEDIAN(fare) FROM trips GROUP BY city", 1000.0),
    "nine deciles": (f"SELECT {DECILES} FROM trips", 600.0),  # noqa: S608 - of our own making
}


def fares(rows: int, seed: int) -> np.ndarray:
    return np.clip(np.random.default_rng(seed).lognormal(2.5, 0.7, rows), 0, 100)


def answered(values: np.ndarray) -> float:
    frame = pa.table({"person_id": np.arange(len(values)), "fare": values})
    own = adomnia.protect(frame, unit="person_id", rows_per_person=1, bounds={"fare": (0, 100)}, epsilon=1)
    return float(own.sql("SELECT MEDIAN(fare) AS m FROM data", epsilon=1)["m"][0])


def chosen_alone(values: np.ndarray) -> float:
    """The value at the median's own rank, for all of epsilon 1."""
    domain = Numbers.bounded(0, 100)
    law = Quantiles((Target(Fraction(1, 2), Fraction(0)),), domain.width + 1, Fraction(1, 2))
    grid = np.array([domain.grid(float(value)) for value in values])

    def read(buckets: list[int] | None) -> np.ndarray:
        kept = grid >> law.shift if buckets is None else grid[np.isin(grid >> law.shift, buckets)]
        found, counts = np.unique(kept, return_counts=True)
        return np.stack([np.zeros_like(found), found, counts])

    secret = SecretHistogram(read, 1, Sensitivity(l1=1), law.event(Sensitivity(l1=1)))
    return float(law.release(secret, SystemBits())[0, 0] * domain.step)


def errors(report: Report) -> None:
    for rows, bar in ERRORS.items():
        both = []
        for seed in range(SEEDS):
            values = fares(rows, seed)
            both.append([abs(found - np.median(values)) for found in (answered(values), chosen_alone(values))])
        found, alone = np.mean(both, axis=0)
        report.kept &= found <= bar
        verdict = "ok" if found <= bar else "MISSED"
        print(
            f"error of a median of {rows:>7,} rows{found:>12.5f}  alone {alone:.5f}  bar {bar}  {verdict}", flush=True
        )


def times(report: Report, rows: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder, rows)
        declare(folder, 10)
        with duckdb.connect(str(folder / "raw.duckdb"), read_only=True) as raw, adomnia.open(folder) as curator:
            session = curator.session("somebody")
            for label, (sql, bar) in QUESTIONS.items():
                peer, found = interleaved(
                    partial(raw_answer, raw, sql), partial(session.sql, sql, epsilon=1, replay=False), pairs=5
                )
                report.line(f"{label}, {rows:,} rows", f"{peer:.1f} ms", found, bar, "ms")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    report = Report()
    times(report, parser.parse_args().rows)
    errors(report)
    return 0 if report.kept else 1


if __name__ == "__main__":
    sys.exit(main())
