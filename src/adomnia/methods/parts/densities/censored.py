"""Fits a law to noisy counts of bins, of which the outer two are open: censored data with known noise.

A noisy count has mean n P and variance n P + s, where P is the share of its bin under the law and s the variance of the
noise. The fit solves the equations that are best for these two moments (quasi-likelihood; Wedderburn 1974): bins that
hold hardly more than noise count little, and nothing is cut at zero, which would bias the tails. Without noise it is
the censored maximum of likelihood.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from adomnia.methods.parts.densities.laws import Family
from adomnia.statistics.contract import Floats

_STEPS = 40
_LARGEST_STEP = 0.7
_FARTHEST = 30.0  # of any parameter: standard deviations, or logarithms
_SMALLEST_VARIANCE = 1e-6
_DIFFERENCE = 1e-5
_CLOSE = 1e-6


class Fits(NamedTuple):
    """Points of a law with numbers of rows, of shapes (..., parameters) and (...)."""

    points: Floats
    rows: Floats


@dataclass(frozen=True)
class Censored:
    """What is fitted: a law, the edges between bins in about standard deviations, the variance of a count's noise."""

    law: Family
    edges: Floats
    variance: float

    def shares(self, points: Floats) -> Floats:
        """The share of each bin."""
        below = self.law.below(points, self.edges)
        whole = np.concatenate([np.zeros_like(below[..., :1]), below, np.ones_like(below[..., :1])], axis=-1)
        return np.maximum(np.diff(whole, axis=-1), 0.0)

    def fit(self, counts: Floats, start: Fits) -> Fits:
        """The best points for counts of shape (..., bins), from points nearby: Fisher's scoring, with limited steps."""
        points = np.broadcast_to(start.points, (*counts.shape[:-1], start.points.shape[-1]))
        logs = np.broadcast_to(np.log(start.rows), counts.shape[:-1])
        now = np.concatenate([logs[..., None], points], axis=-1)
        moving = np.ones(counts.shape[:-1], dtype=bool)
        for _ in range(_STEPS):
            before = now[moving]
            step = np.clip(self._scoring_step(before, counts[moving]), -_LARGEST_STEP, _LARGEST_STEP)
            now[moving] = np.clip(before + step, -_FARTHEST, _FARTHEST)
            moving[moving] = np.abs(now[moving] - before).max(axis=-1) >= _CLOSE
            if not moving.any():
                break
        return Fits(now[..., 1:], np.exp(now[..., 0]))

    def misfit(self, fits: Fits, counts: Floats) -> Floats:
        """The squares of how far all counts are from their means, each over its variance, added up."""
        means = fits.rows[..., None] * self.shares(fits.points)
        return np.asarray(((counts - means) ** 2 / (means + self._noise)).sum(axis=-1))

    def errors(self, fits: Fits) -> Floats:
        """About the standard errors of all parameters; enormous where the counts do not tell."""
        information = self._linearise(np.concatenate([np.log(fits.rows)[..., None], fits.points], axis=-1))[2]
        inverse = np.linalg.inv(information + _SMALLEST_VARIANCE * np.eye(information.shape[-1]))
        return np.sqrt(np.maximum(np.diagonal(inverse, axis1=-2, axis2=-1)[..., 1:], 0))

    @property
    def _noise(self) -> float:
        return max(self.variance, _SMALLEST_VARIANCE)

    def _scoring_step(self, now: Floats, counts: Floats) -> Floats:
        means, weighted, information = self._linearise(now)
        score = weighted @ (counts - means)[..., None]
        damping = _SMALLEST_VARIANCE * np.eye(now.shape[-1])
        return np.asarray(np.linalg.solve(information + damping, score)[..., 0])

    def _linearise(self, now: Floats) -> tuple[Floats, Floats, Floats]:
        """The means of counts, their slopes over their variances, and the information on all parameters."""
        means = self._means(now)
        steps = _DIFFERENCE * np.eye(now.shape[-1])
        slopes = np.stack([(self._means(now + step) - means) / _DIFFERENCE for step in steps], axis=-2)
        weighted = slopes / (means + self._noise)[..., None, :]
        return means, weighted, weighted @ np.swapaxes(slopes, -1, -2)

    def _means(self, now: Floats) -> Floats:
        return np.exp(now[..., :1]) * self.shares(now[..., 1:])
