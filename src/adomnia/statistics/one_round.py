"""Statistics of a single round: most of what SQL asks for."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Protocol, Self

import numpy as np

from adomnia.noise import Integers
from adomnia.privacy.events import Composed, Price
from adomnia.privacy.queries import Aggregate, Query
from adomnia.statistics.contract import Bounds, Estimate, Floats, Measure, Measured, Result, Round, Statistic, Steps


class OneRound(ABC):
    """A statistic that measures its `queries` at equal parts of the price, and then does arithmetic.

    A subclass is a frozen dataclass with a `query` and a `name`; it says how measurements become a result.
    """

    by: ClassVar[str] = ""  # the mechanism of its measurements
    of_population: ClassVar[bool] = False  # whether its interval is about the population, and not about the rows
    query: Query

    @abstractmethod
    def estimate(self, *measured: Measured) -> Result:
        """What follows from the answers to its queries, in their order."""

    @property
    def operands(self) -> tuple[Aggregate | Fraction, ...]:
        return (self.query.aggregate,)

    @property
    def queries(self) -> tuple[Query, ...]:
        return (self.query,)

    @property
    def continuations(self) -> tuple[Hashable, ...]:
        return (self.by or None,) * len(self.queries)

    def event(self, price: Price) -> Composed:
        return Composed(each.price for each in self.planned_measures(price))

    def planned_measures(self, price: Price) -> Round:
        queries = self.queries
        part = price / len(queries) if len(queries) > 1 else price
        return tuple(Measure(query, part, self.by) for query in queries)

    def steps(self, price: Price) -> Steps:
        measured = yield self.planned_measures(price)
        return _estimate(self, measured)

    def split(self, portions: tuple[Fraction, ...]) -> Statistic:
        return Uneven(self, portions)  # type: ignore[arg-type]  # every subclass has a name

    def map_queries(self, change: Callable[[Query], Query]) -> Self:
        return replace(self, query=change(self.query))  # type: ignore[type-var]  # every subclass is a dataclass


class _Estimates(Protocol):
    def estimate(self, *measured: Measured) -> Result: ...


def _estimate(statistic: _Estimates, measured: tuple[Measured, ...]) -> Result:
    """What follows from its measurements, and how the same follows from others."""

    def again(change: Callable[[Measured], Measured]) -> Estimate:
        found = statistic.estimate(*map(change, measured))
        assert isinstance(found, Estimate)  # noqa: S101 - as it was before
        return found

    found = statistic.estimate(*measured)
    return replace(found, again=again) if isinstance(found, Estimate) else found


class Estimating(Statistic, _Estimates, Protocol):
    """What a statistic of one round promises beside what all do."""

    def map_queries(self, change: Callable[[Query], Query]) -> Self: ...


class Wrapper:
    """A statistic that starts from what its `inner` one starts from, and is called like it."""

    inner: Statistic

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def query(self) -> Query:
        return self.inner.query

    @property
    def operands(self) -> tuple[Aggregate | Fraction, ...]:
        return self.inner.operands

    @property
    def queries(self) -> tuple[Query, ...]:
        return self.inner.queries


@dataclass(frozen=True)
class Uneven(Wrapper):
    """A statistic of one round whose queries get different portions of its price; they add up to 1."""

    inner: Estimating
    portions: tuple[Fraction, ...]

    @property
    def continuations(self) -> tuple[Hashable, ...]:
        return self.inner.continuations

    def event(self, price: Price) -> Composed:
        return Composed(price * part for part in self.portions)

    def planned_measures(self, price: Price) -> Round:
        asked = zip(self.inner.planned_measures(price), self.portions, strict=True)
        return tuple(replace(each, price=price * part) for each, part in asked)

    def steps(self, price: Price) -> Steps:
        measured = yield self.planned_measures(price)
        return _estimate(self.inner, measured)

    def split(self, portions: tuple[Fraction, ...]) -> "Uneven":
        return replace(self, portions=portions)

    def map_queries(self, change: Callable[[Query], Query]) -> "Uneven":
        return replace(self, inner=self.inner.map_queries(change))


def in_steps(measured: Measured, step: Fraction, method: str) -> Estimate:
    """The estimate whose unit is one step: the noisy integers times the step, and as far around them as noise goes."""

    def interval(confidence: float, cells: int) -> Bounds:
        reach = measured.noise.interval(confidence, cells).half_width
        # In Python's integers, because both may be near the end of 64 bits.
        values = measured.values.astype(object)
        return times(values - reach, step), times(values + reach, step)

    parts = ((measured, step),)
    return Estimate(times(measured.values, step), interval, method, whole=step.denominator == 1, parts=parts)


def times(integers: Integers, step: Fraction) -> Floats:
    """Integers times a step, as doubles."""
    # Multiplied first and divided last: 123 tenths are then the double nearest to 12.3, not one beside it.
    return np.asarray(integers, dtype=np.float64) * step.numerator / step.denominator


def is_about_population(statistic: Statistic) -> bool:
    """Whether its interval is about the population that the people are a sample of."""
    return isinstance(statistic, OneRound) and statistic.of_population
