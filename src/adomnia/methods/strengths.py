"""How strong an effect is, by what tables of other strengths look like when they are drawn again.

Tables lie between the one of no effect and the one that was seen, and beyond. From each of them many are drawn, and a
strength belongs to the interval if what was seen is no rare sight among the tables of that strength. Nothing is taken
to vary as it does at the strength that was seen, which is itself too small or too large by chance.
"""

from dataclasses import dataclass
from math import log

import numpy as np

from adomnia.mechanisms.interval import find_alpha
from adomnia.methods.simulation import count_simulations
from adomnia.statistics.brackets import isotonic
from adomnia.statistics.contract import Floats

_TINY = 1e-9
_KEPT = 0.85  # of what an interval may miss: the rest is for margins, which are drawn as if they were known
_TAIL = 5  # draws beyond a quantile that is read off; further out the tail is taken for an exponential one
_STRENGTHS = 24  # that are tried, of few cells
_FEW_CELLS = 500
_LEAST_SEEN = 1e-3  # of the largest strength: what the one that was seen is taken for at least
MOST_DRAWS, LEAST_DRAWS = 500, 200  # of each
_NUMBERS = 2_400_000  # that all of them draw


def plan_draws(cells: int) -> tuple[int, int]:
    """How many strengths are tried, and how often tables of so many cells are drawn at each."""
    many = count_simulations(_STRENGTHS if cells <= _FEW_CELLS else _STRENGTHS // 2, least=8)
    return many, count_simulations(min(MOST_DRAWS, max(LEAST_DRAWS, _NUMBERS // (many * cells))))


def lead_up_to(most: float, seen: float, many: int) -> Floats:
    """Multiples of the strength that was seen, up to the largest there can be."""
    return list_steps(most / max(seen, _LEAST_SEEN * most), many)


def list_steps(last: float, many: int) -> Floats:
    """Multiples of what was seen, from none to the last: two thirds of them up to twice as much."""
    near = np.linspace(0.0, min(2.0, last), 2 * many // 3)
    return np.concatenate([near, np.geomspace(near[-1], last, many - len(near) + 1)[1:]])


def lead_on(apart: Floats, shares: Floats, steps: Floats) -> Floats:
    """Tables of shares on the way from one to another and beyond, where no share falls below 0."""
    ahead = steps.reshape(-1, *(1 for _ in shares.shape))
    tables = np.maximum(apart + ahead * (shares - apart), 0.0)
    return np.asarray(tables / tables.sum(axis=tuple(range(1, tables.ndim)), keepdims=True))


@dataclass(frozen=True)
class Strengths:
    """A statistic that was seen, rising strengths, what was drawn at each of them, and the largest one there can be."""

    seen: float
    strengths: Floats
    drawn: Floats
    most: float

    def at(self, quantile: float) -> float:
        """The strength of which so many drawn tables have a smaller statistic than the one that was seen."""
        limits = isotonic(self._read(quantile))
        if self.seen <= limits[0]:
            return 0.0
        if self.seen > limits[-1]:
            return self.most if quantile < 0.5 else float(self.strengths[-1])
        rising = limits + _TINY * max(1e-300, float(np.abs(limits).max())) * np.arange(len(limits))
        return float(np.sqrt(np.interp(self.seen, rising, self.strengths**2)))  # it grows with the square of these

    def between(self, confidence: float, cells: int) -> tuple[float, float]:
        """The ends of an interval that is one of so many which all hold with that confidence."""
        tail = _KEPT * find_alpha(confidence, max(1, cells)) / 2
        return self.at(1 - tail), self.at(tail)

    def _read(self, quantile: float) -> Floats:
        """The quantile of what was drawn at each strength, also of tails in which there is hardly a draw."""
        tail, least = min(quantile, 1 - quantile), _TAIL / self.drawn.shape[1]
        if tail >= least or least >= 0.5:
            return np.asarray(np.quantile(self.drawn, quantile, axis=1))
        middle, end = np.quantile(self.drawn, [0.5, least if quantile < 0.5 else 1 - least], axis=1)
        return np.asarray(middle + (end - middle) * log(2 * max(tail, 1e-300)) / log(2 * least))
