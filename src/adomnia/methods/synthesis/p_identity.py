"""Strategies of single bins and a few weighted sums of bins, fitted to a workload.

Stored measurements are read by the strategy that they were made with, so that it must be the same for ever and on every
machine. Therefore nothing here goes through a library of linear algebra: there are elementwise operations of doubles,
which are rounded alike everywhere, and sums in a fixed order.

Which counts along a line of bins a release should answer well: all of them as one symmetric matrix.

The matrix is never written down: that of all ranges of n bins is the inverse of a second difference, and is applied by
adding up from both ends. Sums are added in one fixed order, so that every machine finds the same strategy.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf, isqrt, sqrt
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from adomnia.noise.afterwards import follow
from adomnia.statistics.contract import Floats

Norm: TypeAlias = Literal[1, 2]  # which length of a column is 1: that of Laplace noise, or of Gaussian

_RESTARTS = {1: 3, 2: 1}  # by norm: of Gaussian noise all starts end alike
_ROUNDS = 300
_REMEMBERED = 8  # steps, from which the curvature is known
_HALVINGS = 30
_HEAVIEST = 1_000.0  # a sum weighs at most so much more than a bin itself: beyond that doubles cancel
_ENOUGH = 1e-5  # of the error: a round that gains less is the last
WorkloadName: TypeAlias = Literal["ranges", "prefixes", "quantiles"]
WORKLOADS: tuple[WorkloadName, ...] = ("ranges", "prefixes", "quantiles")
IN_WORDS = {
    "ranges": "all ranges of bins",
    "prefixes": "all counts from the first bin on",
    "quantiles": "the ranks of all bins",
}


@dataclass(frozen=True)
class LineWorkload:
    """The counts that are wanted of so many bins, W, as V = W'W: the weight of an error in every pair of bins.

    ranges: every run of neighbouring bins. prefixes: those that start at the first. quantiles: of every cut between
    bins, how many rows are below it less a share of all, for shares evenly from 0 to 1.
    """

    tag: ClassVar[str] = "LineWorkload"
    name: WorkloadName
    bins: int

    def apply(self, columns: Floats) -> Floats:
        """V times each of some columns."""
        places = self._places[:, None]
        match self.name:
            case "prefixes":
                return _add_up(_add_up(columns)[::-1])[::-1]
            case "ranges":
                left, right = places + 1, self.bins - places
                above = right * columns
                below = _add_up(left * columns)
                return np.asarray(right * below + left * (_add_up(above[::-1])[::-1] - above))
        sums, moments = _add_up(columns), _add_up(places * columns)
        distances = 2 * (places * sums - moments) + moments[-1] - places * sums[-1]
        return np.asarray(self.bins / 3 * sums[-1] - distances / 2)

    @cached_property
    def diagonal(self) -> Floats:
        """The weight of an error in each bin by itself."""
        places = self._places
        match self.name:
            case "prefixes":
                return np.asarray(self.bins - places)
            case "ranges":
                return np.asarray((places + 1) * (self.bins - places))
        return np.full(self.bins, self.bins / 3)

    @property
    def matrix(self) -> Floats:
        """V itself."""
        return self.apply(np.eye(self.bins))

    @property
    def bound(self) -> float:
        """Below this no strategy of unit L2 columns goes: the sum of the singular values of W, squared, by bins.

        Cite        Li & Miklau 2013.
        """
        roots = np.sqrt(np.maximum(np.linalg.eigvalsh(self.matrix), 0.0))
        return float(roots.sum() ** 2 / self.bins)

    @property
    def _places(self) -> Floats:
        return np.arange(self.bins, dtype=np.float64)


def _add_up(columns: Floats) -> Floats:
    """Sums from the first row on, one after the other."""
    return np.asarray(np.cumsum(columns, axis=0))


def fit_sums(workload: LineWorkload, norm: Norm) -> tuple[float, Floats]:
    """The least error that is found, and the weight of every bin in each of the sums, one row a bin.

    Bins themselves have weight 1; then each bin is divided by the length of all its weights.
    Cite        McKenna, Miklau, Hay & Machanavajjhala 2018 (OPT_0).
    """
    sums = isqrt(workload.bins)
    public = follow([np.array([workload.bins, norm])], f"strategy of {workload.name}")
    fitted = []
    for _ in range(_RESTARTS[norm]):
        start = np.sqrt(public.random((workload.bins, sums)))
        fitted.append(_descend(_Sums(workload, norm), start))
    return min(fitted, key=lambda each: each[0])


@dataclass(frozen=True)
class _Sums:
    """The error of the workload, as a function of the roots of weights, which keeps these above zero."""

    workload: LineWorkload
    norm: Norm

    def judge(self, roots: Floats) -> tuple[float, Floats]:
        """The error at unit noise, and its slope in every root."""
        weights = roots * roots
        if weights.max() > _HEAVIEST:
            return inf, roots
        lengths = measure_lengths(weights, self.norm)
        solved = _solve(weights)
        wanted = self.workload.apply(solved * lengths[:, None])
        left = self.workload.diagonal * lengths - _sum_rows((weights * wanted).T)
        combined = wanted * lengths[:, None]
        slope = -2 * (combined - _times(solved, _pairs(weights, combined)))
        # By the length of the bin: each weight lengthens it by 1, or by its own part of it.
        slope += 2 * left[:, None] * (1.0 if self.norm == 1 else weights / lengths[:, None])
        return float(_sum_rows(lengths * left)), 2 * roots * slope


def measure_lengths(weights: Floats, norm: Norm) -> Floats:
    """How long the column of each bin is, with the 1 of itself."""
    if norm == 1:
        return 1 + _sum_rows(weights.T)
    return np.asarray(np.sqrt(1 + _sum_rows((weights * weights).T)))


def _solve(weights: Floats) -> Floats:
    """B'(I + BB')^-1 where B' are the weights, by elimination without pivots: the matrix is positive definite."""
    size = weights.shape[1]
    lines = np.concatenate([np.eye(size) + _pairs(weights, weights), weights.T], axis=1)
    for place in range(size):
        line = lines[place] / lines[place, place]
        factors = lines[:, place].copy()
        factors[place] = 0.0
        lines[place] = line
        lines -= factors[:, None] * line
    return np.ascontiguousarray(lines[:, size:].T)


