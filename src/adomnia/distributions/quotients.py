"""Intervals for quotients of what is computed from noisy sums, by Fieller's argument: docs/proofs/moments.md.

If F = numerator - r * denominator is zero for the exact sums, then for the noisy ones it is noise, close to a linear
function of theirs, and the r for which that noise is not too large hold the true one with the confidence asked for.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from adomnia.distributions.combinations import farthest
from adomnia.distributions.fieller import fieller
from adomnia.distributions.ratios import hold_within
from adomnia.mechanisms.contract import Bounds, Floats, Noise, find_alpha

_AT_ONCE = 1024  # cells: one megabyte of numbers
_ROUNDS = 3  # of the search for an end of the interval
USUAL = 0.05 - 1e-9  # what 95% leaves open, whatever the last bit
_BENT = (0.15, 0.75)  # times how large noise can be beside what is needed, usually and where more than 95% is asked for


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
        alpha = find_alpha(confidence, cells)

        def solve(numerator: Noisy, denominator: Noisy, *needed: Noisy) -> Bounds:
            lost = find_lost(needed, self.noises, alpha)
            return replace(self, numerator=numerator, denominator=denominator).bounds_where(lost, alpha)

        return solve_in_blocks(solve, (self.numerator, self.denominator, *self.needed))

    def bounds_where(self, lost: Floats, alpha: float) -> Bounds:
        """The same all at once, where it is known how large the noise of what is needed can be beside it."""
        ends = self._ends(widen(lost, alpha), alpha)
        lower, upper = np.where(lost < 1, ends, np.reshape(self.limits, (2,) + (1,) * (ends.ndim - 1)))
        return hold_within(lower, upper, self.values, self.limits, upper - lower)

    def _ends(self, wider: Floats, alpha: float) -> Floats:
        """Where the difference to the numerator is as far as noise goes: by its spread, then by its distribution."""
        signs = np.reshape([-1.0, 1.0], (2,) + (1,) * self.values.ndim)
        ends = self.values * np.ones_like(signs)
        for _ in range(_ROUNDS):
            off = combine((self.numerator, np.ones_like(ends)), (self.denominator, -ends))
            spread, reach = self._spread_and_reach(off, ends, alpha)
            reach = wider * reach
            times = np.where(spread > 0, reach / np.where(spread > 0, spread, 1.0), 0.0)
            roots = self._roots(signs, self.numerator.values + signs * off.rounded, times)
            ends = np.clip(roots, *self.limits)
        return roots

    def _spread_and_reach(self, off: Noisy, _quotients: Floats, alpha: float) -> tuple[Floats, Floats]:
        """The deviation of what is not zero by noise alone, and how far it goes."""
        return np.sqrt(covary(off, off, self.noises)), margin_of_noise(off, self.noises, alpha)

    def _roots(self, signs: Floats, above: Floats, times: Floats) -> Floats:
        """The quotients r with |above - r below| = times * spread."""
        lower, upper = fieller(above, self.denominator.values, self._covariances, times)
        return np.where(signs < 0, lower, upper)

    @cached_property
    def _covariances(self) -> tuple[Floats, Floats, Floats]:
        return self._covary_sides()

    def _covary_sides(self) -> tuple[Floats, Floats, Floats]:
        """The variance above, the covariance of both sides, and the variance below."""
        above, below, noises = self.numerator, self.denominator, self.noises
        return covary(above, above, noises), covary(above, below, noises), covary(below, below, noises)


def solve_in_blocks(solve: Callable[..., Bounds], parts: Sequence[Noisy]) -> Bounds:
    """The bounds of all cells, so many at a time: what is computed on the way is no larger in a larger answer."""
    shape = parts[0].values.shape
    lower, upper = np.empty(shape), np.empty(shape)
    for start in range(0, lower.size, _AT_ONCE):
        block = slice(start, start + _AT_ONCE)
        lower.reshape(-1)[block], upper.reshape(-1)[block] = solve(*(_take(part, block) for part in parts))
    return lower, upper


def _take(noisy: Noisy, block: slice) -> Noisy:
    """The same of some cells, in their order."""

    def take(numbers: Floats) -> Floats:
        return np.broadcast_to(numbers, noisy.values.shape).reshape(-1)[block]

    weights = {name: take(weight) for name, weight in noisy.weights.items()}
    return Noisy(take(noisy.values), weights, take(noisy.rounded))


def find_lost(needed: Sequence[Noisy], noises: Mapping[str, Noise], alpha: float) -> Floats:
    """How large the noise of what is needed can be beside it, at least 95 times of 100: 1 where it may be all noise."""
    values, reaches = np.stack([each.values for each in needed]), margins_of_each(needed, noises, min(alpha, USUAL))
    seen = values > reaches
    return np.asarray(np.where(seen, reaches / np.where(seen, values, 1.0), 1.0).max(axis=0))


def widen(lost: Floats, alpha: float) -> Floats:
    """How much farther noise may reach for being off a line; what is surer than usual looks where it is farther off."""
    return 1 + _BENT[alpha < USUAL] * lost


def margin_of_noise(noisy: Noisy, noises: Mapping[str, Noise], alpha: float) -> Floats:
    """How far the noise of a sum goes."""
    names = list(noisy.weights)
    return farthest([noises[name] for name in names], [noisy.weights[name] for name in names], alpha)


def margins_of_each(sums: Sequence[Noisy], noises: Mapping[str, Noise], alpha: float) -> Floats:
    """How far the noise of each of some sums goes; at once, where they have the same noises."""
    first, *others = sums
    if any(each.weights.keys() != first.weights.keys() for each in others):
        return np.stack([margin_of_noise(each, noises, alpha) for each in sums])
    stacked = {name: np.stack([each.weights[name] for each in sums]) for name in first.weights}
    return farthest([noises[name] for name in stacked], list(stacked.values()), alpha)


def covary(one: Noisy, two: Noisy, noises: Mapping[str, Noise]) -> Floats:
    """The covariance of the noises of two sums."""
    found = np.zeros_like(one.values)
    for name, weight in one.weights.items():
        if name in two.weights:
            found = found + weight * two.weights[name] * noises[name].continuous.cumulants.variance
    return np.asarray(found)
