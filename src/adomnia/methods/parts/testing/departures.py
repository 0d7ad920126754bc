"""How far noisy counts are from expected ones: the statistic of chi-square tests, and the size of the effect.

How strong an effect is, by what tables of other strengths look like when they are drawn again.

Tables lie between the one of no effect and the one that was seen, and beyond. From each of them many are drawn, and a
strength belongs to the interval if what was seen is no rare sight among the tables of that strength. Nothing is taken
to vary as it does at the strength that was seen, which is itself too small or too large by chance.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import log, prod, sqrt

import numpy as np

from adomnia.distributions.simulations import draw_again
from adomnia.mechanisms.contract import find_alpha
from adomnia.messages.texts import Note, define_note
from adomnia.methods.contract import Factor
from adomnia.methods.parts.testing.null_distribution import NullDistribution, count_draws
from adomnia.methods.simulation import count_simulations
from adomnia.noise.afterwards import follow
from adomnia.statistics.brackets import isotonic
from adomnia.statistics.contract import Bounds, Floats, Measured

_LEAST = 1e-9  # rows that are expected in a cell, where there is no noise to speak of either
_CLEAR = 2.0  # times its doubt that what is expected must be
_RARE = define_note(
    "rare_values_lost",
    "Some values are so rare that they are lost in the noise: how large the effect is at most is not known. Leave them"
    " out, or put them together with others, in the bracketed SELECT.",
)
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


@dataclass(frozen=True)
class Departures:
    """Noisy counts of cells, and those that the null hypothesis expects given such counts (the last axis).

    Statistic   the sum of (count - expected)**2 / (expected + variance of the noise), as of Gaboardi, Lim, Rogers &
                Vadhan 2016. Without noise it is Pearson's.
    Effect      Cohen's w, at most `most`: the root of the sum of (share - expected share)**2 / expected share. Tables
                between the one that is expected and the one that was seen are drawn again with sampling and noise: the
                effect is the one at which half of them have a smaller statistic than the one that was seen, and the
                interval are those whose statistic looks like it. It has no upper end where less is expected in some
                cell than twice what that may be off by, `doubt`.
    """

    measured: Measured
    expect: Callable[[Floats], Floats]
    most: float
    doubt: Floats
    by: tuple[Factor, ...]

    @cached_property
    def counts(self) -> Floats:
        """What was measured."""
        return np.asarray(self.measured.values, dtype=np.float64).ravel()

    @cached_property
    def statistic(self) -> float:
        """The statistic."""
        return float(np.square(self._off(self.counts)).sum())

    @cached_property
    def null_distribution(self) -> NullDistribution:
        """The statistic under the null hypothesis."""
        return NullDistribution(np.square(self._simulated).sum(axis=-1))

    @property
    def notes(self) -> tuple[Note, ...]:
        """What is to be known of the effect."""
        return (_RARE,) if self.lost else ()

    @property
    def lost(self) -> bool:
        """Whether less is expected in some cell than what that may be off by: the effect may be as large as any."""
        return bool((self.expect(self.counts) < _CLEAR * self.doubt).any())

    @cached_property
    def effect(self) -> float:
        """The effect that is as often too large as too small: chance and noise alone make none."""
        return self._strengths.at(0.5)

    def interval(self, confidence: float, cells: int) -> Bounds:
        """The effects of which what was measured is no rare sight."""
        lower, upper = self._strengths.between(confidence, cells)
        return np.array([lower]), np.array([self.most if self.lost else upper])

    @cached_property
    def _strengths(self) -> Strengths:
        shares = np.maximum(self.counts, min(0.5, sqrt(self._noise) / 2) + _LEAST)
        shares = shares / shares.sum()
        apart = self.expect(shares)
        many, draws = plan_draws(prod(len(factor.levels) for factor in self.by) * len(shares))
        steps = lead_up_to(self.most, float(_measure(shares, apart)), many)
        tables = lead_on(apart, shares, steps)
        drawn = self._simulate(tables[:, None, :], "effects of counts", (len(tables), draws))
        found = np.maximum.accumulate(_measure(tables, self.expect(tables)))
        return Strengths(float(self._compare(self.counts)), found, self._compare(drawn), self.most)

    def _compare(self, counts: Floats) -> Floats:
        """The statistic over the number of rows."""
        found: Floats = np.square(self._off(counts)).sum(axis=-1) / np.maximum(counts.sum(axis=-1), 1.0)
        return found

    @cached_property
    def _simulated(self) -> Floats:
        """Standardised departures under the null hypothesis, many times."""
        chances = self.expect(self.counts)
        total = float(chances.sum())
        shares = chances / total if total > 0 else np.full_like(chances, 1 / len(chances))
        draws = count_draws(2 * len(self.counts), self.by)
        return self._off(self._simulate(shares, "departures of counts", (draws,)))

    def _simulate(self, shares: Floats, purpose: str, draws: tuple[int, ...]) -> Floats:
        """Counts of as many people with these shares, with fresh noise, many times."""
        generator = follow([self.measured.values], purpose)
        drawn = generator.multinomial(max(0, round(self.counts.sum())), shares, draws)
        found: Floats = drawn + draw_again(self.measured.noise, generator, drawn.shape)
        return found

    def _off(self, counts: Floats) -> Floats:
        expected = self.expect(counts)
        return (counts - expected) / np.sqrt(np.maximum(expected + self._noise, _LEAST))

    @cached_property
    def _noise(self) -> float:
        return self.measured.noise.cumulants.variance


def _measure(shares: Floats, expected: Floats) -> Floats:
    """Cohen's w of shares."""
    off = (shares - expected) ** 2 / np.maximum(expected, np.finfo(np.float64).tiny)
    return np.asarray(np.sqrt(off.sum(axis=-1)))
