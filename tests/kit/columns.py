"""The columns people have: whole numbers, many zeros, skewed money, heaped ages, whole and half times; one is smooth.

A column is a function of uniform numbers. Rows are drawn with random ones. The population is the same function of
evenly spread points, so that its parameters are known to a small part of any standard error.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from adomnia.methods.contract import Factor
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean
from kit.analyses import frame

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.methods.contract import Frame
    from kit.trials import Data

GROUPS, CITIES, ANSWERS = ("A", "B"), ("a", "b", "c"), ("no", "yes")
_CITY_ENDS = np.array([0.2, 0.5])
_STRIPS = 2**10  # of the uniform numbers: each has so many points of a population that its mean is known


@dataclass(frozen=True)
class Kind:
    """A sort of column: its declared bounds, whether it is declared whole, and its quantile function."""

    bounds: tuple[float, float]
    whole: bool
    quantile: Callable[[np.ndarray], np.ndarray]

    def values(self, uniform: np.ndarray) -> np.ndarray:
        """The numbers of rows, within the bounds."""
        return np.clip(np.asarray(self.quantile(uniform), dtype=float), *self.bounds)


def _chosen(values: tuple[int, ...], shares: tuple[float, ...]) -> Callable[[np.ndarray], np.ndarray]:
    ends = np.cumsum(shares)[:-1]
    return lambda uniform: np.array(values)[np.searchsorted(ends, uniform, side="right")]


def _counts(uniform: np.ndarray) -> np.ndarray:
    """Seven in ten have none; the others have some, a few have very many."""
    some = np.clip((uniform - 0.7) / 0.3, 1e-12, 1 - 1e-12)
    return np.where(uniform < 0.7, 0, 1 + stats.nbinom(0.8, 0.12).ppf(some))


def _ages(uniform: np.ndarray) -> np.ndarray:
    """Half of all tell the nearest multiple of ten, a quarter that of five, the others the year."""
    age = np.clip(44 + 17 * stats.norm.ppf(uniform), 18, 97)
    told = np.floor(uniform * _STRIPS) % 4
    return np.where(told < 2, 10 * np.round(age / 10), np.where(told < 3, 5 * np.round(age / 5), np.round(age)))


def _times(step: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda uniform: np.ceil(np.minimum(-14 * np.log1p(-uniform * (1 - 1e-12)), 36) / step) * step


KINDS = {
    "grades 0..4": Kind((0, 4), True, _chosen((0, 1, 2, 3, 4), (0.35, 0.3, 0.2, 0.1, 0.05))),
    "counts with zeros": Kind((0, 100), True, _counts),
    "skewed money": Kind((0, 500_000), False, lambda uniform: np.exp(10.4 + 0.8 * stats.norm.ppf(uniform))),
    "likert 1..5": Kind((1, 5), True, _chosen((1, 2, 3, 4, 5), (0.06, 0.12, 0.22, 0.38, 0.22))),
    "whole times": Kind((1, 36), True, _times(1)),
    "half times": Kind((0.5, 36), False, _times(0.5)),
    "heaped ages": Kind((0, 120), True, _ages),
    "smooth": Kind((0, 100), False, lambda uniform: 50 + 15 * stats.norm.ppf(uniform)),
}
WHOLE = tuple(name for name, kind in KINDS.items() if kind.whole)
EFFECT = 0.25  # of group B on the underlying normal score, where there is one
CORRELATION = 0.5  # of the normal scores beneath x and y


def frame_of(kind: Kind) -> Frame:
    """Columns x and y of a kind, and the factors."""
    both = {"x": kind.bounds, "y": kind.bounds}
    rows = frame(
        both,
        {"g": GROUPS, "h": CITIES, "s": ("no", "yes"), "t": ("no", "yes")},
        whole=tuple(both) if kind.whole else (),
    )
    return replace(rows, factors={**rows.factors, "e": Factor("e", Column("e", Boolean()))})


def rows_of(kind: Kind, uniform: np.ndarray, effect: float = EFFECT, correlation: float = CORRELATION) -> Data:
    """Rows of two numbers x and y of one kind, and factors: a group, a city, two answers, and whether an event came.

    Group B has larger x, and fewer events.
    """
    first, second, third, fourth, fifth = uniform.T
    score, other = stats.norm.ppf(first), stats.norm.ppf(second)
    in_b = third < 0.4
    shifted = stats.norm.cdf(score + effect * in_b)
    joint = stats.norm.cdf(correlation * score + np.sqrt(1 - correlation**2) * other)
    city = np.searchsorted(_CITY_ENDS, fourth)
    return {
        "x": kind.values(shifted),
        "y": kind.values(joint),
        "g": np.array(GROUPS, dtype=object)[in_b.astype(int)],
        "h": np.array(CITIES, dtype=object)[city],
        "s": np.array(ANSWERS, dtype=object)[(fifth < 0.25 + 0.1 * in_b + 0.05 * city).astype(int)],
        "t": np.array(ANSWERS, dtype=object)[((second < 0.3) | (fifth < 0.1)).astype(int)],
        "e": (fifth > 0.3).astype(float),
    }


def draw_rows(kind: Kind, rows: int, random: np.random.Generator, **how: float) -> Data:
    """So many people, drawn from the population."""
    return rows_of(kind, random.random((rows, 5)), **how)


@cache
def population(name: str, effect: float = EFFECT, correlation: float = CORRELATION) -> Data:
    """The population of a kind, of 2**17 evenly spread rows."""
    points = stats.qmc.Sobol(5, scramble=True, rng=np.random.default_rng(3)).random_base2(17)
    return rows_of(KINDS[name], np.clip(points, 1e-9, 1 - 1e-9), effect, correlation)
