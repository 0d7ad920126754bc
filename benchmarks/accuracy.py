"""Estimates with noise: how often their intervals hold what is true, and how much nearer they would be without noise.

    python benchmarks/accuracy.py [--trials 100] [--rows 1000 10000] [--only lm]

Prints a Markdown table: of each method, distribution of the data, number of rows and price, the share of 95% intervals
that hold the number of the population, and the mean absolute error over that of the classical estimate of the same rows
(NumPy, statsmodels), each with its standard error. Numbers that are not estimable are counted apart; where most have
none, nothing else is said, and where the classical estimate is always the truth there is no ratio. Exits with 1 where a
share, in bold, is outside of 0.92 to 0.985 beyond three standard errors.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from kit.analyses import analyse
from kit.bits import SeededBits
from kit.estimators import SETTINGS, Setting, draw_people, populate
from kit.trials import PRICES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.privacy.events import Price

LEAST, MOST = 0.92, 0.985
SILENT = 0.5  # the share that is not estimable, beyond which the others are too few
HEAD = " | ".join(
    ["| numbers | data | rows | trials", *(f"{name}: holds | error | not estimable" for name in PRICES), ""]
).strip()


@dataclass(frozen=True)
class Trials:
    """Of each trial and number: what was said, the ends of its interval, and what the classical method says."""

    said: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    classical: np.ndarray
    true: np.ndarray
    alike: bool

    @property
    def silent(self) -> np.ndarray:
        """Where it is not estimable."""
        return np.isnan(self.said)

    def cover(self) -> tuple[float, float]:
        """The share of intervals that hold the truth, where there is a reply, and its standard error."""
        near = 1e-9 * np.abs(self.true)
        held = (self.lower - near <= self.true) & (self.true <= self.upper + near)
        replied = ~self.silent.all(axis=1)
        return _mean((held & ~self.silent)[replied].sum(axis=1) / (~self.silent[replied]).sum(axis=1))

    def compare(self) -> tuple[float, float]:
        """The mean error over that of the classical estimate, where there are all replies, and its standard error."""
        whole = ~self.silent.any(axis=1)
        ours, theirs = (np.abs(each - self.true)[whole] for each in (self.said, self.classical))
        units = 1.0 if self.alike else theirs.mean(axis=0)
        ours, theirs = (ours / units).sum(axis=1), (theirs / units).sum(axis=1)
        ratio = ours.mean() / theirs.mean()
        return float(ratio), _mean((ours - ratio * theirs) / theirs.mean())[1]

    @property
    def missed(self) -> bool:
        """Whether the intervals hold too seldom or too often, beyond chance."""
        if self.silent.mean() > SILENT:
            return False
        share, spread = self.cover()
        least, most = (max(spread, np.sqrt(bar * (1 - bar) / len(self.said))) for bar in (LEAST, MOST))
        return bool(share < LEAST - 3 * least or share > MOST + 3 * most)

    def describe(self) -> tuple[str, str, str]:
        """In words: how often, how far, and the share not estimable. Where most are not, that is all there is."""
        silent = f"{self.silent.mean():.0%}" if self.silent.any() else ""
        if self.silent.mean() > SILENT:
            return "", "", silent
        holds = "{:.3f} ± {:.3f}".format(*self.cover())
        exact = not np.abs(self.classical - self.true).any()
        error = "" if exact else "{:.2f} ± {:.2f}".format(*self.compare())
        return f"**{holds}**" if self.missed else holds, error, silent


def _mean(values: np.ndarray) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def simulate(settings: list[Setting], distribution: str, price: Price, rows: int, trials: int) -> Iterator[Trials]:
    """Trials of settings that read the same analysis."""
    seed = f"{settings[0].method} {distribution} {price} {rows}"
    random, bits, analysis = np.random.default_rng(list(seed.encode())), SeededBits(seed), settings[0].analysis
    said, classical = [], []
    for _ in range(trials):
        data = draw_people(distribution, rows, random)
        table = analyse(analysis, price, data, bits)
        said.append([each.read(table) for each in settings])  # type: ignore[arg-type]  # methods have tables
        classical.append([each.classical(data) for each in settings])
    for place, setting in enumerate(settings):
        values, lower, upper = np.stack([each[place] for each in said], axis=1)
        truth = setting.classical(populate(distribution))
        yield Trials(values, lower, upper, np.stack([each[place] for each in classical]), truth, setting.alike)


def measure(method: str, sizes: list[int], trials: int) -> Iterator[tuple[str, bool]]:
    """Lines of the table about one method, each with whether its intervals hold as often as they should."""
    named = {name: each for name, each in SETTINGS.items() if each.method == method}
    settings = list(named.values())
    for distribution, rows in product(settings[0].distributions, sizes):
        both = [simulate(settings, distribution, price, rows, trials) for price in PRICES.values()]
        for name, *found in zip(named, *both, strict=True):
            cells = [
                name,
                distribution,
                f"{rows:,}",
                f"{trials}",
                *(cell for each in found for cell in each.describe()),
            ]
            yield f"| {' | '.join(cells)} |", not any(each.missed for each in found)


def main() -> int:
    """Print the table; 1 where intervals hold too seldom or too often."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    warnings.filterwarnings("ignore", message=".*converge.*")  # the classical fit of few rows
    print(f"{HEAD}\n|{'---|' * 10}")
    missed = 0
    for method in dict.fromkeys(each.method for each in SETTINGS.values()):
        for line, kept in measure(method, given.rows, given.trials) if given.only in method else ():
            print(line, flush=True)
            missed += not kept
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
