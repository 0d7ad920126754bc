"""Averaging."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from adomnia.privacy.aggregates import Present, Total
from adomnia.privacy.events import Composed, Event, Price
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Query
from adomnia.statistics.contract import Bounds, Estimate, Floats, Measure, Measured, Steps
from adomnia.statistics.ratios import ratio_bounds


@dataclass(frozen=True)
class Mean:
    """The mean of a bounded expression's values, NULL left out, in every cell.

    Method      noisy sum of the values' distances from the middle of their bounds / noisy count, half the price each.
    Guarantee   the two measurements composed; the division is post-processing.
    Bias        the cap on rows per person, clamping; towards the middle of the bounds where the count is all noise.
    Cite        Dwork, McSherry, Nissim & Smith 2006 (sums); Fieller 1954 (the interval of a ratio).
    """

    query: Query

    def __post_init__(self) -> None:
        if not isinstance(self.query.aggregate, Total) or self.query.aggregate.centre:
            raise ValueError(f"Mean query must be a Total from centre 0, got {self.query.aggregate}.")

    @property
    def _total(self) -> Total:
        assert isinstance(self.query.aggregate, Total)  # noqa: S101 - as constructed
        # Around the middle a row moves the sum by half the width at most, and the count's noise matters little.
        return replace(self.query.aggregate, centre=self.query.aggregate.domain.middle)

    def steps(self, price: Price) -> Steps:
        distances = replace(self.query, aggregate=self._total)
        values = replace(self.query, aggregate=Present(self._total.value))
        total, count = yield (Measure(distances, price / 2), Measure(values, price / 2))
        return _estimate(self._total, total, count)

    def event(self, price: Price) -> Event:
        return Composed((price / 2, price / 2))


def _estimate(total: Total, distances: Measured, count: Measured) -> Estimate:
    domain, centre = total.domain, total.centre
    reach = (domain.grid_lower - centre, domain.grid_upper - centre)

    def number(offset: Floats) -> Floats:
        step = domain.step
        middle = Fraction(centre) * step
        return np.clip(offset * float(step) + float(middle), float(domain.lower), float(domain.upper))

    # A noisy count may be zero or less. One is the least that a mean can be of, and this is post-processing.
    offset = np.asarray(distances.values, dtype=np.float64) / np.maximum(count.values, 1).astype(np.float64)
    nearest = np.clip(offset, float(reach[0]), float(reach[1]))

    # Each value was rounded to its grid, so their mean is off by half a step at most; whole numbers are their own grid.
    rounding = 0.0 if domain.step == 1 and isinstance(total.value.kind, Quantity) and total.value.kind.whole else 0.5

    def interval(confidence: float, cells: int) -> Bounds:
        lower, upper = ratio_bounds(distances, count, reach, confidence, cells)
        lower, upper = lower - rounding, upper + rounding
        # Where no mean within the bounds explains what was seen, lower > upper, and the nearest one is left.
        return number(np.minimum(lower, nearest)), number(np.maximum(upper, nearest))

    return Estimate(number(nearest), interval, "noisy centred sum / noisy count")
