"""Strategies of single bins and a few weighted sums of bins, fitted to a workload.

Stored measurements are read by the strategy that they were made with, so that it must be the same for ever and on every
machine. Therefore nothing here goes through a library of linear algebra: there are elementwise operations of doubles,
which are rounded alike everywhere, and sums in a fixed order.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, isqrt, sqrt
from typing import Literal, TypeAlias

import numpy as np

from adomnia.methods.synthesis.line_workloads import LineWorkload
from adomnia.noise.afterwards import follow
from adomnia.statistics.contract import Floats

Norm: TypeAlias = Literal[1, 2]  # which length of a column is 1: that of Laplace noise, or of Gaussian

_RESTARTS = {1: 3, 2: 1}  # by norm: of Gaussian noise all starts end alike
_ROUNDS = 300
_REMEMBERED = 8  # steps, from which the curvature is known
_HALVINGS = 30
_HEAVIEST = 1_000.0  # a sum weighs at most so much more than a bin itself: beyond that doubles cancel
_ENOUGH = 1e-5  # of the error: a round that gains less is the last


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
