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
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from adomnia.methods.registry import METHODS
from adomnia.methods.testing import null_law
from adomnia.privacy.conversions import rho_of
from adomnia.privacy.events import Concentrated, Pure
from kit.analyses import analyse, frame
from kit.bits import SeededBits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from adomnia.statistics.contract import Statistic

Data = dict[str, np.ndarray]

PRICES = {"epsilon = 1": Pure(1), "rho of (1, 1e-6)": Concentrated(rho_of(1, 1e-6))}
LEVEL, LEAST, MOST = 0.05, 0.02, 0.06
KINDS = tuple("pqrstu")
CHANCES = np.arange(1, 7) / 21
FRAME = frame({"x": (0, 1), "y": (0, 1)}, {"g": ("A", "B"), "s": ("no", "yes"), "h": ("a", "b", "c"), "k": KINDS})


@dataclass(frozen=True)
class Setting:
    """A test: its arguments, rows with an effect of some size (0: none), and the p-value of the classical test."""

    method: str
    arguments: Mapping[str, Any]
    draw: Callable[[np.random.Generator, int, float], Data]
    classical: Callable[[Data], float]
    effect: float

    @property
    def analysis(self) -> Statistic:
        """The analysis that is asked for."""
        method = METHODS[self.method]
        given = {each.name: () if each.kind == "factors" else each.default for each in method.parameters}
        return method.build(FRAME, {**given, **self.arguments})


def draw_rows(random: np.random.Generator, rows: int) -> Data:
    """Two columns of normal numbers, and factors, all independent."""
    return {
        "x": np.clip(random.normal(0.5, 0.15, rows), 0, 1),
        "y": np.clip(random.normal(0.5, 0.15, rows), 0, 1),
        "g": random.choice(np.array(["A", "B"], dtype=object), rows),
        "s": random.choice(np.array(["no", "yes"], dtype=object), rows, p=[0.7, 0.3]),
        "h": random.choice(np.array(["a", "b", "c"], dtype=object), rows, p=[0.2, 0.3, 0.5]),
        "k": random.choice(np.array(KINDS, dtype=object), rows, p=CHANCES),
    }


def _shift(by: str, values: tuple[str, ...]) -> Callable[[np.random.Generator, int, float], Data]:
    """Numbers that are larger by the effect in each further group."""

    def draw(random: np.random.Generator, rows: int, effect: float) -> Data:
        data = draw_rows(random, rows)
        places = np.array([values.index(each) for each in data[by]]) if rows else np.zeros(0)
        return {**data, "x": np.clip(data["x"] + effect * (places - (len(values) - 1) / 2), 0, 1)}

    return draw


def _move(random: np.random.Generator, rows: int, effect: float) -> Data:
    data = draw_rows(random, rows)
    return {**data, "x": np.clip(data["x"] + effect, 0, 1)}


def _correlate(random: np.random.Generator, rows: int, effect: float) -> Data:
    data = draw_rows(random, rows)
    mixed = 0.5 + effect * (data["x"] - 0.5) + np.sqrt(1 - effect**2) * (data["y"] - 0.5)
    return {**data, "y": np.clip(mixed, 0, 1)}


def _succeed(random: np.random.Generator, rows: int, effect: float) -> Data:
    return {**draw_rows(random, rows), "s": np.where(random.random(rows) < 0.3 + effect, "yes", "no").astype(object)}


def _succeed_by_group(random: np.random.Generator, rows: int, effect: float) -> Data:
    data = draw_rows(random, rows)
    chances = 0.3 + effect * (data["g"] == "A")
    return {**data, "s": np.where(random.random(rows) < chances, "yes", "no").astype(object)}


def _mix_kinds(random: np.random.Generator, rows: int, effect: float) -> Data:
    data = draw_rows(random, rows)
    return {**data, "k": np.where(random.random(rows) < effect, "p", data["k"]).astype(object)}


def _bind_kinds(random: np.random.Generator, rows: int, effect: float) -> Data:
    data = draw_rows(random, rows)
    bound = (random.random(rows) < effect) & (data["h"] == "a")
    return {**data, "k": np.where(bound, "p", data["k"]).astype(object)}


def _of(data: Data, by: str, value: str) -> np.ndarray:
    return data["x"][data[by] == value]


def _groups(test: Callable[..., Any], **options: Any) -> Callable[[Data], float]:  # noqa: ANN401 - of SciPy
    return lambda data: float(test(_of(data, "g", "A"), _of(data, "g", "B"), **options).pvalue)


def _table(data: Data, rows: str, columns: str) -> np.ndarray:
    one, two = (FRAME.factors[name].levels for name in (rows, columns))
    return np.array([[((data[rows] == a) & (data[columns] == b)).sum() for b in two] for a in one])


def _independent(rows: str, columns: str) -> Callable[[Data], float]:
    def test(data: Data) -> float:
        table = _table(data, rows, columns)
        kept = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
        return float(stats.chi2_contingency(kept, correction=False).pvalue)

    return test


def _fit(data: Data) -> float:
    counts = np.array([(data["k"] == kind).sum() for kind in KINDS])
    return float(stats.chisquare(counts, counts.sum() * CHANCES).pvalue)


def _count(data: Data) -> float:
    return float(stats.binomtest(int((data["s"] == "yes").sum()), len(data["s"]), 0.3).pvalue)


