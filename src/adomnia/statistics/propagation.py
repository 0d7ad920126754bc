"""How far noise carries what is computed from noisy sums: docs/proofs/formulas.md.

The sums T are exact, t = T + noise are seen, and f(T) is asked for. If f were linear with slopes w, then f(t) - f(T)
would be w times noise, of which the law is known. It is not, so the slopes are taken where an interval ends: at the
point nearest to t, in units of the noise, of those where f has the value of that end. For a ratio these are the ends of
Fieller's interval, and for a rising function of a ratio that function of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from adomnia.statistics.combinations import deviation_of, farthest
from adomnia.statistics.contract import Bounds, Floats, Measured

Computed: TypeAlias = tuple[Floats, list[tuple[Floats, ...]]]

_ROUNDS = 2  # of the search for an end
_STEP = 1 / 16  # of a standard deviation: so far on either side of a point its slopes are taken
_CLEAR = 1.5  # what is so many times as large as its noise gets keeps its sign
_TOGETHER = 4096  # cells at once: what is computed of them stays near the processor


@dataclass(frozen=True)
class Propagation:
    """A function of noisy sums, cell by cell, and of how far some of its terms may have been rounded.

    `compute` is given values for the sums and the roundings, all of one shape. It returns the numbers, and tuples of
    others: where one of each tuple keeps its sign, the function is smooth and nearly linear.
    """

    sums: Sequence[Measured]
    roundings: Sequence[Floats]
    compute: Callable[[Sequence[Floats]], Computed]

    def bounds(self, left_open: float) -> tuple[Bounds, NDArray[np.bool_]]:
        """Bounds that leave so much open in each cell, and where they mean something."""
        seen = [np.asarray(measured.values, dtype=np.float64) for measured in self.sums]
        arrays = np.broadcast_arrays(*seen, *self.roundings)
        shape, cells = arrays[0].shape, np.stack([each.ravel() for each in arrays])
        found = np.empty((3, cells.shape[1]))
        for start in range(0, cells.shape[1], _TOGETHER):
            some = slice(start, start + _TOGETHER)
            found[:, some] = _Cells(self, cells[:, some], left_open).bounds()
        lower, upper, clear = (each.reshape(shape) for each in found)
        return (lower, upper), clear > 0

    @cached_property
    def deviations(self) -> Floats:
        """Of the noise of each sum."""
        return np.array([deviation_of(measured.noise) for measured in self.sums])


class _Cells:
    """Some of the cells. Points are arrays: sums and roundings first, then whatever is tried at once, cells last."""

    def __init__(self, function: Propagation, cells: Floats, left_open: float) -> None:
        self._compute, self._left_open = function.compute, left_open
        self._noises = [measured.noise for measured in function.sums]
        self._deviations = function.deviations[:, None, None]
        seen, self._rounded = cells[: len(self._noises)], cells[len(self._noises) :]
        self._centre = np.concatenate([seen, np.zeros_like(self._rounded)])[:, None]
        steps = np.broadcast_to(_STEP * function.deviations[:, None], seen.shape)
        self._steps = np.concatenate([steps, np.where(self._rounded > 0, self._rounded, 1.0)])[:, None]

    def bounds(self) -> Floats:
        """The lower and the upper ends, and 1 where they mean something."""
        values, needed = self._around(self._centre)
        slopes, signs = self._slopes(values), np.array([[-1.0], [1.0]])
        clear, points = self._keep_signs(needed), self._centre + signs * self._farthest_moves(slopes)
        found = signs * self._compute(list(points))[0]
        for _ in range(_ROUNDS):
            there = self._slopes(self._around(points)[0])
            # Where slopes turn round on the way to an end, the function has passed its extreme.
            clear &= ((self._weigh(slopes) * self._weigh(there)).sum(axis=0) > 0).all(axis=0)
            points = self._centre + signs * self._farthest_moves(there)
            found = np.maximum(found, signs * self._compute(list(points))[0])
        return np.concatenate([signs * found, (clear & np.isfinite(found).all(axis=0))[None]])

    def _around(self, points: Floats) -> Computed:
        """What is computed a step above each point, in every direction, and a step below."""
        ahead = np.eye(len(points))
        turns = np.concatenate([ahead, -ahead], axis=1)[:, :, None, None]
        return self._compute(list(points[:, None] + turns * self._steps[:, None]))

    def _slopes(self, around: Floats) -> Floats:
        above, below = np.split(around, 2)
        return np.asarray((above - below) / (2 * self._steps))

    def _weigh(self, slopes: Floats) -> Floats:
        """Slopes in units of the noise of each sum, and of the largest of them: no square is then too large."""
        weighed = slopes[: len(self._noises)] * self._deviations
        largest = np.abs(weighed).max(axis=0)
        return np.asarray(weighed / np.where(largest > 0, largest, 1.0))

    def _farthest_moves(self, slopes: Floats) -> Floats:
        """From a point along the slopes, as far as the noise of the linear function that has them may be."""
        of_sums = slopes[: len(self._noises)]
        weighed, reach = self._weigh(slopes), farthest(self._noises, list(of_sums), self._left_open)
        size = (weighed * self._deviations * of_sums).sum(axis=0)
        moves = weighed * self._deviations * (reach / np.where(size > 0, size, 1.0))
        return np.concatenate([moves, np.sign(slopes[len(self._noises) :]) * self._rounded[:, None]])

    def _keep_signs(self, needed: list[tuple[Floats, ...]]) -> NDArray[np.bool_]:
        """Whether of each tuple one number keeps its sign as far as noise may move it, and somewhat farther."""
        kept = np.ones(self._centre.shape[-1], dtype=np.bool_)
        _, centred = self._compute(list(self._centre))
        for place, around in enumerate(needed):
            one = np.zeros_like(kept)
            for choice, each in enumerate(around):
                sign = np.sign(centred[place][choice])
                points = self._centre - sign * _CLEAR * self._farthest_moves(self._slopes(each))
                one |= (self._compute(list(points))[1][place][choice] * sign > 0)[0]
            kept &= one
        return kept
