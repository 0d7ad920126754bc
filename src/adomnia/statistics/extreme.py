"""The least and the greatest value, as far as they can be told."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from adomnia.mechanisms.quantiles import Quantiles
from adomnia.noise import Integers
from adomnia.privacy.queries import Query
from adomnia.statistics.contract import Estimate, Measured
from adomnia.statistics.one_round import OneRound
from adomnia.statistics.quantile import estimate_chosen

_ROUNDING = 1e-12


@dataclass(frozen=True)
class Extreme(OneRound):
    """A value that few rows are beyond, NULL left out, in every cell: the extreme itself is one person's own.

    Method      a value of the grid chosen at a rank so many rows from the end that it is hardly ever beyond the extreme
                itself; that one lies between the value and the declared bound.
    Guarantee   one choice at the whole price.
    Bias        inward by those rows; the cap on rows per person, clamping.
    Cite        McSherry & Talwar 2007; docs/proofs/quantiles.md.
    """

    tag: ClassVar[str] = "Extreme"
    by: ClassVar[str] = "quantiles"
    query: Query
    greatest: bool

    def __post_init__(self) -> None:
        if self.query.histogram.shares != (Fraction(int(self.greatest)),):
            raise ValueError("Extreme must be all that its query asks for.")

    @property
    def name(self) -> str:
        """What SQL calls it."""
        return "MAX" if self.greatest else "MIN"

    def estimate(self, *measured: Measured) -> Estimate:
        aggregate, value, choice = self.query.histogram, measured[0].values[..., 0], measured[0].mechanism
        assert isinstance(choice, Quantiles)  # noqa: S101 - as it was asked for
        (target,) = choice.targets
        # Where there are few rows, values beyond the grid are as sure as there are many of them.
        bought = min(float(aggregate.confidence), 1 - 1 / abs(target.beyond))

        def ends(confidence: float, cells: int) -> tuple[Integers, Integers]:
            nothing = confidence ** (1 / cells) > bought + _ROUNDING  # more than was bought
            low, high = np.full(value.shape, -1), np.full(value.shape, aggregate.values)
            if nothing:
                return low, high
            return (value, high) if self.greatest else (low, value)

        rows = abs(target.offset)
        return estimate_chosen(self.query, value, ends, f"about {int(rows):,} rows lie beyond it")
