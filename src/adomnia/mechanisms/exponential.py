"""The exponential mechanism: choosing a candidate by its score."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.contract import PriceKind
from adomnia.mechanisms.secret import Secret
from adomnia.noise import Bits, Integers, weighted_choice
from adomnia.privacy.amounts import positive
from adomnia.privacy.enclosures import sqrt_down
from adomnia.privacy.events import BoundedRange, Concentrated, Price, Pure
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Form
from adomnia.privacy.sensitivity import Sensitivity


@final
@dataclass(frozen=True)
class Exponential:
    """One candidate, drawn with probability proportional to exp(rate * score).

    Guarantee   (2 * rate * Linf sensitivity)-bounded range, hence pure differential privacy of that epsilon and
                epsilon**2 / 8-zCDP; half of it where the query proves its scores monotone.
    Conditions  integer scores; the candidates are public.
    Noise       P[candidate] proportional to exp(rate * score): the best is missed by little, exponentially surely.
    Proof       McSherry & Talwar 2007; Durfee & Rogers 2019; Cesar & Rogers 2021; docs/proofs/exponential.md.

    >>> Exponential(Fraction(1, 4)).event(Sensitivity(l1=1)).epsilon
    Fraction(1, 2)
    """

    tag: ClassVar[str] = "Exponential"
    prices: ClassVar[tuple[PriceKind, ...]] = (Pure, Concentrated)
    reads: ClassVar[Form] = "cells"

    rate: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", positive(self.rate, "Exponential", "rate"))

    @classmethod
    def calibrated(cls, sensitivity: Sensitivity, price: Price) -> Self:
        if not isinstance(price, Pure | Concentrated):
            raise TypeError(f"Exponential is bought with Pure(epsilon) or Concentrated(rho), got {price}.")
        # A bounded range of epsilon is epsilon**2 / 8-zCDP.
        epsilon = price.epsilon if isinstance(price, Pure) else sqrt_down(8 * price.rho)
        return cls(epsilon / _spread(sensitivity))

    @classmethod
    def for_query(cls, query: Query, price: Price) -> Self:
        return cls.calibrated(query.sensitivity(), price)

    def event(self, sensitivity: Sensitivity) -> BoundedRange:
        return BoundedRange(self.rate * _spread(sensitivity))

    def release(self, secret: Secret, bits: Bits) -> int:
        return weighted_choice(secret.opened_by(self), self.rate, bits)

    def shape(self, query: Query) -> tuple[int, ...]:  # noqa: ARG002 - one candidate, whatever it is chosen from
        return ()

    def probabilities(self, scores: Integers) -> NDArray[np.float64]:
        gaps = (scores.astype(object) - int(scores.max())).astype(np.float64)  # 64-bit differences would wrap
        weights = np.exp(gaps * float(self.rate))
        return np.asarray(weights / weights.sum())


def _spread(sensitivity: Sensitivity) -> Fraction:
    """How far apart one person can move two scores: once up and once down, or both the same way."""
    return sensitivity.linf if sensitivity.monotone else 2 * sensitivity.linf
