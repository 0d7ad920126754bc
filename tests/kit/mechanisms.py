"""What the contract tests need to know of each mechanism, beside its registry: an exact distribution of its own."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from adomnia.mechanisms.brackets import Brackets
from adomnia.mechanisms.envelopes import OrderStatistic
from adomnia.mechanisms.halving import Halving
from adomnia.mechanisms.histograms import SecretHistogram
from adomnia.mechanisms.propose_test_release import ProposeTestRelease
from adomnia.mechanisms.quantiles import Quantiles
from adomnia.mechanisms.registry import MECHANISMS
from adomnia.mechanisms.round_numbers import Target
from adomnia.mechanisms.secret import Secret
from adomnia.privacy.events import Approximate, Concentrated, Event, Pure
from adomnia.privacy.sensitivity import Sensitivity
from kit.distributions import exact_exponential, exact_gaussian, exact_laplace

if TYPE_CHECKING:
    from collections.abc import Callable

    import mpmath

# P[noise = k] from the definition, at mpmath's working precision. A new noise adds its line here.
EXACT_DISTRIBUTIONS: dict[str, Callable[[Any, int], mpmath.mpf]] = {
    "laplace": lambda noise, k: exact_laplace(k, noise.scale),
    "gaussian": lambda noise, k: exact_gaussian(k, noise.variance),
}

# ln P[candidate] by the scores, from the definition, at mpmath's working precision. A new selection adds its line here.
EXACT_CHOICES: dict[str, Callable[[Any, list[int]], list[mpmath.mpf]]] = {
    "exponential": lambda choice, scores: exact_exponential(scores, choice.rate),
}

PRICES: dict[type, list[Any]] = {
    Pure: [Pure(Fraction(text)) for text in ("1/10", "1/3", "1", "5/2")],
    Concentrated: [Concentrated(Fraction(text)) for text in ("1/200", "1/10", "1/2", "3")],
    Approximate: [Approximate(Fraction(text), Fraction(1, 10**6)) for text in ("1/10", "1/3", "1", "5/2")],
}

# Bounds with ways to move within them: integer vectors whose norms are at most the bounds.
MOVES: list[tuple[Sensitivity, list[tuple[int, ...]]]] = [
    (Sensitivity(l1=1), [(1,)]),
    (Sensitivity(l1=3), [(3,), (1, 2), (1, 1, 1)]),
    (Sensitivity(l1=4, l2_squared=4, linf=1), [(1, 1, 1, 1), (1, 1), (-1, 1, 1)]),
    (Sensitivity(l1=5, l2_squared=13, linf=3), [(3, 2), (-3, 2), (3, 1), (2, 2)]),
]


MEDIAN = (Target(Fraction(1, 2), Fraction(-3), -4), Target(Fraction(1, 2), Fraction(3), 4))


def calibrate(name: str, sensitivity: Sensitivity, price: Any) -> Any:
    """The mechanism of that name that a price buys for a move; a choice by rank is of two ranks around the median."""
    if name == "quantiles":
        return Quantiles(MEDIAN, 101, Quantiles.rate_for(sensitivity, price))
    if name in {"halving", "brackets"}:
        return {"halving": Halving, "brackets": Brackets}[name]((Fraction(1, 2),), 101, sensitivity.l1, price)
    if name.startswith("smooth"):
        return MECHANISMS[name](Fraction(1, 2), 101, int(sensitivity.l1), 1, price)
    if name == "propose_test_release":
        return ProposeTestRelease(OrderStatistic(Fraction(1, 2), 101), 3, int(sensitivity.l1), price)
    return MECHANISMS[name].calibrated(sensitivity, price)


def seal(name: str, values: Any, sensitivity: Sensitivity, reserved: Event) -> Secret | SecretHistogram:
    """Exact values in the form that the mechanism opens; of a histogram, how many rows have the values 0, 1, ..."""
    if MECHANISMS[name].reads != "histogram":
        return Secret(np.asarray(values), sensitivity, reserved)
    rows = np.array([[0] * len(values), range(len(values)), values])
    return SecretHistogram(lambda _buckets: rows, 1, sensitivity, reserved)


def suits(name: str, sensitivity: Sensitivity) -> bool:
    """Whether queries that a mechanism may release can have such a sensitivity: of keys, people are counted."""
    return name != "threshold" or (sensitivity.linf == 1 and sensitivity.l1.denominator == 1)


FIXED = {"propose_test_release"}  # of people with so many rows as it was built for, and refused for any who have more


class AnyPrice:
    """A mechanism that costs next to nothing, to look into a secret with."""

    def event(self, _: Sensitivity) -> Event:
        """Covered by every reserve."""
        return Pure(Fraction(1, 10**200))


def margin_of(noise: Any) -> int:
    """A k beyond which the noise has a mass below 1e-15, by its own interval."""
    return int(noise.interval(1 - 1e-15).half_width)
