"""Where a quantile is, from noisy numbers of rows between cuts: only ranks and the distribution of the noise are used.

T(e) = rows below the edge e - share * rows is at most 0 where e is at or below a quantile and at least 0 above it. Its
noise is a weighted sum of independent ones. Edges are tested from the outside in: docs/proofs/brackets.md, 2.
"""

from dataclasses import dataclass
from functools import cached_property
from math import erfc, sqrt

import numpy as np

from adomnia.mechanisms.brackets import Brackets
from adomnia.mechanisms.contract import Noise
from adomnia.mechanisms.earlier_brackets import EarlierBrackets
from adomnia.noise import Integers
from adomnia.statistics.contract import Floats

LEAST_ALPHA = 1e-7  # smaller tails are not computed
_ACROSS = 0.1  # of the chance to miss is for ends that lie beyond the value
_MOVED = 0.9  # of a noisy rank is taken back by the value
_SURE = 30.0  # deviations: no tail that is asked for lies there
_STEP = 2 * np.pi / 40  # of the integral: it wraps around beyond 20 deviations
_POINTS = (np.arange(1300) + 0.5) * _STEP
_RAMP = 1e-9  # keeps equal ranks in order
_TIED = 4.0  # deviations of a count: a single value with so many rows is tied
_BESIDE = 1.5  # deviations of a rank: a tied value so near to the quantile is the answer


@dataclass(frozen=True)
class Bracket:
    """One quantile of one cell: cuts, and how many rows too many lie below each, with noise."""

    mechanism: Brackets | EarlierBrackets
    noise: Noise | None  # of a count, where rows were counted
    scale: float | None  # by how many rows the value is off, about, if it was chosen for the quantile itself
    share: float
    low: int
    value: int
    high: int
    edges: Integers
    excess: Floats
    rows: float  # all that were counted, with noise
    scatter: float = 0.0  # the variance of a rank by sampling, where the quantile is that of a population

    @classmethod
    def read(cls, mechanism: Brackets | EarlierBrackets, numbers: Integers, place: int) -> "Bracket":
        """From what was released of a cell."""
        shares, room = mechanism.shares, mechanism.room
        share, many = float(shares[place]), int(numbers[0])
        low, value, high = (int(each) for each in numbers[1 + 3 * place : 4 + 3 * place])
        start = 1 + 3 * len(shares)
        edges, counts = numbers[start : start + many], numbers[start + room : start + 2 * room + 1].astype(np.float64)
        if len(shares) == 1:
            inner = np.concatenate([[0.0], np.cumsum(counts[1 : max(many, 1)])])
            excess, rows = counts[0] / shares[0].denominator + inner - share * inner[-1], 0.0
        else:
            below, rows = np.cumsum(counts[:many]), float(counts[: many + 1].sum())
            excess = below - share * rows
        found = mechanism.counting_of(numbers), mechanism.own_scale_of(numbers)
        return cls(mechanism, *found, share, low, value, high, edges, excess[:many], rows)

    @property
    def _counting(self) -> Noise:
        if self.noise is None:
            raise ValueError("Bracket of rows that were not counted has no noise.")
        return self.noise

    @property
    def _across(self) -> float:
        """The part of the chance to miss that is for ends beyond the value: answers of then stay what they were."""
        return 0.0 if isinstance(self.mechanism, EarlierBrackets) else _ACROSS

    @property
    def _larger(self) -> float:
        return max(self.share, 1 - self.share)

    @cached_property
    def weights(self) -> tuple[tuple[tuple[float, int], ...], ...]:
        """Of each edge, how much and how often noises of a count are in its excess."""
        many, share = len(self.edges), self.share
        if len(self.mechanism.shares) == 1:
            return tuple(((self._larger, 1), (1 - share, i), (share, many - 1 - i)) for i in range(many))
        return tuple(((1 - share, i + 1), (share, many - i)) for i in range(many))

    def bounds(self, alpha: float) -> tuple[int, int]:
        """The least and the greatest value that a quantile may have; beyond the grid where nothing is told."""
        low, high = -1, self.mechanism.values
        # Edges up to the value serve the lower end, those above it the upper one. What is left of the chance to miss
        # lets them serve the other end too: where the value lies far off, that end is among them.
        lower, parts = int(np.searchsorted(self.edges, self.value, side="right")), (1 - self._across, self._across)
        near, far = (alpha * part if alpha * part >= LEAST_ALPHA else 0.0 for part in parts)
        for at in range(len(self.edges)):
            if not self._passes(at, -self.excess[at], near if at < lower else far):
                break
            low = int(self.edges[at])
        for at in reversed(range(len(self.edges))):
            if not self._passes(at, self.excess[at], far if at < lower else near):
                break
            high = int(self.edges[at]) - 1
        return low, high

    def _passes(self, at: int, excess: float, alpha: float) -> bool:
        """Whether noise alone hardly makes the excess at an edge so large."""
        if excess <= 0 or not alpha:
            return False
        if at not in self._tails:
            # Half a row less, because noise is a whole number: its tail is below that of a continuous one there.
            self._tails[at] = tail(self._counting, excess - self._larger / 2, self.weights[at], self.scatter)
        return self._tails[at] <= alpha

    @cached_property
    def _tails(self) -> dict[int, float]:
        """Those that are known, by edge: of the side where there are too many rows or too few."""
        return {}

    def estimate(self, alpha: float) -> int:
        """The value: noisy ranks made monotone, and as many rows taken back as the value is off by."""
        values, (low, high) = self.mechanism.values, self.bounds(alpha)
        found = self._tied()
        if found is None:
            found = self.value if not len(self.edges) else self._interpolated()
        return min(max(found, low, 0), high, values - 1)

    def _tied(self) -> int | None:
        """A value that many rows hold, and the quantile with them as far as noise can tell: the nearest such one."""
        single = np.flatnonzero(np.diff(self.edges) == 1)
        if not len(single):
            return None
        rows = self.excess[single + 1] - self.excess[single]
        single = single[rows >= _TIED * self._counting.continuous.deviation]
        if not len(single):
            return None
        off = np.maximum(0, np.maximum(self.excess[single], -self.excess[single + 1]))
        best = np.lexsort([np.abs(self.edges[single] - self.value), off])[0]
        return int(self.edges[single[best]]) if off[best] <= _BESIDE * self._deviation(int(single[best])) else None

    def _deviation(self, at: int) -> float:
        """Of the noise of an excess."""
        spread = sum(many * weight * weight for weight, many in self.weights[at])
        return self._counting.continuous.deviation * sqrt(spread)

    def _kept(self, off: float) -> float:
        """How many of the rows that the value is off by are left to noise: the others are taken back.

        A value that was chosen for itself is off by Laplace noise of a known scale: the most likely part is taken back.
        """
        if self.scale is None:
            return (1 - _MOVED) * off
        at = min(int(np.searchsorted(self.edges, self.value)), len(self.edges) - 1)
        least = self._deviation(at) ** 2 / self.scale
        return float(np.clip(off, -least, least))

    def _interpolated(self) -> int:
        edges, first = np.unique(self.edges, return_index=True)
        excess = np.add.reduceat(self.excess, first) / np.diff(first, append=len(self.edges))
        monotone = isotonic(excess)
        ranks = monotone + _RAMP * np.arange(len(edges))
        places = edges.astype(np.float64)
        if self.low < 0:  # cuts lie evenly, and the quantile anywhere between them
            ends = np.concatenate([[-self.share * self.rows], ranks, [(1 - self.share) * self.rows]])
            around = np.concatenate([[0.0], places, [float(self.mechanism.values)]])
            return _whole(np.interp(0.0, np.maximum.accumulate(ends), around))
        at, after = np.interp([self.value, self.value + 1], places, monotone)
        if at <= 0 <= after:
            return self.value
        off = at if at > 0 else after
        found, beside = _whole(np.interp(self._kept(off), ranks, places)), self.high - self.low
        return min(max(found, self.low - beside), self.high + beside)


