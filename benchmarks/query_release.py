"""Query release: how near synthetic rows and noisy tables are to the data, at equal prices.

    python benchmarks/query_release.py [--trials 5] [--adult adult.csv]

Prints a Markdown table: of each data set and rho, the mean total variation over all tables of two columns, of each
method the mean over trials. `noise` is every table by itself with an equal part of the price, cut at 0; `chance` is
what as many rows drawn from the data itself would have. Of Adult, four small columns are taken; the file has a line a
person, with the place of each value, and is no part of this project.
"""

from __future__ import annotations

import argparse
import csv
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from adomnia.methods.releases import boosting, mwem
from adomnia.methods.synthesis.explicit_rows import cut_to_total
from adomnia.privacy.events import Concentrated
from adomnia.statistics.contract import Measure
from kit.bits import SeededBits
from kit.placed_rows import PlacedRows, build, draw_people, find_distance, find_shares, release

PRICES = [Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10), Fraction(1)]
ADULT = ["workclass", "marital-status", "race", "sex"]
MADE_UP = {"made up, 5,000 rows": (5_000, (5, 4, 6, 3), 1), "made up, 50,000 rows": (50_000, (8, 2, 7, 5), 2)}


METHODS = {
    "mwem": (mwem.METHOD, {}),
    "mwem, cells": (mwem.METHOD, {"queries": "cells"}),
    "boosting": (boosting.METHOD, {}),
}


def measure_alone(rows: np.ndarray, sizes: tuple[int, ...], rho: Fraction, seed: int) -> float:
    """Every table by itself: the mean distance of its shares."""
    analysis = build(mwem.METHOD, sizes)
    data, tables, apart = PlacedRows(analysis, rows, SeededBits(seed)), analysis.tables, []
    for table in tables.asked:
        noisy = data.measure(Measure(tables.query(table), Concentrated(rho / len(tables.asked))))
        counts = noisy.values.astype(np.float64).ravel()
        total = max(1.0, float(counts.sum()))
        apart.append(np.abs(cut_to_total(counts, total) / total - find_shares(rows, sizes, table)).sum() / 2)
    return float(np.mean(apart))


def draw_again(rows: np.ndarray, sizes: tuple[int, ...], seed: int) -> float:
    """What chance alone would do to as many rows."""
    again = rows[np.random.default_rng(seed).integers(len(rows), size=len(rows))]
    return find_distance(rows, again, sizes, 2)


def compare(rows: np.ndarray, sizes: tuple[int, ...], rho: Fraction, trials: int) -> list[float]:
    """The mean distance of each method, of noise alone and of chance."""
    found = []
    for method, options in METHODS.values():
        analysis = build(method, sizes, size=10 * len(rows), **options)
        apart = [release(analysis, Concentrated(rho), rows, seed)[0].product.rows for seed in range(trials)]
        found.append(float(np.mean([find_distance(rows, each, sizes, 2) for each in apart])))
    found.append(float(np.mean([measure_alone(rows, sizes, rho, seed) for seed in range(trials)])))
    return [*found, float(np.mean([draw_again(rows, sizes, seed) for seed in range(trials)]))]


def read_adult(path: Path) -> tuple[np.ndarray, tuple[int, ...]]:
    with path.open() as file:
        lines = [[int(line[name]) for name in ADULT] for line in csv.DictReader(file)]
    rows = np.array(lines)
    return rows, tuple((rows.max(axis=0) + 1).tolist())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--adult", type=Path)
    options = parser.parse_args()
    data = {name: (draw_people(*how), how[1]) for name, how in MADE_UP.items()}
    if options.adult is not None and options.adult.exists():
        data["Adult, 4 columns"] = read_adult(options.adult)
    print("| data | rho |", " | ".join([*METHODS, "noise", "chance"]), "|")
    print("|---" * (4 + len(METHODS)) + "|")
    for name, (rows, sizes) in data.items():
        for rho in PRICES:
            found = compare(rows, sizes, rho, options.trials)
            print(f"| {name} | {float(rho)} |", " | ".join(f"{each:.4f}" for each in found), "|", flush=True)


if __name__ == "__main__":
    main()
