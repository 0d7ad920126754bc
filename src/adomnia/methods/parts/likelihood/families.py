"""Exponential families: a family is its sufficient statistics, their means, and how parameters follow from these.

The likelihood of independent values depends on them by the means of some statistics T(x) alone, and is largest where
the distribution has these means. Arrays of parameters have the shape (..., terms), those of means (..., statistics),
and covariances (..., statistics, statistics). Nothing raises, and nothing is infinite or no number, whatever the means:
they are moved to the nearest ones that a distribution of the family has. Cite: Barndorff-Nielsen 1978.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from math import inf
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from adomnia.statistics.contract import Floats

_TINY = 1e-9  # the least rate, deviation or mean above zero, and how near to 1 a probability is
_HUGE = 1e300
_SHAPES = (1e-3, 1e6)  # of a gamma distribution
_STEPS = 6  # of Newton's method, which has all digits after four


class ExponentialFamily(ABC):
    """A family of distributions of one number, by its sufficient statistics."""

    name: ClassVar[str]
    terms: ClassVar[tuple[str, ...]]  # its parameters
    ranges: ClassVar[tuple[tuple[float, float], ...]]  # of each parameter
    observed: ClassVar[tuple[str, ...]] = ("x",)  # which functions of a value: itself or its logarithm
    degree: ClassVar[int] = 1  # up to which power of them is a statistic
    least: ClassVar[float] = 0.0  # the lower end of its values
    most: ClassVar[float] = inf  # and the upper one
    whole: ClassVar[bool] = False  # whether its values are whole numbers

    @abstractmethod
    def estimate(self, means: Floats) -> Floats:
        """The maximum-likelihood parameters where the statistics have these means."""

    @abstractmethod
    def means(self, points: Floats) -> Floats:
        """The means of the statistics."""

    @abstractmethod
    def covariance(self, points: Floats) -> Floats:
        """The covariance of the statistics of one value."""

    @abstractmethod
    def slopes(self, points: Floats) -> Floats:
        """The derivatives of the parameters by the means: (..., terms, statistics)."""

    @abstractmethod
    def below(self, points: Floats, values: Floats) -> Floats:
        """The probability of a value that is at most this."""

    @property
    def positive(self) -> bool:
        """Whether values must be above zero because their logarithm is taken."""
        return "ln" in self.observed

    def gap(self, _means: Floats, /) -> tuple[Floats, Floats] | None:
        """What of the means must be above zero, and its derivatives by them; None where nothing must."""
        return None

    def variance(self, points: Floats) -> Floats:
        """The covariance of the estimate from n exact values, times n, as n grows: Fisher's information, inverted."""
        slopes = self.slopes(points)
        return np.asarray(slopes @ self.covariance(points) @ np.swapaxes(slopes, -1, -2))

    def complete(self, _term: int, value: Floats, _free: Floats, /) -> Floats:
        """The distribution with that value of one parameter. `free` is the deviation if that is mu, else the mean."""
        return value[..., None]

    def shift(self, points: Floats, _offset: float, _width: float, /) -> Floats:
        """The distribution of offset + width * y, where y is observed; only the normal family has one."""
        return points