X, Y = FRAME.numbers["x"], FRAME.numbers["y"]
G, S, H, K = (FRAME.factors[name] for name in "gshk")
HALF = Fraction(1, 2)
PAIRS = (("A", "B"), ("a", "b", "c"))

SETTINGS: Mapping[str, Setting] = {
    "t_test, one mean": Setting(
        "t_test", {"column": X, "mu": HALF}, _move, lambda data: float(stats.ttest_1samp(data["x"], 0.5).pvalue), 0.03
    ),
    "t_test, pairs": Setting(
        "t_test",
        {"column": X, "other": Y},
        _move,
        lambda data: float(stats.ttest_rel(data["x"], data["y"]).pvalue),
        0.03,
    ),
    "t_test, two groups": Setting(
        "t_test", {"column": X, "group": G}, _shift("g", PAIRS[0]), _groups(stats.ttest_ind, equal_var=False), 0.06
    ),
    "oneway_anova, 3 groups": Setting(
        "oneway_anova",
        {"column": X, "group": H},
        _shift("h", PAIRS[1]),
        lambda data: float(stats.f_oneway(*(_of(data, "h", each) for each in "abc")).pvalue),
        0.04,
    ),
    "proportion_test, one": Setting("proportion_test", {"column": S, "p": Fraction(3, 10)}, _succeed, _count, 0.06),
    "proportion_test, two groups": Setting(
        "proportion_test", {"column": S, "group": G}, _succeed_by_group, _independent("g", "s"), 0.1
    ),
    "goodness_of_fit, 6 values": Setting(
        "goodness_of_fit",
        {"column": K, "probabilities": tuple(Fraction(each, 21) for each in range(1, 7))},
        _mix_kinds,
        _fit,
        0.06,
    ),
    "chi_square_test, 3 x 6": Setting(
        "chi_square_test", {"column": H, "other": K}, _bind_kinds, _independent("h", "k"), 0.25
    ),
    "ks_test, two groups": Setting(
        "ks_test", {"column": X, "group": G}, _shift("g", PAIRS[0]), _groups(stats.ks_2samp, method="asymp"), 0.06
    ),
    "ks_test, a law": Setting(
        "ks_test",
        {"column": X, "law": "normal", "law_parameters": (HALF, Fraction(3, 20))},
        _move,
        lambda data: float(stats.ks_1samp(data["x"], stats.norm(0.5, 0.15).cdf, method="asymp").pvalue),
        0.03,
    ),
    "mann_whitney": Setting(
        "mann_whitney", {"column": X, "group": G}, _shift("g", PAIRS[0]), _groups(stats.mannwhitneyu), 0.06
    ),
    "correlation_test": Setting(
        "correlation_test",
        {"column": X, "other": Y},
        _correlate,
        lambda data: float(stats.pearsonr(data["x"], data["y"]).pvalue),
        0.2,
    ),
}

SHAPES: Mapping[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "rounded": lambda random, rows: np.round(np.clip(random.normal(0.5, 0.15, rows), 0, 1), 1),
    "lognormal": lambda random, rows: np.clip(random.lognormal(0, 1, rows), 0, 10) / 10,
    "mostly zeros": lambda random, rows: np.where(
        random.random(rows) < 0.9, 0.0, np.clip(random.exponential(0.2, rows), 0, 1)
    ),
    "two clusters": lambda random, rows: random.choice([0.0, 1.0], rows),
    "constant": lambda _, rows: np.full(rows, 0.37),
}
OF_MEANS = ("t_test, two groups", "oneway_anova, 3 groups")
SHAPED = (*OF_MEANS, "ks_test, two groups", "mann_whitney", "correlation_test")


def share_rejected(
    analysis: Statistic, price: Pure | Concentrated, draw: Callable[[np.random.Generator], Data], trials: int, seed: str
) -> float:
    """The share of p-values of at most the level, of rows and noise that follow from a seed."""
    random, bits = np.random.default_rng(list(seed.encode())), SeededBits(seed)
    found = (analyse(analysis, price, draw(random), bits) for _ in range(trials))
    return float(np.mean([table.facts["p_value"]()[0] <= LEVEL for table in found]))  # type: ignore[union-attr]


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


def draw_shape(random: np.random.Generator, rows: int, kind: str) -> Data:
    """Rows that are not nice, without an effect: of the spread, means are equal and distributions are not."""
    data = draw_rows(random, rows)
    if kind in SHAPES:
        return {**data, "x": SHAPES[kind](random, rows), "y": SHAPES[kind](random, rows)}
    few = random.random(rows) < 1 / 11
    groups = {"g": np.where(few, "A", "B").astype(object), "h": np.where(few, "a", data["h"]).astype(object)}
    if kind == "groups of 10 to 1":
        return {**data, **groups}
    spread = np.where(few, 0.2, 0.05)
    return {**data, **groups, "x": np.clip(0.5 + spread * random.standard_normal(rows), 0, 1)}


def main() -> int:
    """Print a table; 1 where a level is too high or too low beyond chance, at most once in 1,000 lines."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--rows", type=int, nargs="+", default=[200, 1000, 5000])
    parser.add_argument("--only", default="")
    parser.add_argument("--shapes", action="store_true")
    given = parser.parse_args()
    null_law.MOST_DRAWS = null_law.LEAST_DRAWS = 499  # type: ignore[misc]  # the level does not depend on it
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