def _whole(place: float) -> int:
    """The grid value that a place lies in; the ramp must not move one off its own edge."""
    return int(place + 1e-6)


def isotonic(numbers: Floats) -> Floats:
    """The nearest numbers that never fall: neighbours that do are pooled."""
    pools: list[tuple[float, int]] = []
    for number in numbers.tolist():
        mean, size = number, 1
        while pools and pools[-1][0] > mean:
            before, many = pools.pop()
            mean, size = (before * many + mean * size) / (many + size), many + size
        pools.append((mean, size))
    return np.concatenate([np.full(size, mean) for mean, size in pools])


def tail(noise: Noise, x: float, weights: tuple[tuple[float, int], ...], scatter: float = 0.0) -> float:
    """P[a weighted sum of independent noises >= x], each weight so many times; for noise that is not rounded.

    `scatter` is the variance of what is normal beside them. Of Laplace noise by inverting the characteristic function
    (Gil-Pelaez 1951); of Gaussian noise the sum is normal.
    """
    if x <= 0:
        return 1.0
    spread, (tails, scale, _) = sum(many * weight * weight for weight, many in weights), noise.continuous
    if tails == "gaussian":
        return erfc(x / sqrt(2 * (spread * scale**2 + scatter))) / 2
    deviation = sqrt(2 * spread * scale**2 + scatter)
    if x > _SURE * deviation:
        return 0.0
    logs = sum(many * np.log1p((weight * scale / deviation * _POINTS) ** 2) for weight, many in weights)
    logs = logs + scatter * np.square(_POINTS / deviation) / 2
    return float(0.5 - _STEP / np.pi * np.sum(np.sin(_POINTS * (x / deviation)) * np.exp(-logs) / _POINTS))
