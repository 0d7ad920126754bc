"""Counting."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from adomnia.privacy.expressions import Expression
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import NonNull
from adomnia.statistics.contract import Estimate, Measured
from adomnia.statistics.linear import linear
from adomnia.statistics.one_round import OneRound, in_steps
from adomnia.statistics.presence import part_query, with_value, without_value


@dataclass(frozen=True)
class Count(OneRound):
    """How many rows, values that are not NULL, or people, in every cell.

    Method      the exact count plus noise. Not cut at zero: that would make every small cell too large on average.
                `parted` by a value: rows with it plus rows without it, both in one measurement.
    Guarantee   one measurement at the whole price.
    Bias        the cap on rows per person; none from the noise.
    Cite        Dwork, McSherry, Nissim & Smith 2006.
    """

    tag: ClassVar[str] = "Count"
    name: ClassVar[str] = "COUNT"
    query: Query
    parted: Expression | None = None

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        return (part_query(self.query, self.parted),)

    def estimate(self, *measured: Measured) -> Estimate:
        (counted,) = measured
        present = with_value(counted, self.parted)
        if self.parted is None or isinstance(self.query.aggregate, NonNull):
            return replace(in_steps(present, Fraction(1), "noisy count"), unsigned=True)
        both = ((present, Fraction(1)), (without_value(counted), Fraction(1)))
        return replace(linear(both, "noisy count of rows with a value + of rows without"), unsigned=True)
