"""Noisy integers times constants, added up: the value, and an interval by the distribution of the noise together."""

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, lcm

import numpy as np

from adomnia.distributions.combinations import farthest
from adomnia.distributions.ratios import critical_value
from adomnia.mechanisms.contract import Noise, find_alpha
from adomnia.statistics.contract import Bounds, Estimate, Parts
from adomnia.statistics.one_round import times


def linear(parts: Parts, method: str, constant: Fraction = Fraction(0)) -> Estimate:
    """The estimate that is a sum of noisy integers times constants, not all of them zero, and a constant."""
    parts = tuple(part for part in parts if part[1])
    unit = Fraction(1, lcm(constant.denominator, *(factor.denominator for _, factor in parts)))
    # In Python's integers, because they may be near the end of 64 bits.
    start = np.array(int(constant / unit), dtype=object)
    summed = sum((int(factor / unit) * measured.values.astype(object) for measured, factor in parts), start=start)
    units = np.asarray(summed, dtype=object)

    def interval(confidence: float, cells: int) -> Bounds:
        reach = ceil(margin_of(parts, confidence, cells) / unit)
        return times(units - reach, unit), times(units + reach, unit)

    return Estimate(times(units, unit), interval, method, whole=unit == 1, parts=() if constant else parts)


def margin_of(parts: Parts, confidence: float, cells: int) -> Fraction:
    """How far the noise of all parts goes together."""
    if len(parts) == 1:
        ((measured, factor),) = parts
        return abs(factor) * measured.noise.interval(confidence, cells).half_width
    if len(parts) > 2:
        noises = tuple(measured.noise for measured, _ in parts)
        return _margin_of_many(noises, tuple(float(factor) for _, factor in parts), find_alpha(confidence, cells))
    (x, unit), (y, factor) = sorted(parts, key=lambda part: abs(part[1]))
    ratio = abs(factor / unit)
    limit = critical_value(x.noise, y.noise, float(ratio), find_alpha(confidence, cells))  # type: ignore[arg-type]
    # Where the sum is whole, it stays below the limit only if it is at most the integer below it.
    return abs(unit) * (ceil(limit) - 1 if ratio.denominator == 1 else Fraction(limit))


@lru_cache(maxsize=256)  # the same for every question about one value at one price
def _margin_of_many(noises: tuple[Noise, ...], factors: tuple[float, ...], alpha: float) -> Fraction:
    return Fraction(float(farthest(noises, [np.asarray(factor) for factor in factors], alpha)))


@dataclass(frozen=True)
class Ring:
    """The cells that share the values of the `outer` keys, but not of the `inner` ones; None: of all keys.

    Of those that are left at a `stage`.
    """

    inner: frozenset[Hashable] | None
    outer: frozenset[Hashable]
    stage: int

    def meets(self, other: "Ring") -> bool:
        """Whether a cell may be in both, so that their noise is not independent."""
        apart = self.stage == other.stage and (_is_within(self, other) or _is_within(other, self))
        return not apart


def _is_within(ring: Ring, other: Ring) -> bool:
    """Whether all of a ring is within the hole of another."""
    return other.inner is not None and ring.outer >= other.inner
