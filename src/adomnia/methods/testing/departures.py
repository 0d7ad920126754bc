"""How far noisy counts are from expected ones: the statistic of chi-square tests, and the size of the effect."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from adomnia.methods.contract import Factor
from adomnia.methods.testing.fresh_noise import draw_again, variance_of
from adomnia.methods.testing.null_law import NullLaw, count_draws, invert
from adomnia.noise.afterwards import follow
from adomnia.statistics.contract import Bounds, Floats, Measured

_LEAST = 1e-9  # rows that are expected in a cell, where there is no noise to speak of either


@dataclass(frozen=True)
class Departures:
    """Noisy counts of cells, and those that the null hypothesis expects given such counts (the last axis).

    Statistic   the sum of (count - expected)**2 / (expected + variance of the noise), as of Gaboardi, Lim, Rogers &
                Vadhan 2016. Without noise it is Pearson's.
    Effect      Cohen's w, at most `most`: the root of the sum of (share - expected share)**2 / expected share. What
                chance adds to the statistic, its degrees of freedom, is taken away (Bergsma 2013). Intervals are by
                inversion of the test: effects in the observed direction that make the statistic so large.
    """

    measured: Measured
    expect: Callable[[Floats], Floats]
    degrees: int
    most: float
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
    def law(self) -> NullLaw:
        """The statistic under the null hypothesis."""
        return NullLaw(np.square(self._simulated).sum(axis=-1))

    @cached_property
    def effect(self) -> float:
        """The effect that is left where the statistic is as much smaller as it would be on average without any."""
        return min(self.most, sqrt(max(0.0, self.statistic - self.degrees)) * self._unit)

    def interval(self, confidence: float, cells: int) -> Bounds:
        """The effects in whose laws the statistic is not far out."""
        tail = (1 - confidence) / 2 / max(1, cells)
        return np.array([self._effect_at(1 - tail)]), np.array([self._effect_at(tail)])

    @cached_property
    def _simulated(self) -> Floats:
        """Standardised departures under the null hypothesis, many times."""
        generator = follow([self.measured.values], "departures of counts")
        rows, draws = max(0, round(self.counts.sum())), count_draws(2 * len(self.counts), self.by)
        chances = self.expect(self.counts)
        chances = chances / chances.sum() if rows else np.full_like(chances, 1 / len(chances))
        drawn = generator.multinomial(rows, chances, draws)
        return self._off(drawn + draw_again(self.measured.noise, generator, drawn.shape))

    def _off(self, counts: Floats) -> Floats:
        expected = self.expect(counts)
        return (counts - expected) / np.sqrt(np.maximum(expected + self._noise, _LEAST))

    @cached_property
    def _noise(self) -> float:
        return variance_of(self.measured.noise)

    def _effect_at(self, share: float) -> float:
        along, squares = 2 * self._simulated @ self._direction, self.law.draws
        found = invert(
            self.statistic, lambda size: squares + size * along + size**2, share, self.most / max(self._unit, _LEAST)
        )
        return min(self.most, found * self._unit)

    @cached_property
    def _direction(self) -> Floats:
        """The standardised departures that were measured, as a vector of length 1."""
        off = self._off(self.counts)
        length = float(np.sqrt(np.square(off).sum()))
        return off / length if length > 0 else np.full_like(off, len(off) ** -0.5)

    @cached_property
    def _unit(self) -> float:
        """Cohen's w of a standardised departure of length 1 in that direction."""
        expected = np.maximum(self.expect(self.counts), _LEAST)
        rows = max(1.0, float(self.counts.sum()))
        return float(np.sqrt(np.sum(self._direction**2 * (expected + self._noise) / expected) / rows))
