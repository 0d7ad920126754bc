"""Fits of a family to noisy sums of its statistics, and all distributions of it that these sums do not speak against.

If a distribution is true, each sum of a statistic less its mean under that distribution has an error of mean zero, made
of noise and of sampling. Q, the square of these errors in units of their covariance, is 0 at the fit. The interval of a
parameter holds all values for which some distribution of the family has a Q within the square of a quantile: Fieller's
argument for several sums (Rao's score test, of which the nuisance parameter is the most favourable one).
"""

from collections.abc import Callable
from functools import cached_property
from typing import TypeAlias

import numpy as np

from adomnia.distributions.margins import deviations
from adomnia.mechanisms.contract import find_alpha
from adomnia.methods.parts.likelihood.statistic_sums import StatisticSums
from adomnia.statistics.contract import Bounds, Floats

_Scale: TypeAlias = Callable[[Floats], Floats]

_CUTS = 16  # into which the way from an estimate to a limit is divided, and again the first part that leads out
_ROUNDS = 7
_POINTS = 25  # of one zoom of a search for the most favourable distribution
_ZOOMS = 5
_LEAST_SPREAD = 1e-5  # the smallest deviation that is looked at, in widths
_LEAST_MEAN = 1e-6  # and the smallest mean of numbers above zero
_REGULAR = 1e-12  # of the trace of a covariance, so that it has an inverse


