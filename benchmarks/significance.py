"""Tests with noise: how often they reject what is true, and how often they find what is there.

    python benchmarks/significance.py [--trials 200] [--rows 200 1000 5000] [--only t_test] [--shapes]

Prints a Markdown table: of each test, price and number of rows the share of p-values of at most 0.05, without an effect
(the level, at most 0.06) and with one (the power), beside the power of the classical test on the same rows. --shapes
prints the level on data that is not nice instead: rounded, skewed, mostly zeros, constant, in groups of unequal size
and spread. Exits with 1 where a level is missed by more than chance explains.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from kit.hypotheses import OF_MEANS, SETTINGS, SHAPED, SHAPES, draw_shape
from kit.trials import LEVEL, PRICES, share_rejected

if TYPE_CHECKING:
    from collections.abc import Iterator

LEAST, MOST = 0.02, 0.06


def measure_powers(names: list[str], sizes: list[int], trials: int) -> Iterator[tuple[str, float]]:
    """Lines of the table of levels and powers, each with its level."""
    yield "| test | price | rows | level | power | classical power |\n|---|---|---|---|---|---|", LEVEL
    for name, (price_name, price), rows in product(names, PRICES.items(), sizes):
        setting, seed = SETTINGS[name], f"{name} {price_name} {rows}"
        analysis, effect = setting.analysis, setting.effect
        level = share_rejected(analysis, price, partial(setting.draw, rows=rows, effect=0.0), trials, seed)
        some = max(100, trials // 4)
        power = share_rejected(analysis, price, partial(setting.draw, rows=rows, effect=effect), some, "1" + seed)
        random = np.random.default_rng(list(seed.encode()))
        classical = np.mean([setting.classical(setting.draw(random, rows, effect)) <= LEVEL for _ in range(some)])
        yield f"| {name} | {price_name} | {rows:,} | {level:.3f} | {power:.2f} | {classical:.2f} |", level


def measure_shapes(names: list[str], sizes: list[int], trials: int) -> Iterator[tuple[str, float]]:
    """Lines of the table of levels on data that is not nice, each with its level."""
    yield "| test | data | price | rows | level |\n|---|---|---|---|---|", LEVEL
    kinds = [*SHAPES, "groups of 10 to 1", "unequal spread"]
    for name, kind, (price_name, price), rows in product(names, kinds, PRICES.items(), sizes):
        if kind == "unequal spread" and name not in OF_MEANS:
            continue  # of tests of distributions the null hypothesis is false
        seed = f"{name} {kind} {price_name} {rows}"
        analysis = SETTINGS[name].analysis
        level = share_rejected(analysis, price, partial(draw_shape, rows=rows, kind=kind), trials, seed)
        yield f"| {name} | {kind} | {price_name} | {rows:,} | {level:.3f} |", level


def main() -> int:
    """Print a table; 1 where a level is too high or too low beyond chance, at most once in 1,000 lines."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--rows", type=int, nargs="+", default=[200, 1000, 5000])
    parser.add_argument("--only", default="")
    parser.add_argument("--shapes", action="store_true")
    given = parser.parse_args()
    names = [name for name in (SHAPED if given.shapes else SETTINGS) if given.only in name]
    lines = (measure_shapes if given.shapes else measure_powers)(names, given.rows, given.trials)
    slack = 3.3 * float(np.sqrt(LEVEL * (1 - LEVEL) / given.trials))
    missed = 0
    for line, level in lines:
        print(line, flush=True)
        missed += not LEAST - slack <= level <= MOST + slack
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
