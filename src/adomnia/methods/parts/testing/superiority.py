"""How probable it is that a value of one group is larger than one of another: from noisy histograms of both.

Shares that are projected have less noise, and lie between what they are of and equal ones: good for a test, too small
an effect for an interval. Products of the noisy counts themselves are right on average, since the noises of two groups
are independent. An interval holds the probabilities p for which the sum over all pairs of bins of
count * count * (larger - p), which has mean 0 at the right one, is no more than some standard errors off.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adomnia.distributions.fieller import fieller
from adomnia.distributions.projections import project_shares
from adomnia.statistics.contract import Bounds, Floats


def superiority(counts: Floats) -> Floats:
    """P(first > second) + P(first = second) / 2 of two histograms, groups on the axis before the last."""
    first, second = np.moveaxis(project_shares(counts), -2, 0)
    found: Floats = (first * _below(second)).sum(axis=-1)
    return found


@dataclass(frozen=True)
class Pairs:
    """Noisy counts of two groups, bins on the last axis; `noise` is the variance of each, `sampling` that of the sum.

    Cite        Mann & Whitney 1947 (the sampling); Fieller 1954 (the interval).
    """

    counts: Floats
    noise: float
    sampling: float

    def studentize(self, probability: float) -> Floats:
        """How many standard errors the sum over pairs is off, at that probability."""
        constant, linear, square = self._variance
        variance = constant - 2 * linear * probability + square * probability**2
        found: Floats = (self._larger - probability * self._all) / np.sqrt(np.maximum(variance, 1e-300))
        return found

    def interval(self, distance: float) -> Bounds:
        """The probabilities that are at most so many standard errors off; all of them where that has no end."""
        sign = np.where(self._all < 0, -1.0, 1.0)
        lower, upper = fieller(sign * self._larger, sign * self._all, self._variance, distance)
        return np.atleast_1d(np.clip(lower, 0.0, 1.0)), np.atleast_1d(np.clip(upper, 0.0, 1.0))

    @cached_property
    def _won(self) -> Floats:
        """For each bin of the first group, how many of the second it is larger than."""
        return _below(self.counts[..., 1, :])

    @cached_property
    def _lost(self) -> Floats:
        """For each bin of the second group, how many of the first are larger."""
        return self._rows[..., 0, None] - _below(self.counts[..., 0, :])

    @cached_property
    def _rows(self) -> Floats:
        found: Floats = self.counts.sum(axis=-1)
        return found

    @cached_property
    def _larger(self) -> Floats:
        return np.asarray((self.counts[..., 0, :] * self._won).sum(axis=-1))

    @cached_property
    def _all(self) -> Floats:
        return np.asarray(self._rows[..., 0] * self._rows[..., 1])

    @cached_property
    def _variance(self) -> tuple[Floats, Floats, Floats]:
        """v, w and s of v - 2 w p + s p**2: by noise in the counts of each group, and by sampling."""
        first, second = self._rows[..., 0], self._rows[..., 1]
        bins = self.counts.shape[-1]
        constant = self.noise * ((self._won**2).sum(axis=-1) + (self._lost**2).sum(axis=-1)) + self.sampling
        linear = self.noise * (second * self._won.sum(axis=-1) + first * self._lost.sum(axis=-1))
        return constant, linear, self.noise * bins * (first**2 + second**2)


def vary_by_order(shares: Floats, tied: Sequence[bool]) -> float:
    """The variance of the probability by the order within bins, of which those that are `tied` hold one value.

    Of a pair in one bin nothing is known, and half is counted: it is off by up to half the product of both shares. In
    each bin by itself that is taken for any number between the ends, all alike.
    """
    first, second = shares
    return float((((first * second)[~np.asarray(tied)]) ** 2).sum() / 12)


def vary_by_sampling(shares: Floats, rows: Floats) -> float:
    """The variance of the number of pairs whose first is larger, of groups with these shares and numbers of rows."""
    first, second = shares
    won, lost = _below(second), 1 - _below(first)
    spread = [float(part @ each**2 - (part @ each) ** 2) for part, each in ((first, won), (second, lost))]
    return float(np.prod(rows) * (rows[1] * max(spread[0], 0.0) + rows[0] * max(spread[1], 0.0)))


def _below(counts: Floats) -> Floats:
    """How many are below each bin, with half of those in it."""
    found: Floats = np.cumsum(counts, axis=-1) - counts / 2
    return found
