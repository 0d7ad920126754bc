"""Quantiles."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from adomnia.noise import Integers
from adomnia.privacy.aggregates import Aggregate, Histogram
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Query
from adomnia.statistics.contract import Bounds, Estimate, Floats, Measured
from adomnia.statistics.one_round import OneRound
from adomnia.statistics.scaled import times

_ROUNDING = 1e-12


@dataclass(frozen=True)
class Quantile(OneRound):
    """The value that a share of all values is below or at, NULL left out, in every cell.

    Method      two values of the grid chosen by their ranks, one some rows below and one as many above the quantile's;
                their middle is the answer, and both are the interval. Where one lies beyond the grid there are too few
                rows to tell: the other is the answer then, and the bounds are the interval. All quantiles of one value
                in a question are chosen at once.
    Guarantee   one measurement at the whole price.
    Bias        the cap on rows per person, clamping, and half a step of rounding a value.
    Cite        McSherry & Talwar 2007; Smith 2011 (by ranks); docs/proofs/quantiles.md (all at once).
    """

    tag: ClassVar[str] = "Quantile"
    name: ClassVar[str] = "QUANTILE"
    by: ClassVar[str] = "quantiles"
    query: Query
    share: Fraction

    def __post_init__(self) -> None:
        if not 0 < self.share < 1 or self.share not in histogram(self.query).shares:
            raise ValueError(f"Quantile share must be above 0, below 1 and asked for, got {self.share}.")

    @property
    def operands(self) -> tuple[Aggregate | Fraction, ...]:
        return self.query.aggregate, self.share

    def estimate(self, *measured: Measured) -> Estimate:
        aggregate, values = histogram(self.query), measured[0].values
        place = 2 * aggregate.shares.index(self.share)
        one, other = values[..., place], values[..., place + 1]
        below, above = one < 0, other >= aggregate.values
        value = np.where(below & ~above, other, np.where(above & ~below, one, (one + other) // 2))
        lower = np.where(below | above, -1, np.minimum(one, other))
        upper = np.where(below | above, aggregate.values, np.maximum(one, other))
        return estimate_chosen(self.query, value, (lower, upper), "middle of two values chosen by rank")


def histogram(query: Query) -> Histogram:
    """What a query counts, where that is values of a grid."""
    if not isinstance(query.aggregate, Histogram):
        raise TypeError(f"Quantile query must be a Histogram, got {query.aggregate}.")
    return query.aggregate


def estimate_chosen(query: Query, value: Integers, ends: tuple[Integers, Integers], method: str) -> Estimate:
    """The estimate of values chosen from a histogram, and ends of their intervals: at the bounds if beyond its grid.

    The bounds are the ends for more confidence than was bought, too.
    """
    aggregate = histogram(query)
    domain, kind = aggregate.domain, aggregate.value.kind
    # Each value was rounded to its grid; whole numbers are their own grid.
    rounding = 0.0 if domain.step == 1 and isinstance(kind, Quantity) and kind.whole else float(domain.step) / 2

    def number(place: Integers, beside: float = 0.0) -> Floats:
        found = times(place + domain.grid_lower, domain.step) + beside
        return np.clip(found, float(domain.lower), float(domain.upper))

    def interval(confidence: float, cells: int) -> Bounds:
        if not 0 < confidence < 1:
            raise ValueError(f"Interval confidence must be above 0 and below 1, got {confidence}.")
        if confidence ** (1 / cells) > float(aggregate.confidence) + _ROUNDING:
            return np.full(value.shape, float(domain.lower)), np.full(value.shape, float(domain.upper))
        return number(ends[0], -rounding), number(ends[1], rounding)

    inside = np.minimum(np.maximum(value, 0), aggregate.values - 1)
    return Estimate(number(inside), interval, method, whole=domain.step.denominator == 1)
