"""How nearly one value is a straight line of another."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from adomnia.privacy.queries import Aggregate, Query
from adomnia.privacy.scans import Total
from adomnia.statistics.contract import Estimate, Measured
from adomnia.statistics.covariance import change_other, pair_of, products_of
from adomnia.statistics.explained import Explained
from adomnia.statistics.moments import Moments, NoisyMoments, multiply_totals, query_moments, where_both
from adomnia.statistics.one_round import OneRound


@dataclass(frozen=True)
class Correlation(OneRound):
    """Pearson's correlation of two bounded expressions over the rows that have both, in every cell.

    Method      noisy count, two sums, two sums of squares and one of products, a sixth of the price each.
    Guarantee   the six measurements composed; all else is post-processing.
    Bias        the cap on rows per person, clamping; nothing is known of it where a variance is lost in noise.
    Cite        Dwork, McSherry, Nissim & Smith 2006 (sums); Fieller 1954 (the interval of a quotient).
    """

    tag: ClassVar[str] = "Correlation"
    name: ClassVar[str] = "CORR"
    query: Query
    other: Total

    def __post_init__(self) -> None:
        pair_of(self.query, self.other, "Correlation")

    @property
    def operands(self) -> tuple[Aggregate | Fraction, ...]:
        return self.query.aggregate, self.other

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        return tuple(self._moments.values())

    @cached_property
    def _moments(self) -> dict[str, Query]:
        first, second = pair_of(self.query, self.other, "Correlation")
        squares = {
            "xx": where_both(multiply_totals(first, first), second),
            "yy": where_both(multiply_totals(second, second), first),
        }
        return query_moments(self.query, products_of(first, second) | squares)

    def map_queries(self, change: Callable[[Query], Query]) -> Self:
        return replace(self, query=change(self.query), other=change_other(self.query, self.other, change))

    def estimate(self, *measured: Measured) -> Estimate:
        return self.from_moments(Moments.of(self._moments, measured))

    def from_moments(self, moments: NoisyMoments) -> Estimate:
        """The correlation of x and y, however their moments were measured."""
        x, both, y = (moments.about_means(*names) for names in ("xx", "xy", "yy"))
        found = Explained(moments.rows(), x, both, y, moments.noises)
        method = "noisy covariance / root of the noisy variances"
        return Estimate(found.values, found.bounds, method, limits=(-1.0, 1.0))
