"""Distributions whose parameters are averaged over blocks of people: the theory of such averages, and their bounds.

A distribution is averaged on a scale on which estimates of blocks have no bias, or one that is known: `points` are on
it, with the parameters as the last axis. All of this is after the noise. `families.py` has the same distributions by
their statistics.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import inf, log, pi, sqrt
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from adomnia.methods.column_bins import ColumnBins, split_evenly
from adomnia.methods.contract import NumberColumn
from adomnia.methods.parts.likelihood.families import solve_shape
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import call, number
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.transforms.block_functions import LOCATED, POWERS
from adomnia.privacy.vectors import Polynomial, Variable, Vector
from adomnia.statistics.contract import Floats

LEAST_SHARE = Fraction(1, 2**16)  # of the upper bound: smaller numbers count as that where a logarithm is taken
_MOST_STEPS = 2**30  # of a grid: finer ones are rounded, so that squares can be added up exactly
_FINEST = 2**40  # parts of one, to which ends of logarithms are rounded
_LEAST_PART = 2.0**-21  # of the width of the bounds: no deviation is smaller, as no step is
_GAPS = (1e-5, 8.0)  # of a gamma distribution: shapes of 0.1 to 50,000
_LOG_SHAPES = (-4.0, 5.0)  # of a Weibull distribution: shapes of 0.02 to 150
_POINTS = 1001  # of a quadrature
_LEAST_ROWS = 12.0  # of a block, of any distribution
_ROWS_BY_SKEWNESS = 4.0  # times its square: then clamping far out takes as much from both sides


class BlockDistribution(ABC):
    """A distribution: its parameters, and how their averages over blocks behave."""

    name: ClassVar[str]
    terms: ClassVar[tuple[str, ...]]
    positive: ClassVar[bool] = False  # whether values must be above zero because their logarithm is taken
    least: ClassVar[float] = 0.0  # the lower end of its values
    whole: ClassVar[bool] = False  # whether its values are whole numbers
    # By how much the variance of an average is larger than that of the estimate from all rows, times the block's rows.
    excess: ClassVar[float] = 0.0
    bins: ClassVar[int] = 0  # in which the rows of each block are counted, where no sums are enough

    @abstractmethod
    def limits(self, bounds: Numbers) -> tuple[tuple[float, float], ...]:
        """Between which numbers each parameter is, where values are within these bounds."""

    @abstractmethod
    def deviations(self, points: Floats) -> Floats:
        """The standard deviation of the estimate from n rows, times the root of n, as n grows."""

    @abstractmethod
    def skewness(self, points: Floats) -> Floats:
        """The skewness of the estimate from n rows, times the root of n."""

    @abstractmethod
    def parameters(self, points: Floats) -> Floats:
        """The parameters as they are reported."""

    def floor(self, points: Floats, _rows: float) -> Floats:
        """The nearest points that so many rows can tell from none."""
        return points

    def spread(self, points: Floats, errors: Floats) -> Floats:
        """The standard errors of the reported parameters from those of the points, as far as they are small."""
        found = np.zeros(len(self.terms))
        for place, error in enumerate(errors):
            step = np.zeros_like(points)
            step[place] = error / 2
            found += (self.parameters(points + step) - self.parameters(points - step)) ** 2
        return np.sqrt(found)

    def interval(self, points: Floats, reach: Floats, limits: Floats) -> tuple[Floats, Floats]:
        """The parameters at the ends of intervals of the points; each follows from one point alone."""
        ends = [self.parameters(np.clip(points + side * reach, *limits.T)) for side in (-1, 1)]
        return np.minimum(*ends), np.maximum(*ends)

    def least_rows(self, points: Floats) -> float:
        """How many rows a block needs, for its estimates to lie evenly enough about their mean."""
        return _LEAST_ROWS + _ROWS_BY_SKEWNESS * float(np.max(self.skewness(points) ** 2))

    @property
    def located(self) -> tuple[str, ...]:
        """The scale on which estimates are counted in bins, of each parameter."""
        return LOCATED[self.name]


class BernoulliBlocks(BlockDistribution):
    """Yes or no: the probability of a 1."""

    name, terms, whole = "bernoulli", ("probability",), True

    def limits(self, _bounds: Numbers) -> tuple[tuple[float, float], ...]:
        return ((0.0, 1.0),)

    def deviations(self, points: Floats) -> Floats:
        return np.sqrt(points * (1 - points))

    def skewness(self, points: Floats) -> Floats:
        return (1 - 2 * points) / np.sqrt(points * (1 - points))

    def parameters(self, points: Floats) -> Floats:
        return np.clip(points, 0.0, 1.0)

    def floor(self, points: Floats, rows: float) -> Floats:
        return np.clip(points, 1 / rows, 1 - 1 / rows)


class PoissonBlocks(BlockDistribution):
    """Numbers of events: their mean."""

    name, terms, whole = "poisson", ("mean",), True

    def limits(self, bounds: Numbers) -> tuple[tuple[float, float], ...]:
        return ((float(bounds.lower), float(bounds.upper)),)

    def deviations(self, points: Floats) -> Floats:
        return np.sqrt(points)

    def skewness(self, points: Floats) -> Floats:
        return np.asarray(1 / np.sqrt(points))

    def parameters(self, points: Floats) -> Floats:
        return np.maximum(points, 0.0)

    def floor(self, points: Floats, rows: float) -> Floats:
        return np.maximum(points, 1 / rows)


class ExponentialBlocks(BlockDistribution):
    """Waiting times: their rate. What is averaged is the mean, whose estimate has no bias."""

    name, terms = "exponential", ("rate",)

    def limits(self, bounds: Numbers) -> tuple[tuple[float, float], ...]:
        return ((float(bounds.upper) * _LEAST_PART, float(bounds.upper)),)

    def deviations(self, points: Floats) -> Floats:
        return points.copy()

    def skewness(self, points: Floats) -> Floats:
        return np.full_like(points, 2.0)

    def parameters(self, points: Floats) -> Floats:
        return np.asarray(1 / np.maximum(points, 1e-300))


class NormalBlocks(BlockDistribution):
    """The normal distribution: its mean mu and its standard deviation sigma."""

    name, terms, least, excess = "normal", ("mu", "sigma"), -inf, 1.25

    def limits(self, bounds: Numbers) -> tuple[tuple[float, float], ...]:
        lower, upper = float(bounds.lower), float(bounds.upper)
        return (lower, upper), ((upper - lower) * _LEAST_PART, (upper - lower) / 2)

    def deviations(self, points: Floats) -> Floats:
        return np.stack([points[..., 1], points[..., 1] / sqrt(2)], axis=-1)

    def skewness(self, points: Floats) -> Floats:
        return np.broadcast_to(np.array([0.0, sqrt(0.5)]), points.shape)

    def parameters(self, points: Floats) -> Floats:
        return np.stack([points[..., 0], np.maximum(points[..., 1], 0.0)], axis=-1)


class LognormalBlocks(NormalBlocks):
    """Values whose logarithm is normal with mean mu and standard deviation sigma."""

    name, least, positive = "lognormal", 0.0, True

    def limits(self, bounds: Numbers) -> tuple[tuple[float, float], ...]:
        lower, upper = log(float(bounds.lower)), log(float(bounds.upper))
        return (lower, upper), ((upper - lower) * _LEAST_PART, (upper - lower) / 2)


class GammaBlocks(BlockDistribution):
    """The gamma distribution: its shape and its scale. Averaged are the mean, and ln(mean) less the mean of ln(x)."""

    name, terms, positive, excess = "gamma", ("shape", "scale"), True, 1.0

    def limits(self, bounds: Numbers) -> tuple[tuple[float, float], ...]:
        return (float(bounds.lower), float(bounds.upper)), _GAPS

    def deviations(self, points: Floats) -> Floats:
        from scipy.special import zeta

        shape = self._shape(points)
        return np.stack([points[..., 0] / np.sqrt(shape), np.sqrt(np.maximum(zeta(2, shape) - 1 / shape, 1e-300))], -1)

    def skewness(self, points: Floats) -> Floats:
        shape = self._shape(points)
        return np.stack([2 / np.sqrt(shape), np.full_like(shape, 2.0)], axis=-1)

    def parameters(self, points: Floats) -> Floats:
        shape = self._shape(points)
        return np.stack([shape, np.maximum(points[..., 0], 0.0) / shape], axis=-1)

    def interval(self, points: Floats, reach: Floats, limits: Floats) -> tuple[Floats, Floats]:
        """Of the scale on its logarithm, from both: estimates of the mean and of the shape are independent.

        Each side by itself: at the end of its limits, a point has all of its interval on one side.
        """
        (least, *_), (most, *_) = super().interval(points, reach, limits)
        shape, scale = self.parameters(points)
        low, high = np.clip(points[0] + reach[0] * np.array([-1, 1]), *limits[0])
        less = np.hypot(np.log(points[0] / low), np.log(most / shape))
        more = np.hypot(np.log(high / points[0]), np.log(shape / least))
        return np.array([least, scale * np.exp(-less)]), np.array([most, scale * np.exp(more)])

    @staticmethod
    def _shape(points: Floats) -> Floats:
        return solve_shape(points[..., 1])


class WeibullBlocks(BlockDistribution):
    """The Weibull distribution: its shape and its scale. Averaged are their logarithms, from rows in bins of ln(x)."""

    name, terms, positive, excess, bins = "weibull", ("shape", "scale"), True, 2.0, 64

    def limits(self, bounds: Numbers) -> tuple[tuple[float, float], ...]:
        return (log(float(bounds.lower)), log(float(bounds.upper))), _LOG_SHAPES

    def deviations(self, points: Floats) -> Floats:
        # The information of the Gumbel distribution, in units of 1 / shape: Johnson, Kotz & Balakrishnan 1994.
        return np.stack([sqrt(1.1087) * np.exp(-points[..., 1]), np.full_like(points[..., 1], sqrt(0.6079))], axis=-1)

    def skewness(self, points: Floats) -> Floats:
        return np.broadcast_to(np.array([-0.5, 0.5]), points.shape)

    def parameters(self, points: Floats) -> Floats:
        return np.exp(np.clip(points[..., ::-1], -600.0, 600.0))

    def least_rows(self, _points: Floats) -> float:
        return 40.0  # of smaller blocks, the bias of second order would be seen


class NormalMixtureBlocks(BlockDistribution):
    """Two normal distributions: the part of the lower one, both means in their order, and both deviations."""

    name, excess, bins = "normal mixture", 20.0, 64
    terms = ("weight1", "mu1", "mu2", "sigma1", "sigma2")
    least = -inf

    def limits(self, bounds: Numbers) -> tuple[tuple[float, float], ...]:
        lower, upper = float(bounds.lower), float(bounds.upper)
        spread = (log((upper - lower) / self.bins / 4), log((upper - lower) / 2))
        return (0.01, 0.99), (lower, upper), (lower, upper), spread, spread

    def deviations(self, points: Floats) -> Floats:
        """From Fisher's information, by quadrature."""
        parts, means, sigmas = np.array([points[0], 1 - points[0]]), points[1:3], np.exp(points[3:])
        ends = (means - 8 * sigmas).min(), (means + 8 * sigmas).max()
        values = np.linspace(*ends, _POINTS)
        away = (values - means[:, None]) / sigmas[:, None]
        single = np.exp(-0.5 * away**2) / (sigmas[:, None] * sqrt(2 * pi))
        weighed = parts[:, None] * single
        slopes = np.vstack([single[0] - single[1], weighed * away / sigmas[:, None], weighed * (away**2 - 1)])
        scores = slopes / np.sqrt(np.maximum(weighed.sum(axis=0), 1e-300))
        information = scores @ scores.T * (values[1] - values[0])
        inverse: Floats = np.linalg.pinv(information, rcond=1e-9)
        return np.sqrt(np.maximum(np.diag(inverse), 1e-12))

    def skewness(self, points: Floats) -> Floats:
        return np.zeros_like(points)

    def parameters(self, points: Floats) -> Floats:
        return np.concatenate([points[..., :3], np.exp(np.clip(points[..., 3:], -600.0, 600.0))], axis=-1)

    def least_rows(self, _points: Floats) -> float:
        return 200.0  # of smaller blocks, parts are often taken for one another


