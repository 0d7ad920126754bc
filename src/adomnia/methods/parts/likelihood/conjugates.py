"""Conjugate families: what is believed of a parameter after exact sums were seen, and how probable these sums are.

Sums are those of values in the units of the column. A prior is a tuple of numbers, whose names `prior_names` has.
Cite: Raiffa & Schlaifer 1961.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from types import MappingProxyType
from typing import ClassVar, TypeAlias

import numpy as np

from adomnia.privacy.domains import Numbers
from adomnia.statistics.contract import Floats

Prior: TypeAlias = tuple[Fraction, ...]
_LEAST = 1e-300


@dataclass(frozen=True)
class ConditionalDistribution:
    """What is believed of one parameter, for many cases at once: distributions of one kind, and their moments."""

    mean: Floats
    variance: Floats
    parameters: tuple[Floats, ...]
    below: Callable[..., Floats]  # (value, *parameters) -> the probability of less
    support: tuple[float, float]


class Conjugate(ABC):
    """A family of distributions with the priors that stay of one kind."""

    name: ClassVar[str]
    terms: ClassVar[tuple[str, ...]]
    prior_names: ClassVar[tuple[str, ...]]
    least: ClassVar[tuple[Fraction | None, ...]] = (Fraction(0), Fraction(0))  # which the prior's numbers are above
    discrete: ClassVar[bool] = True
    fewest: ClassVar[int] = 0  # rows that there must be

    @abstractmethod
    def weak_prior(self, bounds: Numbers) -> Prior:
        """A prior that holds little, in the size of the bounds."""

    @abstractmethod
    def log_weight(self, prior: Prior, rows: Floats, *sums: Floats) -> Floats:
        """The logarithm of how probable exact sums of so many rows are, whatever the parameters."""

    @abstractmethod
    def update(self, prior: Prior, rows: Floats, *sums: Floats) -> tuple[ConditionalDistribution, ...]:
        """What is believed of each parameter after exact sums."""


class BetaBernoulli(Conjugate):
    """Yes or no: the probability has a beta distribution."""

    name, terms, prior_names = "bernoulli", ("probability",), ("a", "b")

    def weak_prior(self, _bounds: Numbers) -> Prior:
        return Fraction(1), Fraction(1)

    def log_weight(self, prior: Prior, rows: Floats, *sums: Floats) -> Floats:
        from scipy.special import betaln, gammaln

        (ones,), (a, b) = sums, map(float, prior)
        ways = gammaln(rows + 1) - gammaln(ones + 1) - gammaln(rows - ones + 1)
        return np.asarray(ways + betaln(a + ones, b + rows - ones))

    def update(self, prior: Prior, rows: Floats, *sums: Floats) -> tuple[ConditionalDistribution, ...]:
        from scipy.special import betainc

        (ones,), (a, b) = sums, map(float, prior)
        yes, no = a + ones, b + rows - ones
        mean = yes / (yes + no)
        distribution = ConditionalDistribution(
            mean,
            mean * (1 - mean) / (yes + no + 1),
            (yes, no),
            lambda value, first, second: betainc(first, second, np.clip(value, 0.0, 1.0)),
            (0.0, 1.0),
        )
        return (distribution,)


class GammaPoisson(Conjugate):
    """Numbers of events: their mean has a gamma distribution."""

    name, terms, prior_names = "poisson", ("mean",), ("shape", "rate")

    def weak_prior(self, bounds: Numbers) -> Prior:
        return Fraction(1), 2 / (bounds.lower + bounds.upper)

    def log_weight(self, prior: Prior, rows: Floats, *sums: Floats) -> Floats:
        from scipy.special import gammaln, xlogy

        (total,), (shape, rate) = sums, map(float, prior)
        seen = gammaln(shape + total) - gammaln(total + 1)
        return np.asarray(seen + xlogy(total, rows) - (shape + total) * np.log(rate + rows))

    def update(self, prior: Prior, rows: Floats, *sums: Floats) -> tuple[ConditionalDistribution, ...]:
        (total,), (shape, rate) = sums, map(float, prior)
        return (_gamma_distribution(shape + total, rate + rows),)


class GammaExponential(Conjugate):
    """Waiting times: their rate has a gamma distribution."""

    name, terms, prior_names = "exponential", ("rate",), ("shape", "rate")
    discrete, fewest = False, 1

    def weak_prior(self, bounds: Numbers) -> Prior:
        return Fraction(1), (bounds.lower + bounds.upper) / 2

    def log_weight(self, prior: Prior, rows: Floats, *sums: Floats) -> Floats:
        from scipy.special import gammaln, xlogy

        (total,), (shape, rate) = sums, map(float, prior)
        seen = gammaln(shape + rows) - gammaln(rows)
        return np.asarray(seen + xlogy(rows - 1, total) - (shape + rows) * np.log(rate + total))

    def update(self, prior: Prior, rows: Floats, *sums: Floats) -> tuple[ConditionalDistribution, ...]:
        (total,), (shape, rate) = sums, map(float, prior)
        return (_gamma_distribution(shape + rows, rate + total),)


class NormalInverseGamma(Conjugate):
    """Normal values: sigma^2 has an inverse gamma distribution, and mu a normal one of variance sigma^2 / strength.

    `sums` are the mean of the values, and that of the squares of their distances from it.
    """

    name, terms, prior_names = "normal", ("mu", "sigma"), ("mean", "strength", "shape", "rate")
    least = (None, Fraction(0), Fraction(1), Fraction(0))
    discrete, fewest = False, 2

    def weak_prior(self, bounds: Numbers) -> Prior:
        width = bounds.upper - bounds.lower
        return (bounds.lower + bounds.upper) / 2, Fraction(1, 10), Fraction(3, 2), width**2 / 72

    def log_weight(self, prior: Prior, rows: Floats, *sums: Floats) -> Floats:
        """Of the mean and of the logarithm of the variance: the density of both."""
        from scipy.special import gammaln

        _, spread = sums
        _, strength, _, _ = map(float, prior)
        _, many, shape, rate = self._update(prior, rows, *sums)
        surface = 0.5 * np.log(rows) + (rows - 1) / 2 * np.log(np.pi) - gammaln((rows - 1) / 2)
        around = (rows - 1) / 2 * np.log(np.maximum(rows * spread, _LEAST))
        seen = gammaln(shape) - shape * np.log(rate) + 0.5 * np.log(strength / many) - rows / 2 * np.log(2 * np.pi)
        return np.asarray(surface + around + seen)

    def update(self, prior: Prior, rows: Floats, *sums: Floats) -> tuple[ConditionalDistribution, ...]:
        from scipy.special import gammaincc, gammaln, stdtr

        middle, many, shape, rate = self._update(prior, rows, *sums)
        square = rate / (shape - 1)  # the mean of sigma^2
        size = np.sqrt(rate / (shape * many))
        mu = ConditionalDistribution(
            middle,
            square / many,
            (middle, size, shape),
            lambda value, at, scale, half: stdtr(2 * half, (value - at) / scale),
            (-inf, inf),
        )
        mean = np.sqrt(rate) * np.exp(gammaln(shape - 0.5) - gammaln(shape))
        sigma = ConditionalDistribution(
            mean,
            np.maximum(square - mean**2, 0.0),
            (shape, rate),
            lambda value, half, over: gammaincc(half, over / np.maximum(value, _LEAST) / np.maximum(value, _LEAST)),
            (0.0, inf),
        )
        return mu, sigma

    def _update(self, prior: Prior, rows: Floats, mean: Floats, spread: Floats) -> tuple[Floats, ...]:
        centre, strength, shape, rate = map(float, prior)
        many = strength + rows
        away = strength * rows * (mean - centre) ** 2 / (2 * many)
        return (strength * centre + rows * mean) / many, many, shape + rows / 2, rate + rows * spread / 2 + away


def _gamma_distribution(shape: Floats, rate: Floats) -> ConditionalDistribution:
    from scipy.special import gammainc

    return ConditionalDistribution(
        shape / rate,
        shape / rate**2,
        (shape, rate),
        lambda value, first, second: gammainc(first, second * np.maximum(value, 0.0)),
        (0.0, inf),
    )


CONJUGATES: Mapping[str, Conjugate] = MappingProxyType(
    {each.name: each for each in (BetaBernoulli(), GammaPoisson(), GammaExponential(), NormalInverseGamma())}
)
