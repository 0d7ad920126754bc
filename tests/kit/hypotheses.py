"""Simulated people for every test: with an effect of some size, without one, and on data that is not nice."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from kit.analyses import frame
from kit.trials import Data, build

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from adomnia.statistics.contract import Statistic

KINDS = tuple("pqrstu")
CHANCES = np.arange(1, 7) / 21
FRAME = frame(
    {"x": (0, 1), "y": (0, 1)},
    {"g": ("A", "B"), "s": ("no", "yes"), "t": ("no", "yes"), "h": ("a", "b", "c"), "k": KINDS},
)


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
        return build(self.method, FRAME, **self.arguments)


def draw_rows(random: np.random.Generator, rows: int) -> Data:
    """Two columns of normal numbers, and factors, all independent."""
    return {
        "x": np.clip(random.normal(0.5, 0.15, rows), 0, 1),
        "y": np.clip(random.normal(0.5, 0.15, rows), 0, 1),
        "g": random.choice(np.array(["A", "B"], dtype=object), rows),
        "s": random.choice(np.array(["no", "yes"], dtype=object), rows, p=[0.7, 0.3]),
        "h": random.choice(np.array(["a", "b", "c"], dtype=object), rows, p=[0.2, 0.3, 0.5]),
        "k": random.choice(np.array(KINDS, dtype=object), rows, p=CHANCES),
        "t": random.choice(np.array(["no", "yes"], dtype=object), rows, p=[0.7, 0.3]),
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


def _change(random: np.random.Generator, rows: int, effect: float) -> Data:
    data = draw_rows(random, rows)
    return {**data, "t": np.where(random.random(rows) < effect, "yes", data["t"]).astype(object)}


def _one_way(data: Data) -> float:
    there, back = (int(((data["s"] == one) & (data["t"] == two)).sum()) for one, two in (("no", "yes"), ("yes", "no")))
    return float(stats.binomtest(there, max(1, there + back)).pvalue)


def _mix_kinds(random: np.random.Generator, rows: int, effect: float) -> Data:
    data = draw_rows(random, rows)
    return {**data, "k": np.where(random.random(rows) < effect, "p", data["k"]).astype(object)}


def _bind_kinds(random: np.random.Generator, rows: int, effect: float) -> Data:
    data = draw_rows(random, rows)
    bound = (random.random(rows) < effect) & (data["h"] == "a")
    return {**data, "k": np.where(bound, "p", data["k"]).astype(object)}


def _of(data: Data, by: str, value: str) -> np.ndarray:
    return data["x"][data[by] == value]


def _groups(test: Callable[..., Any], **options: Any) -> Callable[[Data], float]:
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
G, S, T, H, K = (FRAME.factors[name] for name in "gsthk")
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
    "ks_test, a distribution": Setting(
        "ks_test",
        {"column": X, "distribution": "normal", "distribution_parameters": (HALF, Fraction(3, 20))},
        _move,
        lambda data: float(stats.ks_1samp(data["x"], stats.norm(0.5, 0.15).cdf, method="asymp").pvalue),
        0.03,
    ),
    "mann_whitney": Setting(
        "mann_whitney", {"column": X, "group": G}, _shift("g", PAIRS[0]), _groups(stats.mannwhitneyu), 0.06
    ),
    "kruskal_wallis, 3 groups": Setting(
        "kruskal_wallis",
        {"column": X, "group": H},
        _shift("h", PAIRS[1]),
        lambda data: float(stats.kruskal(*(_of(data, "h", each) for each in "abc")).pvalue),
        0.04,
    ),
    "signed_rank, pairs": Setting(
        "signed_rank",
        {"column": X, "other": Y},
        _move,
        lambda data: float(stats.wilcoxon(data["x"], data["y"], method="asymptotic").pvalue),
        0.03,
    ),
    "mcnemar": Setting("mcnemar", {"column": S, "other": T}, _change, _one_way, 0.1),
    "spearman": Setting(
        "spearman",
        {"column": X, "other": Y},
        _correlate,
        lambda data: float(stats.spearmanr(data["x"], data["y"]).pvalue),
        0.2,
    ),
    "kendall": Setting(
        "kendall",
        {"column": X, "other": Y},
        _correlate,
        lambda data: float(stats.kendalltau(data["x"], data["y"]).pvalue),
        0.2,
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
SHAPED = (
    *OF_MEANS,
    "ks_test, two groups",
    "mann_whitney",
    "kruskal_wallis, 3 groups",
    "signed_rank, pairs",
    "spearman",
    "kendall",
    "correlation_test",
)


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
