"""Counting."""

from dataclasses import dataclass
from fractions import Fraction

from adomnia.privacy.events import Event, Price
from adomnia.privacy.queries import Query
from adomnia.statistics.contract import Measure, Steps
from adomnia.statistics.scaled import in_steps


@dataclass(frozen=True)
class Count:
    """How many rows, values that are not NULL, or people, in every cell.

    Method      the exact count plus noise. Not cut at zero: that would make every small cell too large on average.
    Guarantee   one measurement at the whole price.
    Bias        the cap on rows per person; none from the noise.
    Cite        Dwork, McSherry, Nissim & Smith 2006.
    """

    query: Query

    def steps(self, price: Price) -> Steps:
        (counted,) = yield (Measure(self.query, price),)
        return in_steps(counted, Fraction(1), "noisy count")

    def event(self, price: Price) -> Event:
        return price
