"""Means and sums counted from near the mean itself: there, what a person adds is short, and so is the noise."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import ClassVar

import numpy as np

from adomnia.privacy.events import Composed, Price
from adomnia.privacy.expressions import Expression, call
from adomnia.privacy.keys import Bucket, Key
from adomnia.privacy.queries import MOST_CLIPPED, Aggregate, Clip, Query
from adomnia.privacy.relations import Relation, Where
from adomnia.statistics.contract import Estimate, Measure, Measured, Round, Statistic, Steps
from adomnia.statistics.linear import linear
from adomnia.statistics.mean import Mean, mean_of
from adomnia.statistics.sum import Sum, distances_and_values

_SEARCH, _REST = Fraction(1, 10), Fraction(9, 10)  # of the price of distances: for the mean of all, and for each
_NEAR = 8  # a mean is found where its noise, at this confidence, is below this part of the width of its bounds
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Located:
    """A mean, or the sum beside it, from distances to about the mean of all cells instead of the middle of the bounds.

    Method      a tenth of what the distances cost buys the noisy mean of all cells together; the rest buys distances
                from it. It is worth that where people's sums are shortened to the length that they have.
    Guarantee   the measurements composed: those of the statistic itself, of which one pays for its centre.
    Bias        as that of the statistic; any centre gives the same mean.
    Cite        Smith 2011 (where to centre, found first); Fieller 1954 (the interval of a ratio).
    """

    tag: ClassVar[str] = "Located"
    query: Query
    mean: bool = True  # else the sum
    share: Fraction = Fraction(1, 2)  # of the price, for the distances; the count's is the rest

    @property
    def inner(self) -> Mean | Sum:
        """The same from the middle of the bounds."""
        return Mean(self.query) if self.mean else Sum(self.query, centred=True)

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def operands(self) -> tuple[Aggregate | Fraction, ...]:
        return self.inner.operands

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        distances, values = self._distances_and_values
        # Of rows that have a cell, and to be shortened in any case: no statistic over other cells asks for this one,
        # and no other over these, so that what follows from it is paid by it.
        rough = replace(distances, relation=with_cells(distances), keys=(), clip=Clip(distances.largest_move or 0))
        return rough, values

    @property
    def continuations(self) -> tuple[Hashable, ...]:
        # Distances follow for these cells, from a centre that the count decides too, at the price that is left for it.
        return (self.query.keys, self.share), None

    def event(self, price: Price) -> Composed:
        return Composed((price * self.share, price * (1 - self.share)))

    def planned_measures(self, price: Price) -> Round:
        """The distances that are longest are those from the end of the bounds."""
        distances, _ = self._distances_and_values
        total = distances.total
        farthest = replace(distances, aggregate=replace(total, centre=total.domain.grid_lower))
        return (*self._first(price), Measure(farthest, price * self.share * _REST))

    def steps(self, price: Price) -> Steps:
        total, count = yield self._first(price)
        near = _recentred(self._distances_and_values[0], total, count)
        (sums,) = yield (Measure(near, price * self.share * _REST),)
        return self._estimate(near, sums, count)

    def split(self, portions: tuple[Fraction, ...]) -> "Located":
        return replace(self, share=portions[0])

    def map_queries(self, change: Callable[[Query], Query]) -> "Located":
        return replace(self, query=change(self.query))

    def _first(self, price: Price) -> Round:
        rough, values = self.queries
        return Measure(rough, price * self.share * _SEARCH), Measure(values, price * (1 - self.share))

    @property
    def _distances_and_values(self) -> tuple[Query, Query]:
        return distances_and_values(self.query, "Located")

    def _estimate(self, near: Query, sums: Measured, count: Measured) -> Estimate:
        if self.mean:
            return replace(
                mean_of(near, sums, count), method="noisy sum of distances from about the mean / noisy count"
            )
        total = near.total
        parts = ((sums, total.domain.step), (count, total.centre * total.domain.step))
        return linear(parts, "noisy sum of distances from about the mean + that mean x noisy count")


def with_cells(query: Query) -> Relation:
    """The rows that belong to a cell."""
    rows = query.relation
    for key in query.value_keys:
        rows = Where(rows, call("not", call("is null", value_of(key))))
    return rows


def value_of(key: Key) -> Expression:
    """What rows are grouped by."""
    return key.value if isinstance(key, Bucket) else key


def _recentred(distances: Query, total: Measured, count: Measured) -> Query:
    """Distances from the noisy mean of all cells; from where they were, if that is all noise."""
    aggregate = distances.total
    rows, blur = int(np.sum(count.values)), count.noise.interval(_CONFIDENCE).half_width * sqrt(count.values.size)
    if rows <= 2 * blur or total.noise.interval(_CONFIDENCE).half_width * _NEAR > rows * aggregate.domain.width:
        return distances
    found = aggregate.centre + round(int(total.values) / rows)
    centre = min(max(found, aggregate.domain.grid_lower), aggregate.domain.grid_upper)
    return replace(distances, aggregate=replace(aggregate, centre=centre))


def locate(statistic: Statistic) -> Statistic:
    """Means, and sums that are put together like them, counted from near the mean; any other as it is.

    Where the integers are too large to be shortened, from wherever they are counted, nothing is gained.
    """
    if not isinstance(statistic, Mean) and not (isinstance(statistic, Sum) and statistic.centred):
        return statistic
    query, total = statistic.query, statistic.query.total
    if query.relation.rows_per_person * max(total.magnitude, total.domain.width) > MOST_CLIPPED:
        return statistic
    return Located(query, mean=isinstance(statistic, Mean))


def unlocate(statistic: Statistic) -> Statistic:
    """The same from the middle of the bounds."""
    return statistic.inner if isinstance(statistic, Located) else statistic