def _pairs(first: Floats, second: Floats) -> Floats:
    """The first transposed, times the second."""
    return _sum_rows(first[:, :, None] * second[:, None, :])


def _times(tall: Floats, small: Floats) -> Floats:
    """A product with a small matrix, line by line."""
    found = np.zeros_like(tall)
    for place, line in enumerate(small):
        found += tall[:, place, None] * line
    return found


def _sum_rows(values: Floats) -> Floats:
    """The sum over the first axis, one half of it onto the other: `sum` would add in an order of its own."""
    while len(values) > 1:
        half = len(values) // 2
        folded = values[:half] + values[half : 2 * half]
        values = np.concatenate([folded, values[2 * half :]]) if len(values) % 2 else folded
    return np.asarray(values[0])


def _dot(first: Floats, second: Floats) -> float:
    return float(_sum_rows((first * second).ravel()))


def _descend(error: _Sums, roots: Floats) -> tuple[float, Floats]:
    """Steps downhill, by the curvature that the last of them showed (L-BFGS; Liu & Nocedal 1989)."""
    value, slope = error.judge(roots)
    steps: list[tuple[Floats, Floats, float]] = []
    for _ in range(_ROUNDS):
        direction = _turn(slope, steps)
        for length in _halve(1.0 if steps else 1 / max(1.0, sqrt(_dot(slope, slope)))):
            moved = roots + length * direction
            next_value, next_slope = error.judge(moved)
            if next_value <= value + 1e-4 * length * _dot(slope, direction):
                break
        else:
            break
        step, change = moved - roots, next_slope - slope
        if (curved := _dot(step, change)) > 0:
            steps = [*steps[1 - _REMEMBERED :], (step, change, curved)]
        gained = value - next_value
        roots, value, slope = moved, next_value, next_slope
        if gained <= _ENOUGH * value:
            break
    return value, roots * roots


def _halve(length: float) -> Iterator[float]:
    for _ in range(_HALVINGS):
        yield length
        length /= 2


def _turn(slope: Floats, steps: list[tuple[Floats, Floats, float]]) -> Floats:
    """Minus the slope, times the inverse of the curvature as far as it is known."""
    direction, parts = -slope, []
    for step, change, curved in reversed(steps):
        part = _dot(step, direction) / curved
        direction = direction - part * change
        parts.append(part)
    if steps:
        _, change, curved = steps[-1]
        direction = direction * (curved / _dot(change, change))
    for (step, change, curved), part in zip(steps, reversed(parts), strict=True):
        direction = direction + (part - _dot(change, direction) / curved) * step
    return direction
