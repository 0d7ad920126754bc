"""Discrete Laplace noise: the mechanism for pure differential privacy."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import exp, log, sinh, tanh
from typing import ClassVar, Self, final

import numpy as np

from adomnia.mechanisms.contract import Continuous, Cumulants, Floats, Interval, PriceKind, narrowest
from adomnia.mechanisms.secret import Secret
from adomnia.noise import Bits, Integers, add, discrete_laplace, laplace_scale
from adomnia.privacy.amounts import show_up
from adomnia.privacy.events import Price, Pure
from adomnia.privacy.hashing import hashed_once
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Form
from adomnia.privacy.sensitivity import Sensitivity

_LARGEST_RATE = 500.0  # beyond it no noise is ever seen, and squares leave the range of doubles


@final
@hashed_once
@dataclass(frozen=True)
class DiscreteLaplace:
    """Two-sided geometric noise on each coordinate of an integer vector.

    Guarantee   (L1 sensitivity / scale)-differential privacy, pure.
    Conditions  integer coordinates; their number is public.
    Noise       P[k] proportional to exp(-|k| / scale); standard deviation below 1.42 * scale.
    Proof       Ghosh, Roughgarden & Sundararajan 2012; docs/proofs/laplace.md.

    >>> DiscreteLaplace(Fraction(2)).event(Sensitivity(l1=1)).epsilon
    Fraction(1, 2)
    """

    tag: ClassVar[str] = "DiscreteLaplace"
    prices: ClassVar[tuple[PriceKind, ...]] = (Pure,)
    reads: ClassVar[Form] = "cells"
    family: ClassVar[str] = "Laplace"

    scale: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", laplace_scale(self.scale, "DiscreteLaplace"))

    @classmethod
    def calibrated(cls, sensitivity: Sensitivity, price: Price) -> Self:
        if not isinstance(price, Pure):
            raise TypeError(f"DiscreteLaplace is bought with Pure(epsilon), got {price}.")
        return cls(sensitivity.l1 / price.epsilon)

    @classmethod
    def for_query(cls, query: Query, price: Price) -> "DiscreteLaplace":
        return _find_noise(query.sensitivity().l1, price)

    def event(self, sensitivity: Sensitivity) -> Pure:
        return Pure(sensitivity.l1 / self.scale)

    def release(self, secret: Secret, bits: Bits) -> Integers:
        noise = discrete_laplace(self.scale, secret.shape, bits)
        return add(secret.opened_by(self), noise)  # drawn before: nothing can fail once the secret is open

    def shape(self, query: Query) -> tuple[int, ...]:
        return query.result_shape

    def probability(self, k: int) -> float:
        rate = float(1 / self.scale)
        return tanh(rate / 2) * exp(-abs(k) * rate)

    def interval(self, confidence: float, cells: int = 1) -> Interval:
        return _find_interval(self, confidence, cells)

    @property
    def size(self) -> str:
        return f"scale {show_up(self.scale)}"

    @property
    def cumulants(self) -> Cumulants:
        """The difference of two geometric numbers has the variance v = 2 a / (1 - a)**2, and v + 3 v**2."""
        variance = 0.5 / sinh(min(float(1 / self.scale), _LARGEST_RATE) / 2) ** 2
        return Cumulants(variance, variance * (1 + 3 * variance))

    @property
    def continuous(self) -> Continuous:
        return Continuous("laplace", float(self.scale))

    def log_probability(self, k: Floats) -> Floats:
        rate = float(1 / self.scale)
        return np.asarray(log(tanh(rate / 2)) - np.abs(k) * rate)

    def tail(self, k: int) -> float:
        """2 a**(k + 1) / (1 + a) with a = exp(-1 / scale)."""
        return 2 * exp(-float((k + 1) / self.scale)) / (1 + exp(-float(1 / self.scale)))


@lru_cache(maxsize=256)  # one object for all questions at a price: its distribution is computed once
def _find_noise(distance: Fraction, price: Price) -> DiscreteLaplace:
    return DiscreteLaplace.calibrated(Sensitivity(distance), price)


@lru_cache(maxsize=256)  # one noise is looked at before it is paid for, and again for every answer at its price
def _find_interval(noise: DiscreteLaplace, confidence: float, cells: int) -> Interval:
    return narrowest(noise.tail, confidence, cells)
