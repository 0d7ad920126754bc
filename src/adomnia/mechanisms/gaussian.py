"""Discrete Gaussian noise: the mechanism for zero-concentrated differential privacy."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import erfc, exp, log, pi, sqrt
from typing import ClassVar, Self, final

import numpy as np

from adomnia.mechanisms.contract import Continuous, Cumulants, Floats, Interval, PriceKind, narrowest
from adomnia.mechanisms.gaussian_tail import exact_delta, least_variance
from adomnia.mechanisms.secret import Secret
from adomnia.noise import Bits, Integers, add, discrete_gaussian, gaussian_variance
from adomnia.privacy.amounts import DELTA_UNIT, Number, positive, round_up, show_up, whole
from adomnia.privacy.enclosures import sqrt_up
from adomnia.privacy.events import Approximate, Concentrated, Price
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Form
from adomnia.privacy.sensitivity import Sensitivity

_SUMMED_DEVIATION = 2048
_LEAST_VARIANCE = 1e-100  # of next to no noise: whoever weighs by it divides by it
_LISTED_DEVIATION = 8  # from here on its cumulants are those of the normal distribution, as far as doubles can tell


@final
@dataclass(frozen=True)
class DiscreteGaussian:
    """Discrete Gaussian noise on each coordinate of an integer vector.

    Guarantee   (L2 sensitivity**2 / (2 * variance))-zCDP; for one integer also the exact (epsilon, delta) of its tail.
    Conditions  integer coordinates; their number is public.
    Noise       P[k] proportional to exp(-k**2 / (2 * variance)); its variance is at most that.
    Proof       Canonne, Kamath & Steinke 2020; docs/proofs/gaussian.md.

    >>> DiscreteGaussian(Fraction(2)).event(Sensitivity(l1=2)).rho
    Fraction(1, 1)
    """

    tag: ClassVar[str] = "DiscreteGaussian"
    prices: ClassVar[tuple[PriceKind, ...]] = (Concentrated,)
    reads: ClassVar[Form] = "cells"
    family: ClassVar[str] = "Gaussian"

    variance: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", gaussian_variance(self.variance, "DiscreteGaussian"))

    @classmethod
    def calibrated(cls, sensitivity: Sensitivity, price: Price) -> Self:
        if not isinstance(price, Concentrated):
            raise TypeError(f"DiscreteGaussian is bought with Concentrated(rho), got {price}.")
        return cls(sensitivity.l2_squared / (2 * price.rho))

    @classmethod
    def scalar(cls, distance: int, epsilon: Number, delta: Number) -> Self:
        """Nearly the least noise on one integer, moved by at most `distance`, that is (epsilon, delta)-private."""
        price = Approximate(epsilon, positive(delta, "DiscreteGaussian", "delta"))
        shift = whole(distance, "DiscreteGaussian", "distance")
        return cls(least_variance(shift, price.epsilon, price.delta))

    @classmethod
    def for_query(cls, query: Query, price: Price) -> Self:
        return cls.calibrated(query.sensitivity(), price)

    def event(self, sensitivity: Sensitivity) -> Concentrated:
        return Concentrated(sensitivity.l2_squared / (2 * self.variance))

    def scalar_event(self, distance: int, epsilon: Number) -> Approximate:
        """What one release of one integer costs at that epsilon, by its exact tail."""
        exact = positive(epsilon, "DiscreteGaussian", "epsilon")
        shift = whole(distance, "DiscreteGaussian", "distance")
        units = round_up(exact_delta(self.variance, shift, exact), DELTA_UNIT)
        return Approximate(exact, units * DELTA_UNIT)

    def release(self, secret: Secret, bits: Bits) -> Integers:
        noise = discrete_gaussian(self.variance, secret.shape, bits)
        return add(secret.opened_by(self), noise)  # drawn before: nothing can fail once the secret is open

    def shape(self, query: Query) -> tuple[int, ...]:
        return query.result_shape

    def probability(self, k: int) -> float:
        return exp(-float(Fraction(k * k) / (2 * self.variance))) / self._total

    def log_probability(self, k: Floats) -> Floats:
        return np.asarray(-(k**2) / (2 * float(self.variance)) - log(self._total))

    def interval(self, confidence: float, cells: int = 1) -> Interval:
        return _find_interval(self, confidence, cells)

    @property
    def size(self) -> str:
        return f"deviation {show_up(sqrt_up(self.variance))}"

    @cached_property
    def cumulants(self) -> Cumulants:
        if self._deviation >= _LISTED_DEVIATION:
            return Cumulants(float(self.variance), 0.0)
        places = np.arange(1, 2 + int(10 * self._deviation), dtype=np.float64)
        chances = 2 * np.exp(self.log_probability(places))
        variance = max(float(places**2 @ chances), _LEAST_VARIANCE)
        return Cumulants(variance, float(places**4 @ chances) - 3 * variance**2)

    @property
    def continuous(self) -> Continuous:
        return Continuous("gaussian", self._deviation)

    @cached_property
    def _deviation(self) -> float:
        return sqrt(self.variance)

    @cached_property
    def _total(self) -> float:
        """The sum of all weights: by Poisson summation sqrt(2 pi variance) (1 + 2 exp(-2 pi**2 variance) + ...)."""
        if self._deviation < 2:
            return 1 + 2 * self._weight_above(0)
        return sqrt(2 * pi) * self._deviation

    def tail(self, k: int) -> float:
        """Summed, or by Euler and Maclaurin where the sum is long and their remainder below 1e-15."""
        if self._deviation < _SUMMED_DEVIATION:
            return 2 * self._weight_above(k) / self._total
        start = (k + 1) / self._deviation
        edge = exp(-start * start / 2) / self._total
        return erfc(start / sqrt(2)) + edge * (1 + start / (6 * self._deviation))

    def _weight_above(self, k: int) -> float:
        reach = 40 * int(self._deviation + 1)
        terms = np.arange(k + 1, k + 1 + reach, dtype=np.float64)
        return float(np.exp(-(terms**2) / (2 * float(self.variance))).sum())


@lru_cache(maxsize=256)  # one noise is looked at before it is paid for, and again for every answer at its price
def _find_interval(noise: DiscreteGaussian, confidence: float, cells: int) -> Interval:
    return narrowest(noise.tail, confidence, cells)
