"""All two-way tables of a census sample: how long they take, and how near their errors come to the least possible.

    python benchmarks/marginals.py FOLDER [--rho 0.1]

FOLDER has adult.csv, whose columns are codes from 0, and adult-domain.json, how many values each has; without them
nothing is done. Prints the seconds from question to answer, the variance of all cells over the least possible, whether
all tables agree, and the time of a count of a million cells. Exits with 1 where something is beyond its limit.
"""

from __future__ import annotations

import argparse
import json
import sys
from itertools import combinations
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd

import adomnia
from adomnia.methods.releases.planning import plan_tables
from adomnia.methods.releases.residuals import NoisyMarginal, Residuals

SECONDS = 10.0
LEAST_VARIANCE = 5.98967e6  # of all cells, where 2 rho is 1: found independently (tests/fixtures/vectors2.json)
MOST_BEYOND = 1.01
MOST_MILLISECONDS = 50.0
TEXT = "SELECT * FROM marginals((SELECT {columns} FROM data), ways => 2, bins => 1000, missing => 'left_out')"


def measure_adult(folder: Path, rho: float) -> bool:
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
    print(f"{answer.table.rows:,} cells in {seconds:.1f} s")
    return seconds < SECONDS
