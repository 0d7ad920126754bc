"""What is measured of a column for a family of distributions: noisy sums of its sufficient statistics, as one vector.

The vector holds the Bernstein polynomials of the statistics, which add up to one in every row (docs/decisions/0020), so
that the number of rows is there too. Rows that a logarithm excludes are counted apart at no price: a row is either
there or in the others.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import log, sqrt
from typing import ClassVar

import numpy as np

from adomnia.methods.contract import BadArgument, NumberColumn
from adomnia.methods.parts.likelihood.block_distributions import BlockDistribution
from adomnia.methods.parts.likelihood.families import FAMILIES, ExponentialFamily
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import call, number
from adomnia.privacy.keys import Bucket, Key
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Total
from adomnia.privacy.vectors import Vector
from adomnia.statistics.bernstein import bernstein_vector
from adomnia.statistics.contract import Floats, Measured

_LEAST_SHARE = Fraction(1, 2**16)  # of the upper bound: smaller numbers count as that where a logarithm is taken
_FINEST = Fraction(1, 2**40)  # of the grid that a least value is rounded to, at least one digit of a double
_RARELY = 200  # a window that noise alone has filled is found once in so many
_RATIO = 1.25  # between the widths that are tried
_SURE, _WITHIN_ONE = 0.35, 0.683  # of the blocks: surely in the first window, perhaps within one standard deviation
_WIDER = 1.5  # times the first window, on both sides: where blocks are averaged
_EVEN = 12  # the variance of a uniform distribution is its width squared over this


@dataclass(frozen=True)
class Sample:
    """A column taken for a sample of a distribution: its values between two bounds, and those that are left out."""

    tag: ClassVar[str] = "Sample"
    column: NumberColumn
    family_name: str

    @property
    def family(self) -> ExponentialFamily:
        """The family of distributions."""
        return FAMILIES[self.family_name]

    @cached_property
    def bounds(self) -> Numbers:
        """Between which values count; beyond them, as the nearest."""
        domain = self.column.domain
        if not self.family.positive or domain.lower > 0:
            return domain
        least = domain.upper * _LEAST_SHARE
        return Numbers(1, domain.upper, 1) if self._whole else Numbers.bounded(least, domain.upper)

    @property
    def excludes(self) -> bool:
        """Whether there may be values that the distribution cannot have, and that are left out."""
        return self.family.positive and self.column.domain.lower <= 0

    @property
    def clamps(self) -> bool:
        """Whether the distribution has values that the bounds have not."""
        return not self.bounds.lower <= self.family.least <= self.family.most <= self.bounds.upper

    @cached_property
    def vector(self) -> Vector:
        """What is added up."""
        return bernstein_vector(tuple(map(self._observe, self.family.observed)), self.family.degree, absent=False)

    def query(self, relation: Relation, keys: tuple[Key, ...]) -> Query:
        """The sums in each cell of the keys; those of rows left out before those of the others."""
        apart = (self._is_included,) if self.excludes else ()
        return Query(relation, (*keys, *apart), self.vector)

    @property
    def _whole(self) -> bool:
        kind = self.column.value.kind
        return self.column.domain.step == 1 and isinstance(kind, Quantity) and kind.whole

    @property
    def _is_included(self) -> Bucket:
        above = call(">", self.column.value, number(Fraction(0)))
        return Bucket(above, None, above)

    def _observe(self, name: str) -> Total:
        value, bounds = self.column.value, self.bounds
        if name == "x":
            return Total(value, bounds)
        inside = call("clamp", value, number(bounds.lower), number(bounds.upper))
        ends = (
            Fraction(log(float(end))).limit_denominator(_FINEST.denominator) for end in (bounds.lower, bounds.upper)
        )
        return Total(call("ln", inside), Numbers.bounded(*ends))


class StatisticSums:
    """The noisy sums of one group, in units where every statistic lies between 0 and 1."""

    def __init__(self, sample: Sample, measured: Measured) -> None:
        self.sample, self.family, vector = sample, sample.family, sample.vector
        values = measured.values[1] if sample.excludes else measured.values
        grids = [variable.domain for variable in vector.variables]
        widths = [max(1, grid.width) for grid in grids]
        whole = float(np.prod([float(width) for width in widths])) ** self.family.degree
        self.entries = np.asarray(values, dtype=np.float64) / whole
        self.excluded = float(np.sum(np.asarray(measured.values[0], np.float64))) / whole if sample.excludes else 0.0
        variance, fourth = measured.noise.continuous.cumulants
        self.noise, self.fourth = variance / whole**2, fourth / whole**4
        self.offsets = np.array([float(grid.grid_lower * grid.step) for grid in grids])
        self.widths = np.array([width * float(grid.step) for width, grid in zip(widths, grids, strict=True)])
        self.weights = _list_weights(len(grids), self.family.degree)

    @cached_property
    def rows(self) -> float:
        """How many rows count, with noise."""
        return float(self.entries.sum())

    @property
    def rows_deviation(self) -> float:
        """How far that is off."""
        return float(np.sqrt(len(self.entries) * self.noise))

    @cached_property
    def means(self) -> Floats:
        """The means of the statistics, between 0 and 1."""
        return np.clip(self.weights @ self.entries / max(self.rows, 1.0), 0.0, 1.0)

    def about(self, means: Floats) -> Floats:
        """The coefficients of the sums of statistics less such means: (..., statistics, entries)."""
        return np.asarray(self.weights - means[..., None])

    def noise_about(self, means: Floats) -> Floats:
        """The covariance of the noise on these sums."""
        about = self.about(means)
        return np.asarray(self.noise * about @ np.swapaxes(about, -1, -2))


def _list_weights(values: int, degree: int) -> Floats:
    """The coefficients of each statistic over the polynomials: of u, and of its square where that is one."""
    places = np.array(list(product(range(degree + 1), repeat=values)), dtype=np.float64).T
    first = places / degree
    return np.vstack([first, places * (places - 1) / (degree * (degree - 1))]) if degree > 1 else first


def check_values(column: NumberColumn, family: ExponentialFamily | BlockDistribution) -> None:
    """Refuses a column whose declared values are no values of the family."""
    domain, kind = column.domain, column.value.kind
    whole = domain.step == 1 and isinstance(kind, Quantity) and kind.whole
    if family.name == "bernoulli" and not (whole and domain.lower == 0 and domain.upper == 1):
        why = f"bernoulli is of 0 and 1, and {column.name} may have other values"
        raise BadArgument(
            "family", why, f"make it a condition in the brackets: SELECT {column.name} > 1 AS {column.name}"
        )
    if family.whole and not whole:
        why = f"{family.name} is of whole numbers, and {column.name} may have others"
        raise BadArgument("family", why, "name a column of whole numbers, or a family of all numbers")
    if domain.upper <= 0 and family.least == 0:
        why = f"{family.name} is of numbers above 0, and {column.name} has none"
        raise BadArgument("family", why, "ask for family => 'normal'")
    if domain.lower < family.least and not family.positive:
        why = f"{family.name} is of numbers from {family.least:g}, and {column.name} may be below"
        fix = f"cut it in the brackets: SELECT GREATEST({column.name}, 0) AS {column.name}"
        raise BadArgument("family", why, fix)
    if domain.width == 0:
        raise BadArgument("column", f"{column.name} has bounds that are equal", "name another column")


@dataclass(frozen=True)
class BlockPlace:
    """A middle in bins, how far noise may have moved it, and the least that blocks spread, both as deviations."""

    middle: float
    error: float
    spread: float


def locate(counts: Floats, deviation: float, blocks: int) -> BlockPlace | None:
    """Where most of so many blocks are, whose noisy counts are off by such a deviation; None where that is hidden.

    The narrowest window that surely holds many of them is found, and the mean of a wider one around it.
    """
    bins = len(counts)
    sums = np.concatenate([[0.0], np.cumsum(counts)])
    widths = sorted({min(bins, int(np.ceil(_RATIO**power))) for power in range(int(log(bins) / log(_RATIO)) + 2)})
    most = np.array([np.max(sums[width:] - sums[:-width]) for width in widths])
    # As many windows of a width are independent as fit side by side. A sum of Laplace noises exceeds this as rarely as
    # one part in that many, by Bernstein's inequality: its tails are those of one of them.
    rarely = np.log(_RARELY * bins / np.array(widths))
    away = deviation * (np.sqrt(2 * rarely * widths) + rarely / sqrt(2))
    sure = np.flatnonzero(most - away >= _SURE * blocks)
    if not len(sure):
        return None
    width = widths[int(sure[0])]
    start = int(np.argmax(sums[width:] - sums[:-width]))
    lower, upper = max(0, int(start - _WIDER * width)), min(bins, int(np.ceil(start + (1 + _WIDER) * width)))
    places = np.arange(lower, upper) + 0.5
    held = max(float(sums[upper] - sums[lower]), _SURE * blocks)
    middle = start + width / 2
    middle += float((places - middle) @ counts[lower:upper]) / held
    error = deviation * sqrt((upper - lower) ** 3 / _EVEN) / held
    # All bins hold all blocks: where noise has made even their sum too small, the widest window is taken.
    wide = np.flatnonzero(most + away >= _WITHIN_ONE * blocks)
    perhaps = widths[int(wide[0])] if len(wide) else bins
    # Two bins less: blocks next to an edge are in two of them, however little they spread.
    return BlockPlace(float(np.clip(middle, start, start + width)), error, max(0.0, (perhaps - 2) / 2))
