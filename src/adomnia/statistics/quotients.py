"""Intervals for quotients of what is computed from noisy sums, by Fieller's argument: docs/proofs/moments.md.

If F = numerator - r * denominator is zero for the exact sums, then for the noisy ones it is noise, close to a linear
function of theirs, and the r for which that noise is not too large hold the true one with the confidence asked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from adomnia.mechanisms.contract import Noise
from adomnia.statistics.combinations import farthest
from adomnia.statistics.contract import Bounds, Floats
from adomnia.statistics.ratios import left_open_by

_ROUNDS = 5  # of the search for an end of the interval, from inside
_USUAL = 0.05 - 1e-9  # what 95% leaves open, whatever the last bit
_CLEAR = 2.0  # what is so many times as large as its noise usually gets can be divided by
_BENT = 0.75  # times how large noise can be beside what is needed: so far may the noise of a quotient be off a line


@dataclass(frozen=True)
class Noisy:
    """Sums in every cell, how much of each measurement's noise is in them, and how far rounding may have moved them."""

    values: Floats
    weights: Mapping[str, Floats]
    rounded: Floats


def combine(*parts: tuple[Noisy, Floats]) -> Noisy:
    """Noisy sums, each times a factor, added up."""
    weights: dict[str, Floats] = {}
    for part, factor in parts:
        for name, weight in part.weights.items():
            weights[name] = weights.get(name, np.asarray(0.0)) + weight * factor
    values = np.asarray(sum(part.values * factor for part, factor in parts))
    return Noisy(values, weights, np.asarray(sum(part.rounded * np.abs(factor) for part, factor in parts)))


@dataclass(frozen=True)
class Quotient:
    """A numerator over a denominator, known to be within `limits`.

    Where one of `needed` is lost in noise nothing else is known of it.
    """

    numerator: Noisy
    denominator: Noisy
    needed: Sequence[Noisy]
    limits: tuple[float, float]
    noises: Mapping[str, Noise]

    @property
    def values(self) -> Floats:
        """The quotient, within its limits whatever the noise."""
        positive = self.denominator.values > 0
        quotient = self.numerator.values / np.where(positive, self.denominator.values, 1.0)
        return np.clip(np.where(positive, quotient, 0.0), *self.limits)

    def bounds(self, confidence: float, cells: int) -> Bounds:
        """The least and the greatest quotient in each cell that explains what was seen."""
        left_open = left_open_by(confidence, cells)
        lost = self._lost(min(left_open, _USUAL))
        clear = lost * _CLEAR < 1
        # At the usual confidence what noise is off a line evens out. What is surer looks farther, and allows for it.
        wider = 1 + _BENT * lost * (left_open < _USUAL)
        denominator = np.where(clear, self.denominator.values, 1.0)
        lower, upper = (
            np.where(clear, self._end(sign * wider, denominator, left_open), self.limits[sign > 0]) for sign in (-1, 1)
        )
        values = self.values
        return np.minimum(lower, values), np.maximum(upper, values)

    def _end(self, times: Floats, denominator: Floats, left_open: float) -> Floats:
        end = self.values
        for _ in range(_ROUNDS):
            off = combine((self.numerator, np.asarray(1.0)), (self.denominator, -end))
            reach = self._reach(off, left_open) + off.rounded
            end = np.clip((self.numerator.values + times * reach) / denominator, *self.limits)
        return end

    def _lost(self, left_open: float) -> Floats:
        """How large the noise of what is needed can be beside it: 1 where it may be all noise."""
        lost = np.zeros_like(self.denominator.values)
        for each in self.needed:
            reach = self._reach(each, left_open)
            seen = each.values > reach
            lost = np.maximum(lost, np.where(seen, reach / np.where(seen, each.values, 1.0), 1.0))
        return lost

    def _reach(self, noisy: Noisy, left_open: float) -> Floats:
        names = list(noisy.weights)
        return farthest([self.noises[name] for name in names], [noisy.weights[name] for name in names], left_open)
