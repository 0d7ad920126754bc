"""Averaging."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from adomnia.distributions.ratios import hold_within, measure_width, ratio_bounds
from adomnia.privacy.expressions import Expression
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Query
from adomnia.statistics.contract import Bounds, Derivation, Estimate, Floats, Measured
from adomnia.statistics.count import part_query, with_value
from adomnia.statistics.one_round import OneRound
from adomnia.statistics.sum import distances_and_values, plain_total


@dataclass(frozen=True)
class Mean(OneRound):
    """The mean of a bounded expression's values, NULL left out, in every cell.

    Method      noisy sum of the values' distances from the middle of their bounds / noisy count, half the price each.
    Guarantee   the two measurements composed; the division is post-processing. `parted` by a value: of rows that have
                it, where those without it are counted too.
    Bias        the cap on rows per person, clamping; towards the middle of the bounds where the count is all noise.
    Cite        Dwork, McSherry, Nissim & Smith 2006 (sums); Fieller 1954 (the interval of a ratio).
    """

    tag: ClassVar[str] = "Mean"
    name: ClassVar[str] = "AVG"
    query: Query
    parted: Expression | None = None

    def __post_init__(self) -> None:
        plain_total(self.query, "Mean")

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        return tuple(part_query(each, self.parted) for each in distances_and_values(self.query, "Mean"))

    def estimate(self, *measured: Measured) -> Estimate:
        total, count = (with_value(each, self.parted) for each in measured)
        return mean_of(self.queries[0], total, count)


def mean_of(query: Query, distances: Measured, count: Measured) -> Estimate:
    """The mean from the noisy sum of distances that a query asks for, and the noisy number of values."""
    total = query.total
    domain, centre = total.domain, total.centre
    reach = (domain.grid_lower - centre, domain.grid_upper - centre)

    limits = (float(domain.lower), float(domain.upper))

    def scale(offset: Floats) -> Floats:
        return offset * float(domain.step) + float(Fraction(centre) * domain.step)

    def number(offset: Floats) -> Floats:
        return np.clip(scale(offset), *limits)

    # A noisy count may be zero or less. One is the least that a mean can be of, and this is post-processing.
    summed, rows = (np.asarray(each.values, dtype=np.float64) for each in (distances, count))
    offset = summed / np.maximum(rows, 1.0)
    nearest = np.clip(offset, float(reach[0]), float(reach[1]))

    # Each value was rounded to its grid, so their mean is off by half a step at most; whole numbers are their own grid.
    rounding = 0.0 if domain.step == 1 and isinstance(total.value.kind, Quantity) and total.value.kind.whole else 0.5

    def interval(confidence: float, cells: int) -> Bounds:
        lower, upper = ratio_bounds(distances, count, reach, confidence, cells)
        width = measure_width(distances, count, nearest, confidence, cells)
        ends = float(reach[0]), float(reach[1])
        lower, upper = hold_within(lower - rounding, upper + rounding, nearest, ends, width)
        return number(lower), number(upper)

    def compute(sums: Sequence[Floats]) -> tuple[Floats, ...]:
        return scale(sums[0] / np.maximum(sums[1], 1.0)), sums[1]

    derivation = Derivation((distances, count), compute, limits, np.asarray(rounding * float(domain.step)))
    return Estimate(number(nearest), interval, "noisy centred sum / noisy count", derivation=derivation)
