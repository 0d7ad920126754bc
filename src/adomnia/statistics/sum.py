"""Adding up, from the middle of the bounds where that has less noise."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from adomnia.privacy.expressions import Expression
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import NonNull, Total
from adomnia.statistics.contract import Estimate, Measured
from adomnia.statistics.count import part_query, with_value
from adomnia.statistics.linear import linear
from adomnia.statistics.one_round import OneRound, in_steps


@dataclass(frozen=True)
class Sum(OneRound):
    """The sum of a bounded expression, in every cell.

    Method      the exact sum of values clamped to their bounds and rounded to their grid, plus noise. `centred`: from
                the noisy sum of their distances from the middle and their noisy number, if these are measured anyway.
    Guarantee   one measurement at the whole price, or two at half of it each. `parted` by a value: of rows that have
                it, where those without it are counted too.
    Bias        the cap on rows per person, clamping, and half a step of rounding a value; none from the noise.
    Cite        Dwork, McSherry, Nissim & Smith 2006; Mironov 2012 (why on a grid).
    """

    tag: ClassVar[str] = "Sum"
    name: ClassVar[str] = "SUM"
    query: Query
    centred: bool = False
    parted: Expression | None = None

    def __post_init__(self) -> None:
        plain_total(self.query, "Sum")

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        asked = distances_and_values(self.query, "Sum") if self.centred else (self.query,)
        return tuple(part_query(each, self.parted) for each in asked)

    def estimate(self, *measured: Measured) -> Estimate:
        domain = plain_total(self.query, "Sum").domain
        total, *count = (with_value(each, self.parted) for each in measured)
        if not count:
            return replace(in_steps(total, domain.step, "noisy sum"), unsigned=domain.lower >= 0)
        parts = ((total, domain.step), (count[0], domain.middle * domain.step))
        return linear(parts, "noisy sum of distances from the middle + middle x noisy count")


def plain_total(query: Query, owner: str) -> Total:
    """The sum that a query asks for, which is counted from zero."""
    if query.total.centre:
        raise ValueError(f"{owner} query must be a Total from centre 0, got {query.aggregate}.")
    return query.total


def distances_and_values(query: Query, owner: str) -> tuple[Query, Query]:
    """The sum of the values' distances from the middle, and how many values there are.

    Around the middle a row moves the sum by half the width at most, and the count's noise matters little to a mean.
    """
    total = plain_total(query, owner)
    distances = replace(total, centre=total.domain.middle)
    return replace(query, aggregate=distances), replace(query, aggregate=NonNull(total.value))
