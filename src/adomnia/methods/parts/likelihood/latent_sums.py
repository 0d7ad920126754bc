"""Sums over all exact values that noisy sums may stand for, each with its probability.

For every number of rows that is possible the exact sums are looked for in boxes, which are made smaller, or moved,
until they hold all that has weight. Where few integers are possible all of them are there, otherwise some at even
distances: what is added up is smooth between them, and kinks of the noise change all cases alike.
Cite: Bernstein & Sheldon 2018 (inference that sums over the exact statistics).
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import TypeAlias

import numpy as np

from adomnia.mechanisms.contract import Noise
from adomnia.statistics.contract import Floats

LogWeight: TypeAlias = Callable[..., Floats]  # (rows, *sums) -> logarithms, -inf where there is nothing

_PASSES = 10
_FARTHER = 4.0  # times the size of a box that has weight at its edge
_DEPTH = 25.0  # of a logarithm: what is less probable than its exponential is left out
_ROWS = (25, 25, 97)  # how many numbers of rows are tried in each pass
_COARSE, _FINE = {1: 33, 2: 13}, {1: 257, 2: 41}  # points along each axis of a box, by the number of axes


@dataclass(frozen=True)
class Boxes:
    """For each number of rows a box of exact sums, within limits that nothing goes beyond."""

    rows: Floats
    lower: Floats  # (rows, axes)
    upper: Floats
    limits: tuple[Floats, Floats]
    lattice: bool  # whether sums are whole numbers

    def place(self, points: int) -> tuple[Floats, Floats]:
        """Points at even distances along each axis, and the distances."""
        steps = (self.upper - self.lower) / (points - 1)
        if self.lattice:
            steps = np.maximum(np.ceil(steps), 1.0)
        return self.lower[..., None] + steps[..., None] * np.arange(points), steps

    def resize(self, axes: Floats, kept: tuple[Floats, Floats]) -> "Boxes":
        """The boxes between the first and the last point with weight; much farther where that is the outermost."""
        first, last = kept
        span = self.upper - self.lower
        low, high = (_pick(axes, each) for each in (first - 1, last + 1))
        low = np.where(first == 0, low - _FARTHER * span, low)
        high = np.where(last == axes.shape[-1] - 1, high + _FARTHER * span, high)
        return Boxes(
            self.rows, np.maximum(low, self.limits[0]), np.minimum(high, self.limits[1]), self.limits, self.lattice
        )


def _pick(axes: Floats, places: Floats) -> Floats:
    """The points at some places along each axis."""
    inside = np.clip(places, 0, axes.shape[-1] - 1).astype(np.int64)
    return np.take_along_axis(axes, inside[..., None], -1)[..., 0]


@dataclass(frozen=True)
class LatentSums:
    """Cases of what the exact numbers may be, and how probable each is."""

    rows: Floats
    sums: tuple[Floats, ...]
    weights: Floats


def add_up(log_weight: LogWeight, rows: tuple[float, float], boxes: Callable[[Floats], Boxes]) -> LatentSums:
    """All cases with weight, of whole numbers of rows between two ends."""
    (low, high), last = rows, len(_ROWS) - 1
    for turn, most in enumerate(_ROWS):
        step = max(1.0, np.ceil((high - low) / (most - 1)))
        tried = np.arange(low, high + step, step)
        found, logs = _search(log_weight, boxes(tried), fine=turn == last)
        peaks = _log_sum(logs)
        kept = np.flatnonzero(peaks > peaks.max() - _DEPTH)
        low, high = max(low, tried[kept[0]] - step), min(tried[kept[-1]] + step, max(high, low))
    return _list_cases(tried, found, logs)


def _search(log_weight: LogWeight, boxes: Boxes, *, fine: bool) -> tuple[tuple[Floats, ...], Floats]:
    """Points in boxes that hold all that has weight, and the logarithms of their weights."""
    count = boxes.lower.shape[-1]
    for _ in range(_PASSES):
        axes, _steps = boxes.place(_COARSE[count])
        _, logs = _weigh(log_weight, boxes, axes)
        new = boxes.resize(axes, _find_kept(logs, count))
        settled = np.allclose(new.lower, boxes.lower) and np.allclose(new.upper, boxes.upper)
        boxes = new
        if settled:
            break
    axes, steps = boxes.place(_FINE[count] if fine else _COARSE[count])
    points, logs = _weigh(log_weight, boxes, axes)
    volume = np.log(np.maximum(steps, 1e-300)).sum(axis=-1).reshape(-1, *[1] * count)
    return points, logs + volume


def _weigh(log_weight: LogWeight, boxes: Boxes, axes: Floats) -> tuple[tuple[Floats, ...], Floats]:
    count = axes.shape[1]
    rows = boxes.rows.reshape(-1, *[1] * count)
    shapes = [tuple(-1 if k == axis else 1 for k in range(count)) for axis in range(count)]
    points = tuple(axes[:, axis].reshape(len(axes), *shapes[axis]) for axis in range(count))
    inside = np.ones_like(rows, dtype=bool)
    for point, low, high in zip(points, boxes.limits[0].T, boxes.limits[1].T, strict=True):
        inside = inside & (point >= low.reshape(rows.shape)) & (point <= high.reshape(rows.shape))
    with np.errstate(all="ignore"):
        logs = np.where(inside, log_weight(rows, *points), -np.inf)
    return tuple(np.broadcast_to(point, logs.shape) for point in points), np.nan_to_num(logs, nan=-np.inf)


def _find_kept(logs: Floats, count: int) -> tuple[Floats, Floats]:
    """Along each axis, the first and the last place with weight."""
    every = tuple(range(1, count + 1))
    kept = logs > logs.max(axis=every, keepdims=True) - _DEPTH
    first, last = [], []
    for axis in every:
        there = kept.any(axis=tuple(each for each in every if each != axis))
        first.append(there.argmax(axis=-1))
        last.append(there.shape[-1] - 1 - there[:, ::-1].argmax(axis=-1))
    return np.stack(first, axis=-1), np.stack(last, axis=-1)


def _log_sum(logs: Floats) -> Floats:
    """For each number of rows, the logarithm of the sum of its weights."""
    flat = logs.reshape(len(logs), -1)
    with np.errstate(all="ignore"):
        return np.asarray(np.logaddexp.reduce(flat, axis=-1))


def _list_cases(tried: Floats, points: tuple[Floats, ...], logs: Floats) -> LatentSums:
    kept = logs > logs.max() - _DEPTH
    weights = np.exp(logs[kept] - logs.max())
    rows = np.broadcast_to(tried.reshape(-1, *[1] * len(points)), logs.shape)[kept]
    return LatentSums(rows, tuple(point[kept] for point in points), weights / weights.sum())


def find_reach(noise: Noise) -> float:
    """How far noise goes that is still counted."""
    tails, scale, _ = noise.continuous
    return scale * (_DEPTH if tails == "laplace" else sqrt(2 * _DEPTH))
