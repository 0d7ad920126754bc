"""Statistics of one value, or of a pair, from a single measurement of sums that add up to the number of rows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import ClassVar, TypeAlias

import numpy as np

from adomnia.distributions.quotients import Quotient
from adomnia.distributions.ratios import share_bounds
from adomnia.privacy.hashing import hashed_once
from adomnia.privacy.keys import Key
from adomnia.privacy.queries import Aggregate, Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Rows, Total
from adomnia.statistics.bernstein import BernsteinSums, bernstein_vector
from adomnia.statistics.contract import Bounds, Derivation, Estimate, Floats, Measured, Statistic
from adomnia.statistics.correlation import Correlation
from adomnia.statistics.count import Count
from adomnia.statistics.covariance import Covariance, change_other
from adomnia.statistics.linear import linear
from adomnia.statistics.mean import Mean
from adomnia.statistics.moments import rounding_of
from adomnia.statistics.one_round import OneRound
from adomnia.statistics.sum import Sum
from adomnia.statistics.variance import Variance

Inner: TypeAlias = Count | Sum | Mean | Variance | Covariance | Correlation

_MOST_WIDE = 1000  # cells of nine sums, whose noise is drawn in integers beyond 64 bits: half a second
_METHODS = {
    1: "noisy distances from both ends of the bounds, measured as one",
    2: "noisy sums of products of distances from both ends of the bounds, measured as one",
}


@hashed_once
@dataclass(frozen=True)
class Joint(OneRound):
    """Another statistic, from sums of Bernstein polynomials of its values that are measured as one vector.

    Method      of a value between its bounds, the distances from both ends (degree 1) or their products (degree 2); of
                a pair, all products of one of each. None is negative and those of a row add up to the same number
                whatever it holds. `absent`: rows without the value are one more of these sums.
    Guarantee   one measurement at the whole price: a person moves all sums together by as much as one count.
    Bias        as that of the statistic itself.
    Cite        Awan & Slavkovic 2021 (the norm that suits a statistic); Bernstein 1912 (the polynomials).
    """

    tag: ClassVar[str] = "Joint"
    inner: Inner
    totals: tuple[Total, ...]
    degree: int
    absent: bool = False

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def query(self) -> Query:  # type: ignore[override]  # of OneRound, where it is a field
        return self.inner.query

    @property
    def operands(self) -> tuple[Aggregate | Fraction, ...]:
        return self.inner.operands

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        return (replace(self.query, aggregate=bernstein_vector(self.totals, self.degree, self.absent)),)

    def map_queries(self, change: Callable[[Query], Query]) -> "Joint":
        totals = tuple(change_other(self.query, total, change) for total in self.totals)
        return replace(self, inner=self.inner.map_queries(change), totals=totals)

    def estimate(self, *measured: Measured) -> Estimate:
        vector = bernstein_vector(self.totals, self.degree, self.absent)
        sums = BernsteinSums(self.totals, self.degree, vector, *measured)
        match self.inner:
            case Count(query=Query(aggregate=aggregate)):
                counted = linear(sums.count_parts(all_rows=aggregate == Rows()), self._method)
                return replace(_to_integers(counted), unsigned=True)
            case Sum():
                total = replace(linear(sums.sum_parts(), self._method), unsigned=True)
                return _to_integers(total) if self.totals[0].domain.step.denominator == 1 else total
            case Mean():
                return _estimate_mean(sums, self._method)
        return replace(self.inner.from_moments(sums), method=self._method)

    @property
    def _method(self) -> str:
        return _METHODS[min(2, self.degree * len(self.totals))]


def _to_integers(estimate: Estimate) -> Estimate:
    """The estimate of a whole number: the nearest one, and as far around it as the exact one can be."""
    values = np.rint(estimate.values) + 0.0  # no -0

    def interval(confidence: float, cells: int) -> Bounds:
        lower, upper = estimate.interval(confidence, cells)
        reach = np.floor((upper - lower) / 2 + 0.5)  # rounding moves by one half at most
        return values - reach, values + reach

    return replace(estimate, values=values, interval=interval, whole=True)


def _estimate_mean(sums: BernsteinSums, method: str) -> Estimate:
    """The mean, within its bounds whatever the noise."""
    total, grid = sums.totals[0], sums.vector.variables[0].domain
    found, rows = sums.scaled_total(), sums.rows()
    # From the middle on, so that a number of rows that is all noise leads there and not to one of the ends.
    shares = np.clip(0.5 + (found.values - rows.values / 2) / np.maximum(rows.values, 1.0), *sums.limits)
    rounding = rounding_of(total, grid) / float(grid.step)
    quotient = Quotient(found, rows, (rows,), sums.limits, sums.noises)

    limits = float(total.domain.lower), float(total.domain.upper)

    def scale(share: Floats, steps: float = 0.0) -> Floats:
        return (share * sums.widths[0] + grid.grid_lower + steps) * float(grid.step)

    def number(share: Floats, steps: float = 0.0) -> Floats:
        return np.clip(scale(share, steps), *limits)

    def compute(values: Sequence[Floats]) -> tuple[Floats, ...]:
        moved = sums.with_sums(values)
        rows = moved.rows().values
        return scale(moved.scaled_total().values / np.maximum(rows, 1.0)), rows

    def interval(confidence: float, cells: int) -> Bounds:
        if sums.degree > 1:
            lower, upper = quotient.bounds(confidence, cells)
        else:
            below, above, *_ = sums.measured.entries
            lower, upper = share_bounds(above, below, confidence, cells)
        return number(np.minimum(lower, shares), -rounding), number(np.maximum(upper, shares), rounding)

    derivation = Derivation(sums.sums, compute, limits, np.asarray(rounding * float(grid.step)))
    return Estimate(number(shares), interval, method, derivation=derivation)


def find_joint(statistics: Iterable[Statistic], *, counting: bool) -> Mapping[Statistic, Statistic]:
    """Statistics that are better measured together, each with its joint form: docs/decisions/0020.

    A mean or a spread of a value or a pair; a sum and the number of values where they stand beside each other or beside
    those. With `counting` the number of all rows too, beside the first value that is measured so.
    """
    listed = list(dict.fromkeys(statistics))
    wanted: dict[_Values, list[Inner]] = {}
    for each in listed:
        if isinstance(each, Inner) and (found := _values_of(each, listed)) is not None:
            wanted.setdefault(found, []).append(each)
    wanted = {values: each for values, each in wanted.items() if len(each) > 1 or not isinstance(each[0], Sum | Count)}
    joint: dict[Statistic, Statistic] = {}
    for values, together in wanted.items():
        rows = _rows_beside(values, listed, joint) if counting else []
        degree = max(_degree_of(each) for each in together)
        joint |= {each: Joint(each, values.totals, degree, bool(rows)) for each in (*together, *rows)}
    return joint


@dataclass(frozen=True)
class _Values:
    """The rows and the values that statistics are about."""

    relation: Relation
    keys: tuple[Key, ...]
    totals: tuple[Total, ...]


def _values_of(statistic: Inner, beside: list[Statistic]) -> _Values | None:
    """What it is about, if that can be measured jointly: of a count of values, what else is about them."""
    query = statistic.query
    match statistic:
        case Correlation() if prod(query.shape) > _MOST_WIDE:
            return None
        case Covariance() | Correlation():
            # Whichever is named first: both orders are one measurement.
            totals = tuple(sorted((query.total, statistic.other), key=repr))
        case Mean() | Sum() | Variance():
            totals = (query.total,)
        case Count():
            others = (each.query for each in beside if isinstance(each, Mean | Sum | Variance))
            alike = (each.total for each in others if (each.relation, each.keys) == (query.relation, query.keys))
            totals = tuple(total for total in alike if total.value == query.aggregate.counted)[:1]
    return _Values(query.relation, query.value_keys, totals) if totals else None


def _rows_beside(values: _Values, listed: list[Statistic], joint: Mapping[Statistic, Statistic]) -> list[Inner]:
    """The count of all the rows that a value is measured of, unless another value has it."""
    same = (each for each in listed if isinstance(each, Count) and each.query.aggregate == Rows())
    alike = (each for each in same if (each.query.relation, each.query.keys) == (values.relation, values.keys))
    return [each for each in alike if len(values.totals) == 1 and each not in joint]


def _degree_of(statistic: Inner) -> int:
    """The degree of each value that a statistic needs."""
    return 2 if isinstance(statistic, Variance | Correlation) else 1
