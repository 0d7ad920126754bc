"""How nearly one value is a straight line of another."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from adomnia.privacy.aggregates import Total
from adomnia.privacy.events import Composed, Event, Price
from adomnia.privacy.queries import Query
from adomnia.statistics.contract import Estimate, Steps
from adomnia.statistics.covariance import pair_of, products_of
from adomnia.statistics.moments import beside, measured, product
from adomnia.statistics.quotients import Quotient, combined


@dataclass(frozen=True)
class Correlation:
    """Pearson's correlation of two bounded expressions over the rows that have both, in every cell.

    Method      noisy count, two sums, two sums of squares and one of products, a sixth of the price each.
    Guarantee   the six measurements composed; all else is post-processing.
    Bias        the cap on rows per person, clamping; nothing is known of it where a variance is lost in noise.
    Cite        Dwork, McSherry, Nissim & Smith 2006 (sums); Fieller 1954 (the interval of a quotient).
    """

    tag: ClassVar[str] = "Correlation"
    query: Query
    other: Total

    def __post_init__(self) -> None:
        pair_of(self.query, self.other, "Correlation")

    def steps(self, price: Price) -> Steps:
        first, second = pair_of(self.query, self.other, "Correlation")
        squares = {"xx": beside(product(first, first), second), "yy": beside(product(second, second), first)}
        moments = yield from measured(self.query, products_of(first, second) | squares, price)
        x, y = moments.about_means("x", "x"), moments.about_means("y", "y")
        # The root of their product is half of each, times the ratio of the roots: linear in both, where they are near.
        there = (x.values > 0) & (y.values > 0)
        ratio = np.sqrt(np.where(there, y.values, 1.0) / np.where(there, x.values, 1.0))
        both = combined((x, ratio / 2), (y, 1 / ratio / 2))
        needed = (moments.rows(), x, y)
        quotient = Quotient(moments.about_means("x", "y"), both, needed, (-1.0, 1.0), moments.noises)
        return Estimate(quotient.values, quotient.bounds, "noisy covariance / root of the noisy variances")

    def event(self, price: Price) -> Event:
        return Composed((price / 6,) * 6)
