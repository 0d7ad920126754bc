"""Estimates with noise: how often their intervals hold what is true, and how much nearer they would be without noise.

    python benchmarks/accuracy.py [--trials 300] [--rows 1000 10000] [--only lm]

Prints a Markdown table: of each method, law of the data, price and number of rows, the share of 95% intervals that hold
the number of the population, and the mean absolute error beside that of the classical estimate of the same rows (NumPy,
statsmodels), each with its standard error. Numbers without a reply are
counted apart, and where they are most there is no share; where the classical estimate is always the truth there is no
ratio. Exits with 1 where a share is
outside of 0.92 to 0.985 beyond three standard errors; those lines end with "low" or "high".
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
SILENT = 0.5  # the share without a reply, beyond which the others are too few
HEAD = "| numbers | data | price | rows | trials | interval holds | error, times the classical | no reply | |"


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
        """Where there is no reply."""
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

    def describe(self) -> tuple[str, str]:
        """Both in words: nothing is said of what has few replies, or of errors beside none."""
        if self.silent.mean() > SILENT:
            return "", ""
        exact = not np.abs(self.classical - self.true).any()
        return "{:.3f} ± {:.3f}".format(*self.cover()), "" if exact else "{:.2f} ± {:.2f}".format(*self.compare())

    def verdict(self) -> str:
        """Whether the intervals hold too seldom or too often, beyond chance."""
        if self.silent.mean() > SILENT:
            return ""
        share, spread = self.cover()
        least, most = (max(spread, np.sqrt(bar * (1 - bar) / len(self.said))) for bar in (LEAST, MOST))
        return "low" if share < LEAST - 3 * least else "high" if share > MOST + 3 * most else ""


def _mean(values: np.ndarray) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def simulate(settings: list[Setting], law: str, price: Price, rows: int, trials: int) -> Iterator[Trials]:
    """Trials of settings that read the same analysis."""
    seed = f"{settings[0].method} {law} {price} {rows}"
    random, bits, analysis = np.random.default_rng(list(seed.encode())), SeededBits(seed), settings[0].analysis
    said, classical = [], []
    for _ in range(trials):
        data = draw_people(law, rows, random)
        table = analyse(analysis, price, data, bits)
        said.append([each.read(table) for each in settings])  # type: ignore[arg-type]  # methods have tables
        classical.append([each.classical(data) for each in settings])
    for place, setting in enumerate(settings):
        values, lower, upper = np.stack([each[place] for each in said], axis=1)
        truth = setting.classical(populate(law))
        yield Trials(values, lower, upper, np.stack([each[place] for each in classical]), truth, setting.alike)


def measure(method: str, sizes: list[int], trials: int) -> Iterator[tuple[str, str]]:
    """Lines of the table about one method, each with its verdict."""
    named = {name: each for name, each in SETTINGS.items() if each.method == method}
    settings = list(named.values())
    for law, rows, (price_name, price) in product(settings[0].laws, sizes, PRICES.items()):
        for name, found in zip(named, simulate(settings, law, price, rows, trials), strict=True):
            verdict = found.verdict()
            cells = [name, law, price_name, f"{rows:,}", f"{trials}", *found.describe()]
            yield f"| {' | '.join(cells)} | {found.silent.mean():.1%} | {verdict} |", verdict


def main() -> int:
    """Print the table; 1 where intervals hold too seldom or too often."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    warnings.filterwarnings("ignore", message=".*converge.*")  # the classical fit of few rows
    print(f"{HEAD}\n|{'---|' * 9}")
    missed = 0
    for method in dict.fromkeys(each.method for each in SETTINGS.values()):
        for line, verdict in measure(method, given.rows, given.trials) if given.only in method else ():
            print(line, flush=True)
            missed += bool(verdict)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
