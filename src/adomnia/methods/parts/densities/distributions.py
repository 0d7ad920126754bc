"""Distributions that can be fitted to numbers: their cumulative functions, and what their parameters mean.

Parameters are fitted on scales where any number is allowed, `points` of shape (..., parameters).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from adomnia.statistics.contract import Floats

_FARTHEST = 300.0  # exponents are cut there: products of two such numbers are still doubles


class Family(ABC):
    """A family of distributions of numbers; those of positive ones have no share below 0."""

    name: ClassVar[str]
    terms: ClassVar[tuple[str, ...]]  # what its parameters are called
    positive: ClassVar[bool] = True

    @abstractmethod
    def start(self, mean: float, deviation: float) -> Floats:
        """A point of about that mean and standard deviation."""

    @abstractmethod
    def scaled(self, points: Floats, unit: float) -> Floats:
        """The distribution of numbers that are so many times as large."""

    @abstractmethod
    def below(self, points: Floats, edges: Floats) -> Floats:
        """The share below each edge, of shape (..., edges)."""

    @abstractmethod
    def parameters(self, points: Floats) -> Floats:
        """The parameters as they are usually written."""

    @abstractmethod
    def moments(self, points: Floats) -> tuple[Floats, Floats]:
        """The mean and the standard deviation."""

    @abstractmethod
    def quantile(self, points: Floats, share: Floats) -> Floats:
        """The number that such a share lies below."""


class NormalDistribution(Family):
    """The normal distribution: its mean mu and its standard deviation sigma."""

    name, terms, positive = "normal", ("mu", "sigma"), False

    def start(self, mean: float, deviation: float) -> Floats:
        return np.array([mean, np.log(deviation)])

    def scaled(self, points: Floats, unit: float) -> Floats:
        return np.stack([points[..., 0] * unit, points[..., 1] + np.log(unit)], axis=-1)

    def below(self, points: Floats, edges: Floats) -> Floats:
        from scipy.special import ndtr

        return np.asarray(ndtr((edges - points[..., :1]) / _exp(points[..., 1:])))

    def parameters(self, points: Floats) -> Floats:
        return np.stack([points[..., 0], _exp(points[..., 1])], axis=-1)

    def moments(self, points: Floats) -> tuple[Floats, Floats]:
        return points[..., 0], _exp(points[..., 1])

    def quantile(self, points: Floats, share: Floats) -> Floats:
        from scipy.special import ndtri

        return np.asarray(points[..., 0] + _exp(points[..., 1]) * ndtri(share))


class LognormalDistribution(NormalDistribution):
    """The distribution of numbers whose logarithm is normal with mean mu and standard deviation sigma."""

    name, positive = "lognormal", True

    def start(self, mean: float, deviation: float) -> Floats:
        spread = np.log1p((deviation / mean) ** 2)
        return np.array([np.log(mean) - spread / 2, np.log(spread) / 2])

    def scaled(self, points: Floats, unit: float) -> Floats:
        return np.asarray(points + np.array([np.log(unit), 0.0]))

    def below(self, points: Floats, edges: Floats) -> Floats:
        return super().below(points, _log(edges))

    def moments(self, points: Floats) -> tuple[Floats, Floats]:
        spread = _exp(2 * points[..., 1])
        mean = _exp(points[..., 0] + spread / 2)
        return mean, mean * np.sqrt(np.expm1(np.minimum(spread, _FARTHEST)))

    def quantile(self, points: Floats, share: Floats) -> Floats:
        return _exp(super().quantile(points, share))


class GammaDistribution(Family):
    """The gamma distribution: its shape and its scale. It is fitted by shape and mean, which are less entangled."""

    name, terms = "gamma", ("shape", "scale")

    def start(self, mean: float, deviation: float) -> Floats:
        return np.asarray(np.log(np.array([(mean / deviation) ** 2, mean])))

    def scaled(self, points: Floats, unit: float) -> Floats:
        return np.asarray(points + np.array([0.0, np.log(unit)]))

    def below(self, points: Floats, edges: Floats) -> Floats:
        from scipy.special import gammainc

        shape, scale = (self.parameters(points)[..., place, None] for place in (0, 1))
        return np.asarray(gammainc(shape, np.maximum(edges, 0) / scale))

    def parameters(self, points: Floats) -> Floats:
        return np.stack([_exp(points[..., 0]), _exp(points[..., 1] - points[..., 0])], axis=-1)

    def moments(self, points: Floats) -> tuple[Floats, Floats]:
        return _exp(points[..., 1]), _exp(points[..., 1] - points[..., 0] / 2)

    def quantile(self, points: Floats, share: Floats) -> Floats:
        from scipy.special import gammaincinv

        shape, scale = (self.parameters(points)[..., place] for place in (0, 1))
        return np.asarray(gammaincinv(shape, share) * scale)


class WeibullDistribution(Family):
    """The Weibull distribution: its shape and its scale."""

    name, terms = "weibull", ("shape", "scale")

    def start(self, mean: float, deviation: float) -> Floats:
        shape = np.clip((deviation / mean) ** -1.086, 0.1, 100)  # Justus et al. 1978
        return np.array([np.log(shape), np.log(mean)])

    def scaled(self, points: Floats, unit: float) -> Floats:
        return np.asarray(points + np.array([0.0, np.log(unit)]))

    def below(self, points: Floats, edges: Floats) -> Floats:
        power = _exp(points[..., :1]) * (_log(edges) - points[..., 1:])
        return -np.expm1(-_exp(power))

    def parameters(self, points: Floats) -> Floats:
        return _exp(points)

    def moments(self, points: Floats) -> tuple[Floats, Floats]:
        from scipy.special import gammaln

        reciprocal = _exp(-points[..., 0])
        first, second = gammaln(1 + reciprocal), gammaln(1 + 2 * reciprocal)
        mean = _exp(points[..., 1] + first)
        return mean, mean * np.sqrt(np.expm1(np.clip(second - 2 * first, 0, _FARTHEST)))

    def quantile(self, points: Floats, share: Floats) -> Floats:
        return _exp(points[..., 1] + np.log(-np.log1p(-share)) * _exp(-points[..., 0]))


class ExponentialDistribution(Family):
    """The exponential distribution: its rate."""

    name, terms = "exponential", ("rate",)

    def start(self, mean: float, _deviation: float) -> Floats:
        return np.asarray(np.log(np.array([mean])))

    def scaled(self, points: Floats, unit: float) -> Floats:
        return np.asarray(points + np.log(unit))

    def below(self, points: Floats, edges: Floats) -> Floats:
        return -np.expm1(-np.maximum(edges, 0) / _exp(points))

    def parameters(self, points: Floats) -> Floats:
        return _exp(-points)

    def moments(self, points: Floats) -> tuple[Floats, Floats]:
        mean = _exp(points[..., 0])
        return mean, mean

    def quantile(self, points: Floats, share: Floats) -> Floats:
        return _exp(points[..., 0]) * -np.log1p(-share)


DISTRIBUTIONS: Mapping[str, Family] = MappingProxyType(
    {
        each.name: each
        for each in (
            LognormalDistribution(),
            NormalDistribution(),
            GammaDistribution(),
            ExponentialDistribution(),
            WeibullDistribution(),
        )
    }
)


def _exp(values: Floats) -> Floats:
    return np.exp(np.clip(values, -_FARTHEST, _FARTHEST))


def _log(edges: Floats) -> Floats:
    """The logarithm; of what is not above 0 a number so low that nothing lies below it."""
    return np.log(np.maximum(edges, np.exp(-_FARTHEST)))
