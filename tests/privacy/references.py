"""A hundred digits of what the code claims to know, by other means."""

from __future__ import annotations

from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import mpmath
import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from adomnia.privacy.events import (
    Approximate,
    BoundedRange,
    Composed,
    Concentrated,
    Pure,
    ScalarGaussian,
    ScalarLaplace,
)
from kit.searches import examples

if TYPE_CHECKING:
    from collections.abc import Iterator

NOT_FINITE_NUMBERS = [
    float("nan"),
    float("inf"),
    float("-inf"),
    Decimal("NaN"),
    Decimal("Infinity"),
    "1",
    None,
    True,
    1j,
]
NOT_FINITE_NUMBERS += [np.bool_(True), np.float32(0.5), [1]]
TOO_EXTREME = [Decimal("1e-400"), Decimal("-1e-400"), Decimal("1e400"), Fraction(1, 10**400), 10**400]
NOT_POSITIVE = [0, 0.0, -0.0, -1, -0.5, 1e-400, Fraction(0), Decimal("-0.25"), np.int64(-3)]

fractions = st.fractions(min_value=Fraction(1, 10**6), max_value=10**3, max_denominator=10**9)
deltas = st.fractions(min_value=Fraction(1, 10**12), max_value=Fraction(1, 100), max_denominator=10**12)
distances = st.integers(1, 50)
pure_events = st.one_of(
    st.builds(Pure, fractions), st.builds(BoundedRange, fractions), st.builds(ScalarLaplace, fractions, distances)
)
single_events = st.one_of(
    pure_events,
    st.builds(Concentrated, fractions, st.just(Fraction(0)) | deltas),
    st.builds(Approximate, fractions, st.just(Fraction(0)) | deltas),
    st.builds(ScalarGaussian, fractions, distances),
)
events = st.recursive(single_events, lambda inner: st.lists(inner, min_size=1, max_size=3).map(Composed), max_leaves=5)
few = settings(max_examples=examples(20), deadline=None, derandomize=True)
some = settings(max_examples=examples(40), deadline=None, derandomize=True)


@contextmanager
def hundred_digits() -> Iterator[None]:
    with mpmath.workdps(110):
        yield


def real(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


def rational(x: mpmath.mpf) -> Fraction:
    sign, mantissa, exponent, _ = x._mpf_
    return (-1) ** sign * Fraction(int(mantissa)) * Fraction(2) ** exponent


def root(increasing, low, high):
    """Where an increasing function crosses zero, to about a hundred digits."""
    for _ in range(360):
        middle = (low + high) / 2
        low, high = (middle, high) if increasing(middle) < 0 else (low, middle)
    return high


def best_delta(rho: Fraction, epsilon: Fraction) -> mpmath.mpf:
    """The zCDP bound at its best order, from the form in which it is published."""
    rho, epsilon = real(rho), real(epsilon)

    def slope(logarithm):
        alpha = 1 + mpmath.exp(logarithm)
        return (2 * alpha - 1) * rho - epsilon + logarithm - mpmath.log(alpha)

    alpha = 1 + mpmath.exp(root(slope, mpmath.mpf(-3) * (rho + 50), mpmath.log(1 + (epsilon + 2) / rho)))
    logarithm = (alpha - 1) * (alpha * rho - epsilon) + alpha * mpmath.log1p(-1 / alpha) - mpmath.log(alpha - 1)
    return min(mpmath.mpf(1), mpmath.exp(logarithm))


def best_epsilon(rho: Fraction, delta: Fraction) -> mpmath.mpf:
    """Renyi differential privacy to (epsilon, delta) at its best order."""
    rho, delta = real(rho), real(delta)

    def slope(logarithm):
        excess = mpmath.exp(logarithm)
        return excess**2 * rho + mpmath.log1p(excess) + mpmath.log(delta)

    alpha = 1 + mpmath.exp(root(slope, mpmath.mpf(-60), mpmath.log(1 - mpmath.log(delta) / rho)))
    return max(mpmath.mpf(0), alpha * rho + mpmath.log1p(-1 / alpha) - mpmath.log(delta * alpha) / (alpha - 1))