class OneStatistic(ExponentialFamily):
    """A family of one parameter, whose statistic is the value itself: all follows from its mean."""

    means_range: ClassVar[tuple[float, float]] = (_TINY, _HUGE)

    @abstractmethod
    def _parameter(self, mean: Floats) -> Floats:
        """The parameter of the distribution of that mean."""

    @abstractmethod
    def _mean(self, parameter: Floats) -> Floats:
        """The mean of the distribution of that parameter."""

    @abstractmethod
    def _variance(self, parameter: Floats) -> Floats:
        """The variance of one value."""

    @abstractmethod
    def _slope(self, parameter: Floats) -> Floats:
        """The derivative of the parameter by the mean."""

    def estimate(self, means: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return np.clip(self._parameter(np.clip(means, *self.means_range)), *self.ranges[0])

    def means(self, points: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return self._mean(np.clip(points, *self.ranges[0]))

    def covariance(self, points: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return self._variance(np.clip(points, *self.ranges[0]))[..., None]

    def slopes(self, points: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return self._slope(np.clip(points, *self.ranges[0]))[..., None]


class BernoulliFamily(OneStatistic):
    """Yes or no: the probability of a 1."""

    name, terms, ranges, whole = "bernoulli", ("probability",), ((0.0, 1.0),), True
    means_range, most = (0.0, 1.0), 1.0

    def _parameter(self, mean: Floats) -> Floats:
        return mean

    def _mean(self, parameter: Floats) -> Floats:
        return parameter

    def _variance(self, parameter: Floats) -> Floats:
        return parameter * (1 - parameter)

    def _slope(self, parameter: Floats) -> Floats:
        return np.ones_like(parameter)

    def below(self, points: Floats, values: Floats) -> Floats:
        return np.where(values >= 1, 1.0, np.where(values >= 0, 1 - points[..., 0], 0.0))


class PoissonFamily(OneStatistic):
    """Numbers of events: their mean."""

    name, terms, ranges, whole = "poisson", ("mean",), ((_TINY, _HUGE),), True

    def _parameter(self, mean: Floats) -> Floats:
        return mean

    def _mean(self, parameter: Floats) -> Floats:
        return parameter

    def _variance(self, parameter: Floats) -> Floats:
        return parameter

    def _slope(self, parameter: Floats) -> Floats:
        return np.ones_like(parameter)

    def below(self, points: Floats, values: Floats) -> Floats:
        from scipy.special import pdtr

        return np.where(values < 0, 0.0, pdtr(np.maximum(values, 0), points[..., 0]))


class GeometricFamily(OneStatistic):
    """Numbers of failures before the first success, as in R: the probability of success."""

    name, terms, ranges, whole = "geometric", ("probability",), ((_TINY, 1.0),), True
    means_range = (0.0, _HUGE)

    def _parameter(self, mean: Floats) -> Floats:
        return 1 / (1 + mean)

    def _mean(self, parameter: Floats) -> Floats:
        return 1 / parameter - 1

    def _variance(self, parameter: Floats) -> Floats:
        return (1 - parameter) / parameter**2

    def _slope(self, parameter: Floats) -> Floats:
        return -(parameter**2)

    def below(self, points: Floats, values: Floats) -> Floats:
        from scipy.special import xlog1py

        return np.asarray(-np.expm1(xlog1py(np.maximum(np.floor(values) + 1, 0.0), -points[..., 0])))


class ExponentialDistributionFamily(OneStatistic):
    """Waiting times: their rate, which is 1 / mean."""

    name, terms, ranges = "exponential", ("rate",), ((_TINY, _HUGE),)

    def _parameter(self, mean: Floats) -> Floats:
        return 1 / mean

    def _mean(self, parameter: Floats) -> Floats:
        return 1 / parameter

    def _variance(self, parameter: Floats) -> Floats:
        return np.asarray(1 / parameter**2)

    def _slope(self, parameter: Floats) -> Floats:
        return -(parameter**2)

    def gap(self, means: Floats, /) -> tuple[Floats, Floats]:
        return means[..., 0], np.ones_like(means)

    def below(self, points: Floats, values: Floats) -> Floats:
        return -np.expm1(-points[..., 0] * np.maximum(values, 0))


class NormalFamily(ExponentialFamily):
    """The normal distribution: its mean mu and its standard deviation sigma."""

    name, terms, ranges = "normal", ("mu", "sigma"), ((-_HUGE, _HUGE), (_TINY, _HUGE))
    degree, least = 2, -inf

    def estimate(self, means: Floats) -> Floats:
        with np.errstate(all="ignore"):
            spread = np.sqrt(np.maximum(means[..., 1] - means[..., 0] ** 2, _TINY**2))
        return np.stack([means[..., 0], np.clip(spread, *self.ranges[1])], axis=-1)

    def means(self, points: Floats) -> Floats:
        return np.stack([points[..., 0], points[..., 0] ** 2 + points[..., 1] ** 2], axis=-1)

    def covariance(self, points: Floats) -> Floats:
        mu, square = points[..., 0], points[..., 1] ** 2
        return _matrix([square, 2 * mu * square], [2 * mu * square, 4 * mu**2 * square + 2 * square**2])

    def slopes(self, points: Floats) -> Floats:
        mu, sigma = points[..., 0], np.maximum(points[..., 1], _TINY)
        return _matrix([np.ones_like(mu), np.zeros_like(mu)], [-mu / sigma, 0.5 / sigma])

    def gap(self, means: Floats, /) -> tuple[Floats, Floats]:
        first, second = means[..., 0], means[..., 1]
        return second - first**2, np.stack([-2 * first, np.ones_like(first)], axis=-1)

    def complete(self, term: int, value: Floats, free: Floats, /) -> Floats:
        return np.stack([free, value] if term else [value, free], axis=-1)

    def below(self, points: Floats, values: Floats) -> Floats:
        from scipy.special import ndtr

        return np.asarray(ndtr((values - points[..., 0]) / np.maximum(points[..., 1], _TINY)))

    def shift(self, points: Floats, offset: float, width: float, /) -> Floats:
        return np.stack([offset + width * points[..., 0], width * points[..., 1]], axis=-1)


class LognormalFamily(NormalFamily):
    """Values whose logarithm is normal with mean mu and standard deviation sigma."""

    name, observed, least = "lognormal", ("ln",), 0.0

    def below(self, points: Floats, values: Floats) -> Floats:
        return np.where(values > 0, super().below(points, np.log(np.maximum(values, 1 / _HUGE))), 0.0)


class GammaFamily(ExponentialFamily):
    """The gamma distribution: its shape and its scale, whose product is its mean."""

    name, terms, ranges = "gamma", ("shape", "scale"), (_SHAPES, (1 / _HUGE, _HUGE))
    observed = ("x", "ln")

    def estimate(self, means: Floats) -> Floats:
        with np.errstate(all="ignore"):
            mean = np.clip(means[..., 0], _TINY, _HUGE)
            shape = solve_shape(np.log(mean) - means[..., 1])
            return np.stack([shape, np.clip(mean / shape, *self.ranges[1])], axis=-1)

    def means(self, points: Floats) -> Floats:
        from scipy.special import digamma

        shape, scale = points[..., 0], points[..., 1]
        return np.stack([shape * scale, digamma(shape) + np.log(scale)], axis=-1)

    def covariance(self, points: Floats) -> Floats:
        from scipy.special import zeta

        shape, scale = points[..., 0], points[..., 1]
        return _matrix([shape * scale**2, scale], [scale, zeta(2, shape)])  # the trigamma function

    def slopes(self, points: Floats) -> Floats:
        shape, scale = points[..., 0], points[..., 1]
        by_log = -1 / _log_gap_slope(shape)  # of ln(mean) - mean of ln(x), from which the shape follows
        by_mean = -by_log / (shape * scale)
        return _matrix([by_mean, by_log], [1 / shape - scale / shape * by_mean, -scale / shape * by_log])

    def gap(self, means: Floats, /) -> tuple[Floats, Floats]:
        first = np.maximum(means[..., 0], _TINY)
        return np.log(first) - means[..., 1], np.stack([1 / first, -np.ones_like(first)], axis=-1)

    def complete(self, term: int, value: Floats, free: Floats, /) -> Floats:
        return np.stack([free / value, value] if term else [value, free / value], axis=-1)

    def below(self, points: Floats, values: Floats) -> Floats:
        from scipy.special import gammainc

        return np.asarray(gammainc(points[..., 0], np.maximum(values, 0) / points[..., 1]))


def solve_shape(gap: Floats) -> Floats:
    """The gamma shape where ln(mean) is so far above the mean of ln(x): by Newton's method on 1 / shape.

    Cite: Minka 2002.
    """
    from scipy.special import digamma

    lower, upper = _SHAPES
    gap = np.clip(gap, 0.5 / upper, 1.1 / lower)
    shape = (3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)
    for _ in range(_STEPS):
        shape = np.clip(shape, lower, upper)
        reciprocal = 1 / shape + (np.log(shape) - digamma(shape) - gap) / (shape**2 * _log_gap_slope(shape))
        shape = 1 / np.clip(reciprocal, 1 / upper, 1 / lower)
    return np.asarray(shape)


def _log_gap_slope(shape: Floats) -> Floats:
    """The derivative of ln(shape) - digamma(shape), which is below zero."""
    from scipy.special import zeta

    # Beyond a thousand the difference is lost in doubles, and two terms of its series are exact enough.
    far = np.maximum(shape, 1e3)
    return np.where(shape > 1e3, -0.5 / far**2 - 1 / (6 * far**3), 1 / shape - zeta(2, shape))


def _matrix(*rows: list[Floats]) -> Floats:
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


FAMILIES: Mapping[str, ExponentialFamily] = MappingProxyType(
    {
        family.name: family
        for family in (
            NormalFamily(),
            LognormalFamily(),
            GammaFamily(),
            ExponentialDistributionFamily(),
            PoissonFamily(),
            GeometricFamily(),
            BernoulliFamily(),
        )
    }
)
