"""How probable it is that a value of each of several groups is larger than that of anyone: from noisy histograms.

The score of a bin is the share of everybody below it, with half of those in it, less a half. The sum of the scores of
a group is right on average whatever the noise, which adds variance * (sum of squared scores) to its variance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod, sqrt

import numpy as np

from adomnia.distributions.projections import project_shares
from adomnia.methods.parts.testing.binned import Histograms
from adomnia.methods.parts.testing.null_law import NullLaw
from adomnia.methods.strengths import Strengths, lead_on, lead_up_to, plan_draws
from adomnia.statistics.contract import Bounds, Floats

_LEAST = 1e-12  # variances that are divided by


@dataclass(frozen=True)
class RelativeEffects:
    """Noisy counts of groups in bins, of which those that are `tied` hold one value.

    Cite        Kruskal & Wallis 1952; Brunner & Munzel 2000 (relative effects).
    """

    histograms: Histograms
    tied: Sequence[bool]

    def compare(self, counts: Floats) -> Floats:
        """Kruskal and Wallis's H with ties, of counts with groups on the axis before the last."""
        rows, scores = _rows(counts), _score(counts)
        every = np.maximum(rows.sum(axis=-1), 1.0)
        off = (project_shares(counts) * scores[..., None, :]).sum(axis=-1)
        noisy = self._noise * (scores**2).sum(axis=-1) / self._spread(counts)
        weights = rows**2 / np.maximum(rows + noisy[..., None], 1.0)
        found: Floats = (weights * off**2).sum(axis=-1) / self._spread(counts) * (every - 1) / every
        return found

    @cached_property
    def size(self) -> float:
        """Epsilon squared that is as often too large as too small: chance and noise alone make none."""
        return self._strengths.at(0.5) ** 2

    def size_interval(self, confidence: float, cells: int) -> Bounds:
        """The sizes of which what was measured is no rare sight; all where a group is lost."""
        if self.lost.any():
            return np.zeros(1), np.ones(1)
        lower, upper = self._strengths.between(confidence, cells)
        return np.array([lower**2]), np.array([upper**2])

    @cached_property
    def values(self) -> Floats:
        """How probable it is that a value of each group is larger, ties counting half; NaN where it is lost."""
        return np.where(self.lost, np.nan, np.clip(0.5 + self._effects(self.histograms.counts), 0.0, 1.0))

    def intervals(self, confidence: float, cells: int) -> Bounds:
        """Intervals of these, which allow for the order within bins; all where a group is lost."""
        errors = self._effects(self._again) - self._effects(self._shares * self._scale)
        order = ((self._shares * self._pooled)[:, ~np.asarray(self.tied)] ** 2).sum(axis=-1) / 12
        wider = np.sqrt(1 + order / np.maximum(errors.var(axis=0), _LEAST))
        reach = wider * [NullLaw(each).distance(confidence, cells) for each in errors.T]
        found = 0.5 + self._effects(self.histograms.counts)
        lower, upper = np.clip(found - reach, 0.0, 1.0), np.clip(found + reach, 0.0, 1.0)
        return np.where(self.lost, 0.0, lower), np.where(self.lost, 1.0, upper)

    @cached_property
    def lost(self) -> Floats:
        """Which groups have so few rows that they may be noise alone."""
        return np.asarray(self.histograms.counts.sum(axis=-1) < self._clear)

    def _effects(self, counts: Floats) -> Floats:
        """By how much the relative effect of each group exceeds a half; noise may put it beyond what can be."""
        found: Floats = (counts * _score(counts)[..., None, :]).sum(axis=-1) / np.maximum(_rows(counts), self._clear)
        return found

    def _sizes(self, counts: Floats) -> Floats:
        rows = np.maximum(_rows(counts), self._clear)
        between = (rows * self._effects(counts) ** 2).sum(axis=-1) / np.maximum(rows.sum(axis=-1), 1.0)
        return np.asarray(between / self._spread(counts))

    def _spread(self, counts: Floats) -> Floats:
        """The variance of ranks as shares: a twelfth, less what ties take away."""
        shares = project_shares(counts.sum(axis=-2))
        return np.asarray(np.maximum((1 - (shares**3).sum(axis=-1)) / 12, _LEAST))

    @cached_property
    def _strengths(self) -> Strengths:
        """Roots of sizes, between groups that do not differ and those that were seen, and beyond."""
        parts = self._scale / self._scale.sum()
        apart, seen = parts * self._pooled, parts * self._shares
        many, draws = plan_draws(seen.size * prod(len(factor.levels) for factor in self.histograms.by))
        tables = lead_on(apart, seen, lead_up_to(1.0, sqrt(float(self._sizes(seen * self._scale.sum()))), many))
        shares = tables / np.maximum(tables.sum(axis=-1, keepdims=True), _LEAST)
        drawn = self.histograms.simulate_each(shares, "kruskal_wallis sizes", draws, self._sizes)
        found = np.sqrt(self._sizes(shares * self._scale))
        return Strengths(float(self._sizes(self.histograms.counts)), np.maximum.accumulate(found), drawn, 1.0)

    @cached_property
    def _again(self) -> Floats:
        """Counts of groups of such shares, with fresh noise, many times."""
        return self.histograms.simulate(self._shares, "kruskal_wallis intervals")

    @cached_property
    def _shares(self) -> Floats:
        return project_shares(self.histograms.counts)

    @property
    def _pooled(self) -> Floats:
        return self.histograms.pooled

    @property
    def _scale(self) -> Floats:
        return np.maximum(self.histograms.rows, 1.0)[:, None]

    @cached_property
    def _noise(self) -> float:
        return self.histograms.measured.noise.cumulants.variance

    @property
    def _clear(self) -> float:
        """Rows that a group must have to be seen in its noise."""
        return float(max(2 * np.sqrt(self.histograms.counts.shape[-1] * self._noise), 1.0))


def _rows(counts: Floats) -> Floats:
    found: Floats = np.maximum(counts.sum(axis=-1), 0.0)
    return found


def _score(counts: Floats) -> Floats:
    shares = project_shares(counts.sum(axis=-2))
    found: Floats = np.cumsum(shares, axis=-1) - shares / 2 - 0.5
    return found
