"""All two-way tables of a census sample: how long they take, and how near their errors come to the least possible.

    python benchmarks/marginals.py FOLDER [--rho 0.1]

FOLDER has adult.csv, whose columns are codes from 0, and adult-domain.json, how many values each has; without them
that part is left out. Prints the seconds from question to answer, the variance of all cells over the least possible,
how many sums of whole tables disagree, and how long counts from a table of a million cells take. Exits with 1 where
something is beyond its limit.
"""

from __future__ import annotations

import argparse
import json
import sys
from itertools import combinations
from pathlib import Path
from statistics import NormalDist
from time import perf_counter, process_time

import numpy as np
import pandas as pd

import adomnia
from adomnia.methods.synthesis.residuals import NoisyMarginal, Residuals

SECONDS = 10.0
LEAST_VARIANCE = 5.98967e6  # of all cells, where 2 rho is 1: found independently (tests/fixtures/vectors2.json)
MOST_BEYOND = 1.01
MOST_MILLISECONDS = 50.0
TEXT = "SELECT * FROM marginals((SELECT {columns} FROM data), ways => 2, bins => 1000, missing => 'left_out')"
ALL = "(all)"


def measure_tables(folder: Path, rho: float) -> bool:
    """Ask for all tables, and judge them."""
    sizes = json.loads((folder / "adult-domain.json").read_text())
    people = pd.read_csv(folder / "adult.csv")
    names = [f"c{place}" for place in range(len(sizes))]  # some of the names are no words of SQL
    people.columns = names
    bounds = {name: (0, size - 1) for name, size in zip(names, sizes.values(), strict=True)}
    with adomnia.protect(people, unit="row", epsilon=1000, delta=1e-6, bounds=bounds) as own:
        started = perf_counter()
        answer = own.sql(TEXT.format(columns=", ".join(names)), rho=rho)
        seconds = perf_counter() - started
    lines = answer.to_pandas()
    named = (lines[names] != ALL).to_numpy()
    quantile = -NormalDist().inv_cdf((1 - answer.confidence) / 2)
    pairs = lines[named.sum(axis=1) == 2]
    variances = ((pairs.count_upper - pairs.count_lower) / 2 / quantile) ** 2
    beyond = variances.sum() / (LEAST_VARIANCE / (2 * rho))
    wrong = count_disagreements(lines, names, named)
    print(f"{len(pairs):,} cells of {len(names) * (len(names) - 1) // 2} tables in {seconds:.1f} s")
    print(f"variance over the least possible: {beyond:.5f}")
    print(f"sums of whole tables that disagree: {wrong}; whole counts below 0: {(lines.whole_count < 0).sum()}")
    return seconds < SECONDS and beyond < MOST_BEYOND and not wrong and bool((lines.whole_count >= 0).all())


def count_disagreements(lines: pd.DataFrame, names: list[str], named: np.ndarray) -> int:
    """How many values of a column have another sum in a table of two than in their own."""
    one = {names[place]: lines[(named.sum(axis=1) == 1) & named[:, place]] for place in range(len(names))}
    wrong = 0
    for first, second in combinations(range(len(names)), 2):
        pair = lines[named[:, first] & named[:, second]]
        for name in (names[first], names[second]):
            sums = pair.groupby(name).whole_count.sum()
            wrong += int((sums != one[name].set_index(name).whole_count.reindex(sums.index)).sum())
    return wrong


def time_counts() -> bool:
    """Counts of some groups of the cells of a table of a million cells."""
    random = np.random.default_rng(1)
    slowest = 0.0
    for sizes in ((1000, 1000), (100, 100, 100), (32, 32, 32, 32)):
        columns = tuple(range(len(sizes)))
        estimates = Residuals.from_measured(sizes, [NoisyMarginal(columns, random.normal(0, 9, sizes), 81.0)])
        for number in (1, 10):
            groups = random.integers(-1, number, sizes)
            slowest = max(slowest, min(time_once(estimates, columns, groups, number) for _ in range(5)))
    print(f"slowest count of 1 or 10 groups of a million cells: {slowest:.1f} ms")
    return slowest < MOST_MILLISECONDS


def time_once(estimates: Residuals, columns: tuple[int, ...], groups: np.ndarray, number: int) -> float:
    started = process_time()
    estimates.count(columns, groups, number)
    return 1000 * (process_time() - started)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rho", type=float, default=0.1)
    arguments = parser.parse_args()
    fine = time_counts()
    if (arguments.folder / "adult.csv").exists():
        fine &= measure_tables(arguments.folder, arguments.rho)
    else:
        print(f"no adult.csv in {arguments.folder}: its tables are not measured")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
