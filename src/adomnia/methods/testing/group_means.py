"""The means of a column in several groups, and what would be measured of them if they did not differ."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adomnia.methods.contract import Factor, NumberColumn
from adomnia.methods.testing.moments import GroupMoments, Scale, SimulatedPeople, read_moments
from adomnia.methods.testing.null_law import NullLaw, count_draws
from adomnia.noise.afterwards import follow
from adomnia.privacy.queries import Query
from adomnia.statistics.contract import Bounds, Floats, Measured

LEAST_ERROR = 1e-300  # squared standard errors are divided by


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
        """What would be measured if the null hypothesis held, many times."""
        return self.simulate(self.null_means)

    def simulate(self, means: Floats) -> GroupMoments:
        """What would be measured of groups with these means, many times."""
        people = SimulatedPeople(np.maximum(self.found.sums[..., 0], 0.0), means, self.found.variances)
        draws = count_draws(5 * len(self.shifts), self.by)
        return people.measure(self.query, self.measured, follow([self.measured.values], "means of groups"), draws)

    @property
    def values(self) -> Floats:
        """The mean of each group, within its bounds."""
        return self.scale.to_values(np.clip(self.found.means, -1.0, 1.0))

    def intervals(self, confidence: float, cells: int) -> Bounds:
        """Intervals of the mean of each group."""
        off = self.simulated.studentize(self.null_means)
        distances = [NullLaw(off[:, place]).distance(confidence, cells) for place in range(len(self.shifts))]
        return self.to_values(self.found.mean_intervals(np.array(distances)))

    def to_values(self, ends: Bounds) -> Bounds:
        """The ends of intervals of z as values."""
        lower, upper = (np.atleast_1d(self.scale.to_values(end)) for end in ends)
        return lower, upper
