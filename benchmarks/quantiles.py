"""Quantiles: how far off they are, how wide their intervals are, and how long they take of ten million rows.

    python benchmarks/quantiles.py [--rows 10000000]

Errors are means over seeds, each with rows and noise of its own, one row a person, at epsilon 1; beside each stands
what is off without an interval: a plain choice of one value, and halving for several. Exits with 1 where a bar is
missed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path

import duckdb
import numpy as np

import adomnia
from adomnia.mechanisms.brackets import Brackets
from adomnia.mechanisms.halving import Halving
from adomnia.mechanisms.histograms import SecretHistogram
from adomnia.noise import SystemBits
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.privacy.scans import Histogram, bucket_bits
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.statistics.contract import Estimate, Measured
from adomnia.statistics.quantile import PlainQuantile, Quantile
from trips import Report, declare, interleaved, prepare, raw_answer

DOMAIN = Numbers.bounded(0, 100)
FARE = Column("fare", Quantity(Fraction(0), Fraction(100)), DOMAIN)
TENTHS = tuple(Fraction(tenth, 10) for tenth in range(1, 10))
ERRORS = [("a median", (Fraction(1, 2),), 200, 1.6), ("nine deciles", TENTHS, 20, 1.3)]
DECILES = ", ".join(f"QUANTILE(fare, 0.{tenth})" for tenth in range(1, 10))
QUESTIONS = {
    "MEDIAN(fare)": ("SELECT MEDIAN(fare) FROM trips", 300.0),
    "MEDIAN(fare) by city": ("SELECT city, MEDIAN(fare) FROM trips GROUP BY city", 1000.0),
    "nine deciles": (f"SELECT {DECILES} FROM trips", 600.0),  # noqa: S608 - of our own making
}


def fares(rows: int, seed: int) -> np.ndarray:
    return np.clip(np.random.default_rng(seed).lognormal(2.5, 0.7, rows), 0, 100)


def measured(values: np.ndarray, shares: tuple[Fraction, ...], kind: type[Halving | Brackets]) -> np.ndarray:
    """What a mechanism releases of one cell, for epsilon 1."""
    mechanism = kind(shares, DOMAIN.width + 1, Fraction(1), Pure(1))
    grid, shift = np.rint(values / float(DOMAIN.step)).astype(np.int64), bucket_bits(mechanism.values)

    def read(buckets: list[int] | None) -> np.ndarray:
        kept = grid >> shift if buckets is None else grid[np.isin(grid >> shift, buckets)]
        found, counts = np.unique(kept, return_counts=True)
        return np.stack([np.zeros_like(found), found, counts])

    secret = SecretHistogram(read, 1, Sensitivity(l1=1), mechanism.event(Sensitivity(l1=1)))
    return mechanism.release(secret, SystemBits())


def estimates(values: np.ndarray, shares: tuple[Fraction, ...], kind: type[Halving | Brackets]) -> list[Estimate]:
    aggregate = Histogram(FARE, DOMAIN, shares, Fraction(19, 20))
    asked = [Quantile(Query(Private("trips", 1, (FARE,)), (), aggregate), share) for share in shares]
    released = measured(values, shares, kind)
    mechanism = kind(shares, DOMAIN.width + 1, Fraction(1), Pure(1))
    wanted = asked if kind is Brackets else [PlainQuantile(each.query, each.share) for each in asked]
    return [each.estimate(Measured(released, mechanism)) for each in wanted]  # type: ignore[attr-defined, misc]


def errors(report: Report) -> None:
    """The error of values with an interval against those without; of medians, how many ranks the interval spans."""
    for (name, shares, seeds, bar), rows in product(ERRORS, (1_000, 10_000, 100_000)):
        off, spans, whole, ranks = [], [], [], [float(share) * rows for share in shares]
        for seed in range(seeds):
            values = np.sort(fares(rows, seed))
            with_one, plain = (estimates(values, shares, kind) for kind in (Brackets, Halving))
            for rank, one, other in zip(ranks, with_one, plain, strict=True):
                true = values[max(0, round(rank) - 1)]
                off.append([abs(float(each.values[0]) - true) for each in (one, other)])
                lower, upper = (float(each[0]) for each in one.interval(0.95, 1))
                spans.append(np.searchsorted(values, upper, "right") - np.searchsorted(values, lower))
                whole.append(lower <= 0 and upper >= 100)
        found, alone = np.mean(off, axis=0)
        kept = found <= bar * alone
        report.kept &= bool(kept)
        wide = f"spans {np.mean(spans):.1f} ranks, {np.mean(whole):.1%} whole"
        verdict = "ok" if kept else "MISSED"
        print(
            f"{name} of {rows:>7,} rows: off {found:.5f}, alone {alone:.5f}, bar {bar}x, {wide}  {verdict}", flush=True
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
