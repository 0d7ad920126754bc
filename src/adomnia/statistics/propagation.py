"""How far noise carries what is computed from noisy sums: docs/proofs/formulas.md.

The sums T are exact, t = T + noise are seen, and f(T) is asked for. If f were linear with slopes w, then f(t) - f(T)
would be w times noise, of which the distribution is known. It is not, so the slopes are taken where an interval ends:
at the point nearest to t, in units of the noise, of those where f has the value of that end. For a ratio these are the
ends of Fieller's interval, and for a rising function of a ratio that function of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adomnia.distributions.combinations import farthest
from adomnia.statistics.contract import Bounds, Floats, Measured

_ROUNDS = 2  # of the search for an end
_STEP = 1 / 16  # of a standard deviation: so far on either side of a point its slopes are taken
_CLEAR = 1.5  # what is so many times as large as its noise gets keeps its sign
_SIGNS = np.array([[-1.0], [1.0]])  # of the directions of the lower and of the upper end
_TOGETHER = 4096  # cells at once: what is computed of them stays near the processor


class Computed(NamedTuple):
    """The numbers; tuples of others, of which one each has to keep its sign; and the terms that have limits."""

    values: Floats
    needed: Sequence[tuple[Floats, ...]] = ()
    terms: Sequence[Floats] = ()


@dataclass(frozen=True)
class Propagation:
    """A function of noisy sums, cell by cell, and of how far some of its terms may have been rounded.

    `compute` is given values for the sums and the roundings, all of one shape, and for terms that are fixed, by their
    places. Where what is needed keeps its sign, it is smooth and nearly linear.
    """

    sums: Sequence[Measured]
    roundings: Sequence[Floats]
    compute: Callable[[Sequence[Floats], Mapping[int, Floats]], Computed]
    limits: Sequence[tuple[float, float]] = ()  # of the terms

    def bounds(self, alpha: float) -> tuple[Bounds, NDArray[np.bool_]]:
        """Bounds that leave so much open in each cell, and where they mean something."""
        seen = [np.asarray(measured.values, dtype=np.float64) for measured in self.sums]
        arrays = np.broadcast_arrays(*seen, *self.roundings)
        shape, cells = arrays[0].shape, np.stack([each.ravel() for each in arrays])
        found = np.empty((3, cells.shape[1]))
        for start in range(0, cells.shape[1], _TOGETHER):
            some = slice(start, start + _TOGETHER)
            found[:, some] = _Cells(self, cells[:, some], alpha).bounds()
        lower, upper, clear = (each.reshape(shape) for each in found)
        return (lower, upper), clear > 0

    @cached_property
    def deviations(self) -> Floats:
        """Of the noise of each sum."""
        return np.array([measured.noise.continuous.deviation for measured in self.sums])


class _Cells:
    """Some of the cells. Points are arrays: sums and roundings first, then whatever is tried at once, cells last."""

    def __init__(self, function: Propagation, cells: Floats, alpha: float) -> None:
        self._function, self._alpha = function, alpha
        self._noises = [measured.noise for measured in function.sums]
        self._deviations = function.deviations[:, None, None]
        seen, self._rounded = cells[: len(self._noises)], cells[len(self._noises) :]
        self._centre = np.concatenate([seen, np.zeros_like(self._rounded)])[:, None]
        steps = np.broadcast_to(_STEP * function.deviations[:, None], seen.shape)
        self._steps = np.concatenate([steps, np.where(self._rounded > 0, self._rounded, 1.0)])[:, None]

    def bounds(self) -> Floats:
        """The lower and the upper ends, and 1 where they mean something."""
        around = self._around(self._centre, {})
        reached, along, terms = self._search(around, {})
        clear = (along > 0).all(axis=0) & self._keep_signs(around.needed) & np.isfinite(reached).all(axis=0)
        for place, limit, alone in self._cut_alone(terms):
            fixed = {place: limit}
            nearer, along, _ = self._search(self._around(np.repeat(self._centre, 2, axis=1), fixed), fixed)
            # Slopes of zero: nothing else is left that noise could move.
            reached = np.where(alone & (along >= 0), np.minimum(reached, nearer), reached)
        return np.concatenate([_SIGNS * reached, clear[None]])

    def _search(self, around: Computed, fixed: Mapping[int, Floats]) -> tuple[Floats, Floats, Sequence[Floats]]:
        """How far both ends are in their directions, how far slopes keep leading there, and the terms there."""
        slopes = self._slopes(around.values)
        points = self._centre + _SIGNS * self._farthest_moves(slopes)
        found = self._compute(points, fixed)
        reached, along = _SIGNS * found.values, np.full(np.shape(found.values), np.inf)
        for _ in range(_ROUNDS):
            there = self._slopes(self._around(points, fixed).values)
            # Where slopes turn round on the way to an end, the function has passed its extreme.
            along = np.minimum(along, (self._weigh(slopes) * self._weigh(there)).sum(axis=0))
            points = self._centre + _SIGNS * self._farthest_moves(there)
            found = self._compute(points, fixed)
            reached = np.maximum(reached, _SIGNS * found.values)
        return reached, along, found.terms

    def _cut_alone(self, terms: Sequence[Floats]) -> Iterator[tuple[int, Floats, NDArray[np.bool_]]]:
        """The terms that are beyond a limit at an end, the limit, and where no other term is."""
        cut = [np.clip(term, *limits) for term, limits in zip(terms, self._function.limits, strict=True)]
        beyond = [term != inside for term, inside in zip(terms, cut, strict=True)]
        alone = np.sum(beyond, axis=0) == 1
        for place, (limit, found) in enumerate(zip(cut, beyond, strict=True)):
            if (found & alone).any():
                yield place, limit, found & alone

    def _compute(self, points: Floats, fixed: Mapping[int, Floats]) -> Computed:
        return self._function.compute(list(points), fixed)

    def _around(self, points: Floats, fixed: Mapping[int, Floats]) -> Computed:
        """What is computed a step above each point, in every direction, and a step below."""
        ahead = np.eye(len(points))
        turns = np.concatenate([ahead, -ahead], axis=1)[:, :, None, None]
        return self._compute(points[:, None] + turns * self._steps[:, None], fixed)

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
        weighed, reach = self._weigh(slopes), farthest(self._noises, list(of_sums), self._alpha)
        size = (weighed * self._deviations * of_sums).sum(axis=0)
        moves = weighed * self._deviations * (reach / np.where(size > 0, size, 1.0))
        return np.concatenate([moves, np.sign(slopes[len(self._noises) :]) * self._rounded[:, None]])

    def _keep_signs(self, needed: Sequence[tuple[Floats, ...]]) -> NDArray[np.bool_]:
        """Whether of each tuple one number keeps its sign as far as noise may move it, and somewhat farther."""
        kept = np.ones(self._centre.shape[-1], dtype=np.bool_)
        centred = self._compute(self._centre, {}).needed
        for place, around in enumerate(needed):
            one = np.zeros_like(kept)
            for choice, each in enumerate(around):
                sign = np.sign(centred[place][choice])
                points = self._centre - sign * _CLEAR * self._farthest_moves(self._slopes(each))
                one |= (self._compute(points, {}).needed[place][choice] * sign > 0)[0]
            kept &= one
        return kept
