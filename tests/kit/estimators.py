"""Simulated people for every estimator: a population, samples of it, and the classical estimate of the same numbers.

What is true is what the classical method says of the whole population; samples are drawn from it with replacement.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import statsmodels.api as sm

from adomnia.methods.contract import Factor
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean
from kit.analyses import frame
from kit.trials import Data, build

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from adomnia.statistics.contract import ResultTable, Statistic

PEOPLE = 200_000
BINS = 20
EDGES = np.linspace(0, 100, BINS + 1)
SHARES = (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
BOUNDS = {"x": (0, 100), "y": (0, 100), "z": (-1, 1), "w": (-1, 1), "time": (0, 100), "visits": (0, 20), "ill": (0, 1)}
FRAME = frame(BOUNDS, {"g": ("A", "B"), "s": ("no", "yes")}, whole=("visits", "ill"))
X, Y, Z = (FRAME.numbers[name] for name in "xyz")
G, S = FRAME.factors["g"], FRAME.factors["s"]
DIED = Factor("died", Column("died", Boolean()))

DISTRIBUTIONS: Mapping[str, Callable[[np.random.Generator], np.ndarray]] = {
    "normal": lambda random: random.normal(50, 12, PEOPLE),
    "lognormal, rounded": lambda random: np.round(random.lognormal(2.5, 0.7, PEOPLE)),
    "mostly zeros": lambda random: np.where(random.random(PEOPLE) < 0.8, 0, random.exponential(20, PEOPLE)),
}
BOTH = ("normal", "lognormal, rounded")


@cache
def populate(distribution: str) -> Data:
    """Everybody there is. Where the distribution is not normal, nothing else is nice either."""
    random, nice = np.random.default_rng(list(distribution.encode())), distribution == "normal"
    x = np.clip(DISTRIBUTIONS[distribution](random), 0, 100)
    z = random.normal(0, 0.3, PEOPLE) if nice else random.uniform(-1, 1, PEOPLE) * (random.random(PEOPLE) < 0.2)
    z, w = np.clip(z, -1, 1), random.uniform(-1, 1, PEOPLE)
    off = random.normal(0, 6, PEOPLE) if nice else random.exponential(6, PEOPLE) - 6
    first = random.random(PEOPLE) < (0.3 if nice else 0.1) + x / 200
    chances = (0.3 if nice else 0.03) + 0.1 * first
    odds = -0.5 + 0.02 * (x - 50) + z - 0.5 * w
    return {
        "x": x,
        "z": z,
        "w": w,
        "y": np.clip(20 + 0.5 * x + 8 * z + 4 * w + off, 0, 100),
        "visits": np.minimum(random.poisson(np.exp(0.3 + 0.01 * x + 0.5 * z - 0.3 * w)), 20).astype(float),
        "g": np.where(first, "A", "B").astype(object),
        "s": np.where(random.random(PEOPLE) < chances, "yes", "no").astype(object),
        "ill": np.where(random.random(PEOPLE) < 1 / (1 + np.exp(-odds)), 1.0, 0.0),
        **_survive(random, nice),
    }


def _survive(random: np.random.Generator, nice: bool) -> Data:
    """Times that are censored evenly, or of which most are early, many censored, and all on a grid of tenths."""
    event = random.exponential(40, PEOPLE) if nice else 60 * random.weibull(0.6, PEOPLE)
    seen = np.minimum(random.uniform(0, 120 if nice else 60, PEOPLE), 100)
    time = np.minimum(event, seen)
    return {"time": time if nice else np.floor(10 * time) / 10, "died": event <= seen}


def draw_people(distribution: str, rows: int, random: np.random.Generator) -> Data:
    """A sample."""
    chosen = random.integers(0, PEOPLE, rows)
    return {name: values[chosen] for name, values in populate(distribution).items()}


@dataclass(frozen=True)
class Setting:
    """An estimator: its arguments, which numbers of its table are read, and the same of the classical method."""

    method: str
    arguments: Mapping[str, Any]
    classical: Callable[[Data], np.ndarray]
    column: str = "estimate"
    rows: tuple[int, ...] = ()  # all, where none are named
    distributions: tuple[str, ...] = BOTH
    alike: bool = True  # its numbers are of one unit

    @property
    def analysis(self) -> Statistic:
        """The analysis that is asked for."""
        return build(self.method, FRAME, **self.arguments)

    def read(self, table: ResultTable) -> np.ndarray:
        """The values, and the ends of 95% intervals."""
        estimate = table.estimates[self.column]
        found = np.stack([estimate.values, *estimate.interval(0.95, 1)])
        return found[:, list(self.rows)] if self.rows else found


def _design(data: Data) -> np.ndarray:
    return np.stack([np.ones_like(data["x"]), data["x"], data["z"], data["w"]], axis=1)


def _correlate(data: Data) -> np.ndarray:
    found = np.corrcoef([data["x"], data["y"], data["z"]])
    return np.array([found[0, 1], found[0, 2], found[1, 2]])


def _differ(values: np.ndarray, data: Data) -> np.ndarray:
    first = data["g"] == "A"
    return np.array([values[first].mean() - values[~first].mean()])


def _survival(data: Data) -> np.ndarray:
    curve = sm.SurvfuncRight(data["time"], data["died"].astype(int))
    before = np.searchsorted(curve.surv_times, EDGES[1:], side="left")
    return np.concatenate([[1.0], curve.surv_prob])[before]


def _density(data: Data) -> np.ndarray:
    return np.histogram(data["x"], EDGES, density=True)[0]


SUMMARY = {"columns": (X,)}
SETTINGS: Mapping[str, Setting] = {
    "summary: mean": Setting(
        "summary", SUMMARY, lambda data: data["x"].mean(keepdims=True), "mean", (), tuple(DISTRIBUTIONS)
    ),
    "summary: sd": Setting(
        "summary", SUMMARY, lambda data: data["x"].std(ddof=1, keepdims=True), "sd", (), tuple(DISTRIBUTIONS)
    ),
    "summary: median": Setting(
        "summary",
        SUMMARY,
        lambda data: np.quantile(data["x"], [0.5], method="inverted_cdf"),
        "median",
        (),
        tuple(DISTRIBUTIONS),
    ),
    "quantiles: 0.1, 0.5, 0.9": Setting(
        "quantiles",
        {"column": X, "probs": SHARES},
        lambda data: np.quantile(data["x"], [float(each) for each in SHARES], method="inverted_cdf"),
        distributions=tuple(DISTRIBUTIONS),
    ),
    "histogram: 20 densities": Setting(
        "histogram", {"column": X, "bins": BINS}, _density, "density", distributions=tuple(DISTRIBUTIONS)
    ),
    "correlations: 3 columns": Setting("correlations", {"columns": (X, Y, Z)}, _correlate, rows=(1, 2, 5)),
    "t_test: difference": Setting(
        "t_test",
        {"column": X, "group": G},
        lambda data: _differ(data["x"], data),
        rows=(0,),
        distributions=tuple(DISTRIBUTIONS),
    ),
    "proportion_test: difference": Setting(
        "proportion_test",
        {"column": S, "group": G, "success": "yes"},
        lambda data: _differ((data["s"] == "yes").astype(float), data),
        rows=(0,),
    ),
    "lm: 4 coefficients": Setting(
        "lm", {"formula": "y ~ x + z + w"}, lambda data: sm.OLS(data["y"], _design(data)).fit().params, alike=False
    ),
    "logit: 4 coefficients": Setting(
        "logit",
        {"formula": "ill ~ x + z + w"},
        lambda data: sm.Logit(data["ill"], _design(data)).fit(disp=0).params,
        alike=False,
    ),
    "poisson: 4 coefficients": Setting(
        "poisson",
        {"formula": "visits ~ x + z + w"},
        lambda data: sm.Poisson(data["visits"], _design(data)).fit(disp=0).params,
        alike=False,
    ),
    "kaplan_meier: 20 times": Setting(
        "kaplan_meier", {"time": FRAME.numbers["time"], "event": DIED, "intervals": BINS}, _survival, "survival"
    ),
}