DISTRIBUTIONS: Mapping[str, BlockDistribution] = MappingProxyType(
    {
        each.name: each
        for each in (
            BernoulliBlocks(),
            PoissonBlocks(),
            ExponentialBlocks(),
            NormalBlocks(),
            LognormalBlocks(),
            GammaBlocks(),
            WeibullBlocks(),
            NormalMixtureBlocks(),
        )
    }
)


def bounds_of(column: NumberColumn, distribution: BlockDistribution) -> Numbers:
    """Between which values count; beyond them, as the nearest. Where a logarithm is taken they start above zero."""
    domain = column.domain
    if domain.width > _MOST_STEPS:
        domain = Numbers.bounded(domain.lower, domain.upper)
    if not distribution.positive or domain.lower > 0:
        return domain
    kind = column.value.kind
    if domain.step == 1 and isinstance(kind, Quantity) and kind.whole:
        return Numbers(1, domain.upper, 1)
    return Numbers.bounded(domain.upper * LEAST_SHARE, domain.upper)


def vector_of(column: NumberColumn, distribution: BlockDistribution) -> Vector:
    """What is added up in each block: rows, and powers of the value or of its logarithm."""
    bounds = bounds_of(column, distribution)
    observed = {"lognormal": ("ln",), "gamma": ("x", "ln")}.get(distribution.name, ("x",))
    variables = tuple(_observe(column, bounds, name) for name in observed)
    rows = Polynomial(((1, (0,) * len(variables)),))
    powers = [
        Polynomial(((1, tuple(power if each == place else 0 for each in range(len(variables)))),))
        for place, most in enumerate(POWERS[distribution.name])
        for power in range(1, most + 1)
    ]
    return Vector(variables, (rows, *powers))


