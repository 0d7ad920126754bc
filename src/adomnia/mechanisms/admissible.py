"""Which noise of a private scale hides a move: how a step's epsilon is split, from public numbers alone.

The noise has the scale S / alpha. A step moves the statistic by at most the smaller S of both neighbours, and the
larger S is at most exp(beta) times the smaller one. Proofs: docs/proofs/smooth.md, 2 to 4.
"""

from bisect import bisect_left
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from adomnia.noise.discrete import NotDrawableError
from adomnia.privacy.enclosures import exp_down, exp_up, sqrt_down

_CAUCHY, _STUDENT = Fraction(3, 4), Fraction(23, 100)  # of epsilon: then alpha * beta is near its largest
_DIGITS = 20  # of an alpha
_FINE = 1024  # parts in which the beta of Laplace noise is searched
_LARGEST = Fraction(16)  # beta


class Rates(NamedTuple):
    """What the noise of a step allows for: a move by alpha scales, and scales that are exp(beta) apart."""

    alpha: Fraction
    beta: Fraction


@lru_cache(maxsize=64)
def cauchy_rates(epsilon: Fraction) -> Rates:
    """The loss of two Cauchy distributions is the hyperbolic distance of (place, scale): pure, and it is reached."""
    beta = epsilon * _CAUCHY
    reached = _cosh_down(epsilon)
    squares = 2 * (reached - 1), 2 * exp_down(beta) * (reached - _cosh_up(beta))
    return Rates(sqrt_down(min(squares), _DIGITS), beta)


@lru_cache(maxsize=64)
def student_rates(epsilon: Fraction) -> Rates:
    """The loss is at most the distance of logarithms of scales, and twice the hyperbolic one of half the places."""
    beta = epsilon * _STUDENT
    squares = (
        8 * (_cosh_down(epsilon / 2) - 1),
        8 * exp_down(beta) * (_cosh_down((epsilon - beta) / 2) - _cosh_up(beta)),
    )
    return Rates(sqrt_down(min(squares), _DIGITS), beta)


@lru_cache(maxsize=64)
def laplace_rates(epsilon: Fraction, delta: Fraction) -> Rates:
    """Half of epsilon for the move, and the largest beta that leaves no more than delta beyond epsilon."""
    left = epsilon / 2
    span = min(left, _LARGEST)
    # laplace_delta grows with beta, so that the parts of `span` that are small enough come first.
    found = bisect_left(range(1, _FINE + 1), True, key=lambda part: laplace_delta(span * part / _FINE, left) > delta)
    if not found:
        raise NotDrawableError(f"Rates delta must leave a beta to choose, got {float(delta):g} for a step.")
    return Rates(epsilon - left, span * found / _FINE)


def laplace_delta(beta: Fraction, left: Fraction) -> Fraction:
    """How much probability loses more than epsilon = alpha + left, where beta <= left; rounded up."""
    return (1 - exp_down(-beta)) * exp_up(-(left + beta) / (exp_up(beta) - 1))


def _cosh_down(x: Fraction) -> Fraction:
    return (exp_down(x) + exp_down(-x)) / 2


def _cosh_up(x: Fraction) -> Fraction:
    return (exp_up(x) + exp_up(-x)) / 2
