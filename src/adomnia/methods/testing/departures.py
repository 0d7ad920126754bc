"""How far noisy counts are from expected ones: the statistic of chi-square tests, and the size of the effect."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from adomnia.methods.contract import Factor
from adomnia.methods.fresh_noise import draw_again, variance_of
from adomnia.methods.testing.null_law import NullLaw, count_draws
from adomnia.methods.testing.shares import project
from adomnia.noise.afterwards import follow
from adomnia.statistics.contract import Bounds, Floats, Measured

_LEAST = 1e-9  # rows that are expected in a cell, where there is no noise to speak of either

_CLEAR = 2.0  # times its doubt that what is expected must be
_RARE = (
    "Some values are so rare that they are lost in the noise: how large the effect is at most is not known. Leave them"
    " out, or put them together with others, in the bracketed SELECT."
)


@dataclass(frozen=True)
class Departures:
    """Noisy counts of cells, and those that the null hypothesis expects given such counts (the last axis).

    Statistic   the sum of (count - expected)**2 / (expected + variance of the noise), as of Gaboardi, Lim, Rogers &
                Vadhan 2016. Without noise it is Pearson's.
    Effect      Cohen's w, at most `most`: the root of the sum of (share - expected share)**2 / expected share. Where
                less is expected than what that may be off by, `doubt`, this is divided by. What chance and noise add to
                its square is taken away: simulations of the projected shares tell how much, and how far it varies.
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
    def law(self) -> NullLaw:
        """The statistic under the null hypothesis."""
        return NullLaw(np.square(self._simulated).sum(axis=-1))

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known of the effect."""
        return (_RARE,) if self.lost else ()

    @property
    def lost(self) -> bool:
        """Whether less is expected in some cell than what that may be off by: the effect may be as large as any."""
        return bool((self.expect(self.counts) < _CLEAR * self.doubt).any())

    @cached_property
    def effect(self) -> float:
        """The effect: what was measured, less what chance and noise add to its square on average."""
        squares, true = self._again
        return self._size(float(self._squares(self.counts) - squares.mean()) + true)

    def interval(self, confidence: float, cells: int) -> Bounds:
        """The effects from which what was measured differs by no more than simulations do from theirs.

        Above, by the effects or by their squares, whichever are further off: one is right for large effects, whose
        squares vary the more the larger they are, the other one for small ones.
        """
        tail = (1 - confidence) / 2 / max(1, cells)
        (squares, true), found = self._again, float(self._squares(self.counts))
        low, high = np.quantile(squares, [tail, 1 - tail])
        if self.lost:
            return np.array([self._size(found - high + true)]), np.array([self.most])
        above = max(self._size(found - low + true), self._size(found) - self._size(low) + self._size(true))
        return np.array([self._size(found - high + true)]), np.array([min(self.most, above)])

    @cached_property
    def _again(self) -> tuple[Floats, float]:
        """The squares of effects in simulations of shares like those that were measured, and that of these shares."""
        shares = project(self.counts)
        again = self._simulate(shares, "effects of counts")
        return self._squares(again), float(self._squares(shares * max(1.0, float(self.counts.sum()))))

    def _squares(self, counts: Floats) -> Floats:
        """Cohen's w, squared."""
        expected, rows = self.expect(counts), np.maximum(counts.sum(axis=-1), 1.0)
        found: Floats = ((counts - expected) ** 2 / np.maximum(expected, self._least)).sum(axis=-1) / rows
        return found

    def _size(self, square: float) -> float:
        return min(self.most, sqrt(max(0.0, square)))

    @cached_property
    def _simulated(self) -> Floats:
        """Standardised departures under the null hypothesis, many times."""
        chances = self.expect(self.counts)
        total = float(chances.sum())
        shares = chances / total if total > 0 else np.full_like(chances, 1 / len(chances))
        return self._off(self._simulate(shares, "departures of counts"))

    def _simulate(self, shares: Floats, purpose: str) -> Floats:
        """Counts of as many people with these shares, with fresh noise, many times."""
        generator = follow([self.measured.values], purpose)
        rows, draws = max(0, round(self.counts.sum())), count_draws(2 * len(self.counts), self.by)
        drawn = generator.multinomial(rows, shares, draws)
        found: Floats = drawn + draw_again(self.measured.noise, generator, drawn.shape)
        return found

    def _off(self, counts: Floats) -> Floats:
        expected = self.expect(counts)
        return (counts - expected) / np.sqrt(np.maximum(expected + self._noise, _LEAST))

    @cached_property
    def _noise(self) -> float:
        return variance_of(self.measured.noise)

    @cached_property
    def _least(self) -> Floats:
        return np.maximum(self.doubt, _LEAST)