def bins_of(column: NumberColumn, distribution: BlockDistribution) -> ColumnBins:
    """In which bins the rows of each block are counted: of the values, or of their logarithms."""
    bounds = bounds_of(column, distribution)
    seen = _observe(column, bounds, "ln" if distribution.positive else "x")
    return split_evenly(NumberColumn(column.name, seen.value, seen.domain), distribution.bins)


def _observe(column: NumberColumn, bounds: Numbers, name: str) -> Variable:
    if name == "x":
        return Variable(column.value, bounds)
    inside = call("clamp", column.value, number(bounds.lower), number(bounds.upper))
    ends = (Fraction(log(float(end))).limit_denominator(_FINEST) for end in (bounds.lower, bounds.upper))
    return Variable(call("ln", inside), Numbers.bounded(*ends))


SCALES: Mapping[str, tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]] = MappingProxyType(
    {
        # Onto the scale that is located, and its derivative.
        "same": (lambda values: values, np.ones_like),
        "share": (lambda values: values, np.ones_like),
        "even": (lambda values: values, np.ones_like),
        "root": (lambda values: np.sqrt(np.maximum(values, 0.0)), lambda values: 0.5 / np.sqrt(values)),
        "log": (lambda values: np.log(np.maximum(values, 1e-300)), lambda values: 1 / values),
    }
)
BACK: Mapping[str, Callable[[Floats], Floats]] = MappingProxyType(
    {
        "same": lambda values: values,
        "share": lambda values: values,
        "even": lambda values: values,
        "root": np.square,
        "log": np.exp,
    }
)
