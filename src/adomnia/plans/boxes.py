"""What formulas may be if each of their terms is between two bounds: the least and the greatest value."""

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np

from adomnia.plans.formulas import Formula, Term, divide, noisy_values, round_half_away
from adomnia.plans.smoothness import find_derivation
from adomnia.statistics.contract import Bounds, Estimate, Floats, Statistic


def find_box(term: Term, bounds: Mapping[int, Bounds]) -> Bounds:
    """The box of a term whose pieces have such bounds, each by its id."""
    if id(term) in bounds:
        return bounds[id(term)]
    if not isinstance(term, Formula):
        constant = np.asarray(float(term))  # type: ignore[arg-type]  # every statistic is in a piece
        return constant, constant
    return _certain(_BOXES[term.function](*(find_box(part, bounds) for part in term.terms)))


def _certain(bounds: Bounds) -> Bounds:
    """What infinite ends make of each other may be no number: then nothing is known."""
    unknown = np.isnan(bounds[0]) | np.isnan(bounds[1])
    return np.where(unknown, -np.inf, bounds[0]) + 0.0, np.where(unknown, np.inf, bounds[1]) + 0.0


def find_limits(term: Term, estimates: Mapping[Statistic, Estimate]) -> Bounds:
    """What a term can be at all, if nothing that it divides by is zero or of another sign than it seems."""
    if isinstance(term, Fraction):
        return np.asarray(float(term)), np.asarray(float(term))
    if not isinstance(term, Formula):
        derivation = find_derivation(estimates[term])
        lower, upper = (-np.inf, np.inf) if derivation is None else derivation.limits
        return np.asarray(lower), np.asarray(upper)
    terms = [find_limits(part, estimates) for part in term.terms]
    if term.function != "/":
        return _certain(_BOXES[term.function](*terms))
    (low, high), divisor = terms[0], noisy_values(term.terms[1], estimates)
    # Turned so that the divisor is above zero: then its end that is nearer to zero may be zero itself.
    turned = (np.where(divisor < 0, -high, low), np.where(divisor < 0, -low, high))
    near, far = (np.where(divisor < 0, -one, other) for one, other in (terms[1][::-1], terms[1]))
    near = np.maximum(near, 0.0)
    return _certain(
        (
            np.where(turned[0] < 0, turned[0] / near, turned[0] / far),
            np.where(turned[1] > 0, turned[1] / near, turned[1] / far),
        )
    )


def _least_and_greatest(combine: Callable[[Floats, Floats], Floats], left: Bounds, right: Bounds) -> Bounds:
    corners = [combine(one, other) for one in left for other in right]
    # minimum and maximum, not fmin and fmax: one corner that is no number makes the end none.
    return np.minimum.reduce(np.broadcast_arrays(*corners)), np.maximum.reduce(np.broadcast_arrays(*corners))


def _quotient_box(left: Bounds, right: Bounds) -> Bounds:
    lower, upper = _least_and_greatest(divide, left, right)
    around_zero = (right[0] <= 0) & (right[1] >= 0)
    return np.where(around_zero, -np.inf, lower), np.where(around_zero, np.inf, upper)


_BOXES: dict[str, Callable[..., Bounds]] = {
    "+": lambda left, right: (left[0] + right[0], left[1] + right[1]),
    "-": lambda left, right: (left[0] - right[1], left[1] - right[0]),
    "*": lambda left, right: _least_and_greatest(np.multiply, left, right),
    "/": _quotient_box,
    "negative": lambda value: (-value[1], -value[0]),
    "round": lambda value, digits: (round_half_away(value[0], digits[0]), round_half_away(value[1], digits[0])),
    "at least 1": lambda value: (np.maximum(value[0], 1.0), np.maximum(value[1], 1.0)),
}
