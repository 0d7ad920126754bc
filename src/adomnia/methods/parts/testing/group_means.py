"""Means and differences of columns, and what would be measured of them if groups did not differ."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm

import numpy as np

from adomnia.distributions.simulations import Generator
from adomnia.methods.contract import Factor, NumberColumn
from adomnia.methods.parts.testing.moments import GroupMoments, Scale, SimulatedPeople, draw_noise, read_moments
from adomnia.methods.parts.testing.null_distribution import NullDistribution, count_draws
from adomnia.noise.afterwards import follow
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import call, number
from adomnia.privacy.queries import Query
from adomnia.statistics.contract import Bounds, Floats, Measured

LEAST_ERROR = 1e-300  # squared standard errors are divided by
_MOST_STEPS = 2**30  # of a difference: what is measured of it is rounded to about so many


@dataclass(frozen=True)
class GroupMeans:
    """Noisy sums of groups. Under the null hypothesis their means are one number plus `shifts`, in z."""

    column: NumberColumn
    query: Query
    measured: Measured
    shifts: tuple[float, ...]
    by: tuple[Factor, ...]

    @cached_property
    def scale(self) -> Scale:
        """How z stands for values."""
        return Scale.of(self.column)

    @property
    def limits(self) -> tuple[float, float]:
        """Between which values the means are."""
        low, high = self.scale.to_values(np.array([-1.0, 1.0])).tolist()
        return low, high

    @cached_property
    def found(self) -> GroupMoments:
        """What was measured."""
        return read_moments(self.query, self.measured)

    @cached_property
    def null_means(self) -> Floats:
        """The means that fit best under the null hypothesis; each group keeps its own variance."""
        weights = 1 / np.maximum(self.found.errors, LEAST_ERROR)
        shifts = np.asarray(self.shifts)
        return np.clip(shifts + float(weights @ (self.found.means - shifts) / weights.sum()), -1.0, 1.0)

    @cached_property
    def simulated(self) -> GroupMoments:
        """What would be measured if the null hypothesis held, many times: of variances that the noise allows for."""
        generator = follow([self.measured.values], "means of groups")
        squares, _ = self.found.allow(self._draw_noise(generator), generator)
        rows = np.maximum(self.found.sums[..., 0], 0.0)
        people = SimulatedPeople(rows, self.null_means, squares / np.maximum(self.found.rows - 1, 1.0))
        return people.measure(self.query, self.measured, generator, len(squares))

    def deviate(self, means: Floats) -> Floats:
        """How many standard errors the sum of each group would be above that of these means, many times."""
        generator = follow([self.measured.values], "sums of groups")
        return self.found.deviate(self._draw_noise(generator), means, generator)

    def _draw_noise(self, generator: Generator) -> Floats:
        shape = count_draws(5 * len(self.shifts), self.by), len(self.shifts)
        return draw_noise(self.query, self.measured, generator, shape)

    @property
    def values(self) -> Floats:
        """The mean of each group, within its bounds."""
        return self.scale.to_values(np.clip(self.found.means, -1.0, 1.0))

    def intervals(self, confidence: float, cells: int) -> Bounds:
        """Intervals of the mean of each group."""
        off = self.deviate(self.null_means)
        distances = [NullDistribution(off[:, place]).distance(confidence, cells) for place in range(len(self.shifts))]
        return self.to_values(self.found.mean_intervals(np.array(distances)))

    def to_values(self, ends: Bounds) -> Bounds:
        """The ends of intervals of z as values."""
        lower, upper = (np.atleast_1d(self.scale.to_values(end)) for end in ends)
        return lower, upper


def subtract(column: NumberColumn, other: NumberColumn) -> NumberColumn:
    """The difference of two columns of a row, on the finer grid of both: that of whole numbers alone would round it."""
    lower = column.domain.lower - other.domain.upper
    upper = column.domain.upper - other.domain.lower
    step, coarser = sorted((column.domain.step, other.domain.step))
    while step < coarser and upper - lower > _MOST_STEPS * step:
        step = min(2 * step, coarser)
    return NumberColumn(
        f"{column.name} - {other.name}", call("-", column.value, other.value), Numbers(lower, upper, step)
    )


def subtract_number(column: NumberColumn, mu: Fraction) -> NumberColumn:
    """How far a column is above a number, on a grid that has this number too, unless that would be too fine."""
    lower, upper, step = column.domain.lower - mu, column.domain.upper - mu, column.domain.step
    below = lcm(step.denominator, mu.denominator)
    both = Fraction(gcd(int(step * below), int(mu * below)), below)
    step = both if upper - lower <= _MOST_STEPS * both else step
    value = column.value if mu == 0 else call("-", column.value, number(mu))
    name = column.name if mu == 0 else f"{column.name} - {float(mu):g}"
    return NumberColumn(name, value, Numbers(lower, upper, step))


def size_of(difference: NumberColumn) -> NumberColumn:
    """How large a difference is, whatever its sign."""
    domain = difference.domain
    lower, upper = domain.lower, domain.upper
    least = Fraction(0) if lower <= 0 <= upper else min(abs(lower), abs(upper))
    sizes = Numbers(least, max(abs(lower), abs(upper)), domain.step)
    return NumberColumn(f"size of {difference.name}", call("abs", difference.value), sizes)
