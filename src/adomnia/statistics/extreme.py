"""The least and the greatest value, as far as they can be told."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from adomnia.privacy.events import Event, Price
from adomnia.privacy.queries import Query
from adomnia.statistics.contract import Measure, Steps
from adomnia.statistics.quantile import chosen, histogram
from adomnia.statistics.ranks import choice


@dataclass(frozen=True)
class Extreme:
    """A value that few rows are beyond, NULL left out, in every cell: the extreme itself is one person's own.

    Method      a value of the grid chosen at a rank so many rows from the end that it is hardly ever beyond the extreme
                itself; that one lies between the value and the declared bound.
    Guarantee   one choice at the whole price.
    Bias        inward by those rows; the cap on rows per person, clamping.
    Cite        McSherry & Talwar 2007; docs/proofs/quantiles.md.
    """

    tag: ClassVar[str] = "Extreme"
    query: Query
    greatest: bool

    def __post_init__(self) -> None:
        if histogram(self.query).shares != (Fraction(int(self.greatest)),):
            raise ValueError("Extreme must be all that its query asks for.")

    @property
    def name(self) -> str:
        """What SQL calls it."""
        return "MAX" if self.greatest else "MIN"

    def steps(self, price: Price) -> Steps:
        (measured,) = yield (Measure(self.query, price),)
        aggregate = histogram(self.query)
        value = measured.values[..., 0]
        beyond = np.full(value.shape, aggregate.values if self.greatest else -1)
        ends = (value, beyond) if self.greatest else (beyond, value)
        rows = abs(choice(self.query, price).targets[0].offset)
        return chosen(self.query, value, ends, f"about {int(rows):,} rows lie beyond it")

    def event(self, price: Price) -> Event:
        return price
