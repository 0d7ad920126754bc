"""The threshold: which keys have enough people to be named, where nobody declared what keys there are."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple, Self, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.contract import PriceKind, least
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.gaussian_tail import tail_from
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.mechanisms.secret import Secret
from adomnia.noise import Bits, Integers, add, discrete_gaussian, discrete_laplace
from adomnia.privacy.amounts import DELTA_UNIT, whole
from adomnia.privacy.enclosures import exp_down, exp_up, ln_down
from adomnia.privacy.events import Approximate, Concentrated, Pure
from adomnia.privacy.keys import Bucket, Names
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Form
from adomnia.privacy.sensitivity import Sensitivity

_DIGITS = 100  # rounding in this place never moves a threshold: no delta is below 1e-30
_LEAST = 2  # below, a key of one person would be named more often than not

KeyPrice: TypeAlias = Approximate | Concentrated


class NamedKeys(NamedTuple):
    """The places of the keys that are named, and the noisy numbers of their people."""

    places: NDArray[np.intp]
    people: Integers


@final
@dataclass(frozen=True)
class Threshold:
    """The keys whose noisy number of people reaches `least`; one of fewer than `minimum` people is never named.

    Guarantee   that of the noise, with delta = 1 - P[noise < least - 1]**L where a person has at most L keys.
    Conditions  numbers of different people, of those keys alone that somebody has: a person moves each by one.
    Noise       `noise` on people - minimum + 1, for keys of at least `minimum` people.
    Proof       Korolova, Kenthapadi, Mishra & Ntoulas 2009; docs/proofs/threshold.md.

    >>> Threshold.calibrated(Sensitivity(l1=1), Approximate(1, 1e-6)).least
    15
    """

    tag: ClassVar[str] = "Threshold"
    prices: ClassVar[tuple[PriceKind, ...]] = (Approximate, Concentrated)
    reads: ClassVar[Form] = "keys"

    noise: DiscreteLaplace | DiscreteGaussian
    least: int
    minimum: int = 1

    def __post_init__(self) -> None:
        whole(self.minimum, "Threshold", "minimum")
        if self.least < _LEAST:
            raise ValueError(f"Threshold least must be >= {_LEAST}, got {self.least}.")

    @classmethod
    def calibrated(cls, sensitivity: Sensitivity, price: KeyPrice, minimum: int = 1) -> Self:
        """The least noise, and with it the least threshold, whose event costs at most the price."""
        noise: DiscreteLaplace | DiscreteGaussian
        match price:
            case Approximate(epsilon=epsilon):
                noise = DiscreteLaplace.calibrated(sensitivity, Pure(epsilon))
            case Concentrated():
                noise = DiscreteGaussian.calibrated(sensitivity, price)
            case _:
                raise TypeError(f"Threshold is bought with Approximate or Concentrated, got {price}.")
        if price.delta < DELTA_UNIT:  # less is not counted, and no enclosure of a tail is that narrow
            raise ValueError(f"Threshold delta must be >= 1e-30, got {float(price.delta):g}.")
        keys = _keys(sensitivity)
        return cls(noise, _LEAST + least(lambda more: _delta(noise, _LEAST + more, keys) <= price.delta), minimum)

    @classmethod
    def for_query(cls, query: Query, price: KeyPrice) -> Self:
        """The threshold for the keys of a query, none of fewer people than the owner's minimum."""
        found = [key.among for key in query.keys if isinstance(key, Bucket)]
        minimum = max(names.minimum for names in found if isinstance(names, Names))
        return cls.calibrated(query.sensitivity(), price, minimum)

    @property
    def people(self) -> int:
        """A key of so many people is named about every second time; one of fewer, less often."""
        return self.least + self.minimum - 1

    def event(self, sensitivity: Sensitivity) -> KeyPrice:
        delta, spent = _delta(self.noise, self.least, _keys(sensitivity)), self.noise.event(sensitivity)
        return Approximate(spent.epsilon, delta) if isinstance(spent, Pure) else Concentrated(spent.rho, delta)

    def release(self, secret: Secret, bits: Bits) -> NamedKeys:
        drawn = _drawn(self.noise, secret.shape, bits)
        exact = secret.opened_by(self)  # the noise was drawn before: nothing can fail once the secret is open
        noisy = add(exact, drawn)
        # In this order: whether a key of fewer than `minimum` people exists must not show, whatever its noise says.
        places = np.flatnonzero((exact >= self.minimum) & (noisy >= self.people))
        return NamedKeys(places, noisy[places])


def _keys(sensitivity: Sensitivity) -> int:
    """How many keys a person may have: each is moved by one, as the proof needs."""
    if sensitivity.linf != 1:
        raise ValueError(f"Threshold sensitivity must be of numbers of people, got linf = {sensitivity.linf}.")
    return whole(sensitivity.l1, "Threshold", "sensitivity")


def _delta(noise: DiscreteLaplace | DiscreteGaussian, threshold: int, keys: int) -> Fraction:
    """The probability that any of so many keys of one person alone is named, rounded up."""
    return 1 - exp_down(keys * ln_down(1 - _tail(noise, threshold - 1), _DIGITS), _DIGITS)


def _tail(noise: DiscreteLaplace | DiscreteGaussian, k: int) -> Fraction:
    """P[noise >= k] for k >= 1, rounded up: a**k / (1 + a) with a = exp(-1 / scale), or the sum of Gaussian weights."""
    if isinstance(noise, DiscreteGaussian):
        return tail_from(noise.variance, k)
    return exp_up(-k / noise.scale, _DIGITS) / (1 + exp_down(-1 / noise.scale, _DIGITS))


def _drawn(noise: DiscreteLaplace | DiscreteGaussian, shape: tuple[int, ...], bits: Bits) -> Integers:
    if isinstance(noise, DiscreteGaussian):
        return discrete_gaussian(noise.variance, shape, bits)
    return discrete_laplace(noise.scale, shape, bits)
