"""Counting rows and values, each by itself or both as one measurement."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from adomnia.privacy.expressions import Expression, call
from adomnia.privacy.keys import Bucket
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Rows
from adomnia.statistics.contract import Estimate, Measured
from adomnia.statistics.linear import linear
from adomnia.statistics.one_round import OneRound, in_steps

_SHOWN = "presence"  # tells this key from one that the question groups by


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
        if self.parted is None or self.query.aggregate.counted is not None:
            return replace(in_steps(present, Fraction(1), "noisy count"), unsigned=True)
        both = ((present, Fraction(1)), (without_value(counted), Fraction(1)))
        return replace(linear(both, "noisy count of rows with a value + of rows without"), unsigned=True)


def part_query(query: Query, value: Expression | None) -> Query:
    """The query by whether the value is missing, as the last of its keys; as it is where no value is named.

    How many rows have the value becomes how many rows there are, of which only the first part is asked for.
    """
    if value is None:
        return query
    missing = call("is null", value)
    aggregate = query.aggregate if query.aggregate.counted is None else Rows()
    return replace(query, keys=(*query.keys, Bucket(missing, None, missing, _SHOWN)), aggregate=aggregate)


def is_parted(query: Query) -> bool:
    """Whether a query is by whether a value is missing because a statistic wants it so."""
    return bool(query.keys) and isinstance(query.keys[-1], Bucket) and query.keys[-1].shown == _SHOWN


def with_value(measured: Measured, value: Expression | None) -> Measured:
    """The cells of the rows that have the value; all, where no value is named."""
    return measured if value is None else Measured(measured.values[..., 0], measured.noise, (measured, 0))


def without_value(measured: Measured) -> Measured:
    """The cells of the rows that have no value."""
    return Measured(measured.values[..., 1], measured.noise, (measured, 1))
