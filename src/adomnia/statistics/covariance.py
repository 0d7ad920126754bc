"""How two values vary together."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from adomnia.distributions.quotients import Quotient
from adomnia.privacy.queries import Aggregate, Query
from adomnia.privacy.scans import NonNull, Total
from adomnia.statistics.contract import Estimate, Measured
from adomnia.statistics.moments import (
    ROWS,
    Moments,
    NoisyMoments,
    centre_total,
    multiply_totals,
    query_moments,
    where_both,
    width,
)
from adomnia.statistics.one_round import OneRound
from adomnia.statistics.sum import plain_total

COVARIANCES = ("COVAR_POP", "COVAR_SAMP")


@dataclass(frozen=True)
class Covariance(OneRound):
    """The covariance of two bounded expressions over the rows that have both, in every cell.

    Method      noisy count, two sums and the sum of products, counted from the middles, a quarter of the price each.
    Guarantee   the four measurements composed; all else is post-processing.
    Bias        the cap on rows per person, clamping.
    Cite        Dwork, McSherry, Nissim & Smith 2006 (sums); Fieller 1954 (the interval of a quotient).
    """

    tag: ClassVar[str] = "Covariance"
    query: Query
    other: Total
    name: str

    def __post_init__(self) -> None:
        pair_of(self.query, self.other, "Covariance")
        if self.name not in COVARIANCES:
            raise ValueError(f"Covariance name must be one of {', '.join(COVARIANCES)}, got {self.name}.")

    @property
    def operands(self) -> tuple[Aggregate | Fraction, ...]:
        return self.query.aggregate, self.other

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        return tuple(self._moments.values())

    @property
    def _moments(self) -> dict[str, Query]:
        return query_moments(self.query, products_of(*pair_of(self.query, self.other, "Covariance")))

    def map_queries(self, change: Callable[[Query], Query]) -> Self:
        return replace(self, query=change(self.query), other=change_other(self.query, self.other, change))

    def estimate(self, *measured: Measured) -> Estimate:
        return self.from_moments(Moments.of(self._moments, measured))

    def from_moments(self, moments: NoisyMoments) -> Estimate:
        """The covariance of x and y, however their moments were measured."""
        first, second = pair_of(self.query, self.other, "Covariance")
        sample = self.name.endswith("SAMP")
        rows = moments.rows(less=int(sample))
        farthest = width(first) * width(second) / (2 if sample else 4)
        limits = (-farthest, farthest)
        covariance = Quotient(moments.about_means("x", "y"), rows, (rows,), limits, moments.noises)
        method = "noisy sums of values and products / noisy count"
        return Estimate(covariance.values, covariance.bounds, method, limits=limits)


def pair_of(query: Query, other: Total, owner: str) -> tuple[Total, Total]:
    """Two sums of different values, counted from zero."""
    first = plain_total(query, owner)
    if other.centre or first.value == other.value:
        raise ValueError(f"{owner} other must be a Total of another value from centre 0, got {other}.")
    return first, other


def change_other(query: Query, other: Total, change: Callable[[Query], Query]) -> Total:
    """The second sum after a change that is made to queries over the same rows."""
    return change(replace(query, aggregate=other)).total


def products_of(first: Total, second: Total) -> dict[str, Aggregate]:
    """What a covariance is made of: x and y of the rows that have both, their number and their products."""
    both = multiply_totals(first, second)
    x, y = centre_total(where_both(first, second)), centre_total(where_both(second, first))
    return {ROWS: NonNull(both.value), "x": x, "y": y, "xy": both}
