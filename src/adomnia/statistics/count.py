"""Counting."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from adomnia.privacy.aggregates import Present
from adomnia.privacy.events import Event, Price
from adomnia.privacy.expressions import Expression
from adomnia.privacy.queries import Query
from adomnia.statistics.contract import Measure, Steps
from adomnia.statistics.linear import linear
from adomnia.statistics.presence import parted, with_value, without_value
from adomnia.statistics.scaled import in_steps


@dataclass(frozen=True)
class Count:
    """How many rows, values that are not NULL, or people, in every cell.

    Method      the exact count plus noise. Not cut at zero: that would make every small cell too large on average.
                `parted` by a value: rows with it plus rows without it, both in one measurement.
    Guarantee   one measurement at the whole price.
    Bias        the cap on rows per person; none from the noise.
    Cite        Dwork, McSherry, Nissim & Smith 2006.
    """

    tag: ClassVar[str] = "Count"
    query: Query
    parted: Expression | None = None

    def steps(self, price: Price) -> Steps:
        (counted,) = yield (Measure(parted(self.query, self.parted), price),)
        present = with_value(counted, self.parted)
        if self.parted is None or isinstance(self.query.aggregate, Present):
            return in_steps(present, Fraction(1), "noisy count")
        both = ((present, Fraction(1)), (without_value(counted), Fraction(1)))
        return linear(both, "noisy count of rows with a value + of rows without")

    def event(self, price: Price) -> Event:
        return price
