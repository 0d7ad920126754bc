"""Brackets as the first versions measured them: their stored answers are read, and nothing is measured so again."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, TypeAlias, final

import numpy as np

from adomnia.errors import Failure
from adomnia.mechanisms.contract import PriceKind
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.halving import event_of
from adomnia.mechanisms.histograms import SecretHistogram
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.noise import Bits, Integers
from adomnia.privacy.events import Concentrated, Price, Pure
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Form
from adomnia.privacy.sensitivity import Sensitivity

Counting: TypeAlias = DiscreteLaplace | DiscreteGaussian
_COUNTED = {True: Fraction(73, 100), False: Fraction(57, 100)}  # of the price: of one quantile, and of several
_MOST_EVEN = 60


@final
@dataclass(frozen=True)
class EarlierBrackets:
    """The layout and the noise of Brackets before the plan divided the price.

    Guarantee   the price for people of that many rows, over all stages, shares and cells together.
    Conditions  nothing is released: a stored answer is read by its cost and its noise.
    Noise       that of counts between values, a fixed part of the price.
    Proof       docs/proofs/brackets.md.

    >>> EarlierBrackets((Fraction(1, 2),), 101, Fraction(1), Pure(1)).event(Sensitivity(l1=2)).epsilon
    Fraction(2, 1)
    """

    tag: ClassVar[str] = "Brackets"
    prices: ClassVar[tuple[PriceKind, ...]] = (Pure, Concentrated)
    reads: ClassVar[Form] = "histogram"

    shares: tuple[Fraction, ...]
    values: int
    rows: Fraction
    price: Price

    @classmethod
    def for_query(cls, query: Query, price: Price) -> "EarlierBrackets":
        return cls(query.histogram.shares, query.histogram.values, query.sensitivity().l1, price)

    def event(self, sensitivity: Sensitivity) -> Price:
        return event_of(self.price, self.rows, sensitivity)

    def shape(self, query: Query) -> tuple[int, ...]:
        return (*query.shape, 2 + 3 * len(self.shares) + 2 * self.room)

    def release(self, secret: SecretHistogram, bits: Bits) -> Integers:  # noqa: ARG002 - whatever they are
        raise Failure("Brackets of an earlier version are read, and never measured.")

    def spread_evenly(self, rows: int) -> Integers:  # noqa: ARG002 - the same of any number of them
        """Values alone, and nothing counted."""
        values = [round(share * (self.values - 1)) for share in self.shares for _ in range(3)]
        return np.array([0, *values, *[0] * (2 * self.room + 1)])

    @property
    def room(self) -> int:
        """How many edges a cell has room for."""
        many = len(self.shares)
        return 5 if many == 1 else max(6 * many, 2 * min(3 * many, _MOST_EVEN) + 4)

    @cached_property
    def usual_counting(self) -> Counting:
        """The noise of each count between cuts."""
        price = self.price * _COUNTED[len(self.shares) == 1]
        kind = DiscreteLaplace if isinstance(price, Pure) else DiscreteGaussian
        return kind.calibrated(Sensitivity(l1=self.rows), price)

    def counting_of(self, numbers: Integers) -> Counting:  # noqa: ARG002 - the same of any
        """The noise of the counts of a cell."""
        return self.usual_counting

    def own_scale_of(self, numbers: Integers) -> float | None:  # noqa: ARG002 - the same of any
        """Not known: of the first versions, most of what a value was off by was taken back."""
        return None
