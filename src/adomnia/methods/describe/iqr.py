"""The interquartile range."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from adomnia.methods.contract import INFERENCE, Arguments, Frame, Method, Parameter
from adomnia.methods.describe.quantiles import BOUNDS_NOTE, find_quantiles
from adomnia.methods.parts.describe.cut_quantiles import CutQuantile, Robust, read_robust
from adomnia.privacy.events import Price
from adomnia.statistics.contract import Bounds, Estimate, Steps

_QUARTILES = (Fraction(1, 4), Fraction(3, 4))
_CORRELATION = 1 / 3  # of both quartiles of a sample: the root of 1/4 * 1/4 / (3/4 * 3/4)


@dataclass(frozen=True)
class Iqr(Robust):
    """The distance between the first and the third quartile.

    Method      both quartiles with intervals; their difference with an interval from the distances of their ends.
    Guarantee   that of two quantiles.
    Bias        clamping, and a step of rounding.
    Cite        Zou & Donner 2008 (intervals of differences); Kaplan, Schnapp & Stemmer 2022 (the choice).
    """

    tag: ClassVar[str] = "Iqr"
    name: ClassVar[str] = "iqr"

    def steps(self, price: Price) -> Steps:
        ((first, third),) = yield from find_quantiles(self, _QUARTILES, price)
        return self.tabulate(estimate_difference(first, third), BOUNDS_NOTE)


def estimate_difference(first: CutQuantile, third: CutQuantile) -> Estimate:
    """How far apart two quartiles are."""
    together = _CORRELATION if first.cutting.population else 0.0
    together = -together if first.even and third.even else 1.0  # on ties, both ends may be off by all that they can
    found, widest = third.value - first.value, float(first.cutting.domain.upper - first.cutting.domain.lower)

    def interval(confidence: float, cells: int) -> Bounds:
        (low1, high1), (low3, high3) = (each.bounds(confidence, cells) for each in (first, third))
        less = add_sides(third.value - low3, high1 - first.value, together)
        more = add_sides(high3 - third.value, first.value - low1, together)
        ends = np.clip([found - less, found + more], 0.0, widest)
        return ends[:1], ends[1:]

    return Estimate(np.array([max(found, 0.0)]), interval, "difference of noisy quartiles", limits=(0.0, widest))


def add_sides(one: float, two: float, correlation: float) -> float:
    """How far a sum goes where its parts go so far, and are so correlated."""
    return float(np.sqrt(max(one**2 + two**2 + 2 * correlation * one * two, 0.0)))


def _build(frame: Frame, arguments: Arguments) -> Iqr:
    return Iqr(*read_robust(frame, arguments, "iqr"))


METHOD = Method(
    "iqr",
    "describe",
    "The interquartile range of a column.",
    (Parameter("column", "column", "the numbers", required=True), INFERENCE),
    _build,
    {"column": "which column", "estimate": "the distance between the first and the third quartile"},
    "SELECT * FROM iqr(people, column => salary)",
    {"R": "IQR", "SciPy": "stats.iqr"},
)