class FamilyFit:
    """The distribution whose statistics have the noisy means, and how far off its parameters may be."""

    def __init__(self, sums: StatisticSums) -> None:
        self.sums, self.family = sums, sums.family
        # Of a distribution that may be moved, parameters are in units of the bounds inside.
        self._moved = self.family.degree > 1
        self._offsets = np.zeros(1) if self._moved else sums.offsets
        self._widths = np.ones(1) if self._moved else sums.widths

    @cached_property
    def lost(self) -> bool:
        """Whether the noise put the means where no distribution has them, so that they were moved by its size."""
        gap, floor = self._gap(self._noisy_means)
        return gap < floor

    @property
    def point(self) -> Floats:
        """The parameters."""
        return self.present(self._point)

    def present(self, points: Floats) -> Floats:
        """Parameters in the units of the column."""
        return self.family.shift(points, float(self.sums.offsets[0]), float(self.sums.widths[0]))

    @cached_property
    def covariance(self) -> Floats:
        """Of the parameters: sampling and noise."""
        slopes = self._slopes
        return np.asarray(slopes @ self._errors(self._point) @ slopes.T) / max(self.sums.rows, 1.0) ** 2

    @property
    def standard_errors(self) -> Floats:
        """In the units of the column."""
        return np.sqrt(np.diagonal(self.covariance)) * (self.sums.widths[0] if self._moved else 1.0)

    @property
    def efficiency(self) -> Floats:
        """The variance of the estimate from exact sums, as a part of that of this one."""
        sampling = np.diagonal(self.family.variance(self._point)) / max(self.sums.rows, 1.0)
        return np.clip(sampling / np.maximum(np.diagonal(self.covariance), np.finfo(np.float64).tiny), 0.0, 1.0)

    def interval(self, confidence: float, cells: int) -> Bounds:
        """Of each parameter."""
        alpha = find_alpha(confidence, cells)
        ends = [self._ends(term, alpha) for term in range(len(self._point))]
        lower, upper = (self.present(np.array(each)) for each in zip(*ends, strict=True))
        return np.minimum(lower, self.point), np.maximum(upper, self.point)

    @property
    def _noisy_means(self) -> Floats:
        return self._offsets + self._widths * self.sums.means

    def _gap(self, means: Floats) -> tuple[float, float]:
        """What must be above zero, and the least that can be told from zero."""
        found = self.family.gap(means)
        if found is None:
            return 1.0, 0.0
        gap, slopes = found
        scaled = slopes * self._widths
        noise = scaled @ self.sums.noise_about(self.sums.means) @ scaled / max(self.sums.rows, 1.0) ** 2
        return float(gap), float(np.sqrt(noise))

    @cached_property
    def _point(self) -> Floats:
        means = self._noisy_means.copy()
        (gap, floor), found = self._gap(means), self.family.gap(means)
        if found is not None:
            means[-1] += max(floor - gap, 0.0) / found[1][-1]
        return self.family.estimate(means)

    @property
    def _slopes(self) -> Floats:
        """The derivatives of the parameters by the means between 0 and 1."""
        return np.asarray(self.family.slopes(self._point) * self._widths)

    def _scaled_means(self, points: Floats) -> Floats:
        return np.asarray((self.family.means(points) - self._offsets) / self._widths)

    def _errors(self, points: Floats) -> Floats:
        """The covariance of the sums of statistics less their means under some distributions."""
        sampling = self.family.covariance(points) / (self._widths[:, None] * self._widths)
        errors = self.sums.noise_about(self._scaled_means(points)) + max(self.sums.rows, 1.0) * sampling
        trace = np.trace(errors, axis1=-2, axis2=-1)[..., None, None]
        return np.asarray(errors + _REGULAR * trace * np.eye(errors.shape[-1]))

    def _distance(self, points: Floats) -> tuple[Floats, Floats]:
        """Q of some distributions, and the direction of the sums in which they are that far off."""
        off = self.sums.about(self._scaled_means(points)) @ self.sums.entries
        with np.errstate(all="ignore"):
            way = np.nan_to_num(_solve(self._errors(points), off), nan=0.0, posinf=0.0, neginf=0.0)
        return (off * way).sum(axis=-1), way

    def _excess(self, term: int, values: Floats, alpha: float) -> Floats:
        """How much further than a quantile the sums are from the best distribution with each value of a parameter."""
        points = self._favour(term, values)
        distance, way = self._distance(points)
        along = (way[..., None, :] @ self.sums.about(self._scaled_means(points)))[..., 0, :]
        with np.errstate(all="ignore"):
            fourth = np.nan_to_num(self.sums.fourth * (along**4).sum(axis=-1), posinf=np.finfo(np.float64).max)
            reach = deviations(distance, fourth, alpha)
            return np.asarray(distance - self._distance(self._point)[0] - reach**2)

    def _favour(self, term: int, values: Floats) -> Floats:
        """The distribution that is nearest to the sums, of those with each value of a parameter."""
        if len(self._point) == 1:
            return values[..., None]
        lower, upper = (np.full(values.shape, each) for each in self._free_range(term))
        best = lower
        for _ in range(_ZOOMS):
            steps = np.linspace(0.0, 1.0, _POINTS)
            free = lower[..., None] + (upper - lower)[..., None] * steps
            held = self.family.complete(term, np.broadcast_to(values[..., None], free.shape), self._unfold(term, free))
            place = self._distance(held)[0].argmin(axis=-1)
            best, step = np.take_along_axis(free, place[..., None], -1)[..., 0], (upper - lower) / (_POINTS - 1)
            lower, upper = np.maximum(best - step, lower), np.minimum(best + step, upper)
        return self.family.complete(term, values, self._unfold(term, best))

    def _free_range(self, term: int) -> tuple[float, float]:
        """Where the nuisance parameter is looked for: a logarithm, but for a mean that may be moved."""
        if self._moved:
            return (0.0, 1.0) if term else (np.log(_LEAST_SPREAD), np.log(0.5))
        top = float(self._offsets[0] + self._widths[0])
        return float(np.log(max(self._offsets[0], _LEAST_MEAN * top))), float(np.log(top))

    def _unfold(self, term: int, free: Floats) -> Floats:
        return free if self._moved and term else np.exp(free)

    def _limits(self, term: int) -> tuple[float, float]:
        """Between which values of a parameter are looked for: those that numbers within the bounds can have."""
        if self._moved:
            return (_LEAST_SPREAD, 0.5) if term else (0.0, 1.0)
        if len(self._point) == 1:
            tail = _LEAST_MEAN * self._widths if self.family.gap(self._widths) else 0.0 * self._widths
            ends = self.family.estimate(np.stack([np.maximum(self._offsets, tail), self._offsets + self._widths]))
            return float(ends.min()), float(ends.max())
        shapes = self.family.ranges[0]
        top = float(self._offsets[0] + self._widths[0])
        return shapes if term == 0 else (_LEAST_MEAN * top / shapes[1], top / shapes[0])

    def _ends(self, term: int, alpha: float) -> tuple[float, float]:
        """Where the excess first changes its sign on both sides of the estimate."""
        fold, unfold = _BY_LOGARITHM if self._is_unbounded(term) else _BY_ITSELF
        limits = fold(np.array(self._limits(term)))
        inside, outside = np.full(2, np.clip(fold(self._point[term]), *limits)), limits
        for _ in range(_ROUNDS):
            tried = inside[:, None] + (outside - inside)[:, None] * np.linspace(0.0, 1.0, _CUTS + 1)
            beyond = self._excess(term, unfold(tried[:, 1:]), alpha) > 0
            first = np.where(beyond.any(axis=-1), beyond.argmax(axis=-1), _CUTS - 1)[:, None]
            inside, outside = (np.take_along_axis(tried, first + step, -1)[:, 0] for step in (0, 1))
        lower, upper = unfold(outside).tolist()
        return lower, np.inf if self._has_tail and np.isclose(outside[1], limits[1]) else upper

    @property
    def _has_tail(self) -> bool:
        """Whether bounds of the values are no upper limit to the parameters."""
        return not self._moved and self.family.gap(self._widths) is not None

    def _is_unbounded(self, term: int) -> bool:
        """Whether a parameter has no natural size, so that it is looked for by its logarithm."""
        return self.family.ranges[term][1] > 1.0 and not (self._moved and term == 0)


_BY_ITSELF: tuple[_Scale, _Scale] = (np.asarray, np.asarray)
_BY_LOGARITHM: tuple[_Scale, _Scale] = (np.log, np.exp)


def _solve(matrices: Floats, values: Floats) -> Floats:
    """The inverse of matrices of one row or of two, times vectors."""
    if values.shape[-1] == 1:
        return np.asarray(values / matrices[..., 0])
    a, b, c, d = (matrices[..., j, k] for j in (0, 1) for k in (0, 1))
    first, second = values[..., 0], values[..., 1]
    return np.stack([d * first - b * second, a * second - c * first], axis=-1) / (a * d - b * c)[..., None]
