"""Arithmetic between statistics: computed on noisy values, so it is free.

The interval of a formula is a box: each of its statistics is within its own interval, all of them at once, and the
least and the greatest value that the formula then takes are the ends. The confidence that is left open is divided
evenly over the statistics (Bonferroni), so it does not matter whether they share noise.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, Union

import numpy as np

from adomnia.statistics.contract import Bounds, Estimate, Floats, Statistic

_LARGEST = float(np.finfo(np.float64).max)
_SUREST = 1 - 2.0**-53  # the largest double below 1
_EXACT = 2.0**52  # from here on every double is whole

Term: TypeAlias = Union[Statistic, "Formula", Fraction]


@dataclass(frozen=True)
class Formula:
    """A function of statistics, formulas and constants; at least one statistic is among them."""

    function: str
    terms: tuple[Term, ...]


def statistics_of(term: Term) -> Iterator[Statistic]:
    """The statistics of a formula, as often as they are written."""
    if isinstance(term, Formula):
        for part in term.terms:
            yield from statistics_of(part)
    elif not isinstance(term, Fraction):
        yield term


def operations(term: Term) -> int:
    """Of how many functions, statistics and constants a formula consists."""
    return 1 + sum(map(operations, term.terms)) if isinstance(term, Formula) else 1


def is_linear(term: Term) -> bool:
    """Whether a term is a sum of statistics times constants: how wide its box is depends on no value."""
    if not isinstance(term, Formula):
        return True
    first, *others = term.terms
    match term.function:
        case "+" | "-" | "negative":
            return all(map(is_linear, term.terms))
        case "*":
            return sum(not isinstance(part, Fraction) for part in term.terms) == 1 and all(map(is_linear, term.terms))
        case "/":
            return isinstance(others[0], Fraction) and is_linear(first)
    return False


def noisy(term: Term, estimates: Mapping[Statistic, Estimate]) -> Floats:
    """The value in each cell, always a finite number."""
    with np.errstate(all="ignore"):
        return _values(term, estimates)


def estimated(source: Statistic | Formula, estimates: Mapping[Statistic, Estimate]) -> Estimate:
    """The estimate of an output: values with their intervals."""
    if not isinstance(source, Formula):
        return estimates[source]
    parts = tuple(dict.fromkeys(statistics_of(source)))

    def interval(confidence: float, cells: int) -> Bounds:
        if not 0 < confidence < 1:
            raise ValueError(f"Interval confidence must be above 0 and below 1, got {confidence}.")
        each = min(1 - (1 - confidence) / len(parts), _SUREST)
        bounds = {part: estimates[part].interval(each, cells) for part in parts}
        with np.errstate(all="ignore"):
            return _box(source, bounds)

    return Estimate(noisy(source, estimates), interval, "computed from noisy values", _is_whole(source, estimates))


def _values(term: Term, estimates: Mapping[Statistic, Estimate]) -> Floats:
    if isinstance(term, Fraction):
        return np.asarray(float(term))
    if not isinstance(term, Formula):
        return estimates[term].values
    found = _VALUES[term.function](*(_values(part, estimates) for part in term.terms))
    # No product of finite numbers is infinite then, and nothing is -0.
    return np.clip(found, -_LARGEST, _LARGEST) + 0.0


def _box(term: Term, bounds: Mapping[Statistic, Bounds]) -> Bounds:
    if isinstance(term, Fraction):
        return np.asarray(float(term)), np.asarray(float(term))
    if not isinstance(term, Formula):
        return bounds[term]
    lower, upper = _BOXES[term.function](*(_box(part, bounds) for part in term.terms))
    # What infinite ends make of each other may be no number: then nothing is known.
    unknown = np.isnan(lower) | np.isnan(upper)
    return np.where(unknown, -np.inf, lower) + 0.0, np.where(unknown, np.inf, upper) + 0.0


def _is_whole(term: Term, estimates: Mapping[Statistic, Estimate]) -> bool:
    if isinstance(term, Fraction):
        return term.denominator == 1
    if not isinstance(term, Formula):
        return estimates[term].whole
    if term.function == "round":
        return bool(term.terms[1] == 0)
    return term.function != "/" and all(_is_whole(part, estimates) for part in term.terms)


def _quotient(left: Floats, right: Floats) -> Floats:
    """0 where the divisor is 0: any number would do, since the interval there is unbounded."""
    return np.where(right == 0, 0.0, left / np.where(right == 0, 1.0, right))


def _rounded(value: Floats, digits: Floats) -> Floats:
    """To so many digits behind the point, halves away from zero."""
    scale = 10.0**digits
    scaled = np.abs(value) * scale
    return np.where(scaled < _EXACT, np.copysign(np.floor(scaled + 0.5) / scale, value), value)


def _least_and_greatest(combine: Callable[[Floats, Floats], Floats], left: Bounds, right: Bounds) -> Bounds:
    corners = [combine(one, other) for one in left for other in right]
    # minimum and maximum, not fmin and fmax: one corner that is no number makes the end none.
    return np.minimum.reduce(np.broadcast_arrays(*corners)), np.maximum.reduce(np.broadcast_arrays(*corners))


def _quotient_box(left: Bounds, right: Bounds) -> Bounds:
    lower, upper = _least_and_greatest(_quotient, left, right)
    around_zero = (right[0] <= 0) & (right[1] >= 0)
    return np.where(around_zero, -np.inf, lower), np.where(around_zero, np.inf, upper)


_VALUES: dict[str, Callable[..., Floats]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": _quotient,
    "negative": np.negative,
    "round": _rounded,
    "at least 1": lambda value: np.maximum(value, 1.0),
}
_BOXES: dict[str, Callable[..., Bounds]] = {
    "+": lambda left, right: (left[0] + right[0], left[1] + right[1]),
    "-": lambda left, right: (left[0] - right[1], left[1] - right[0]),
    "*": lambda left, right: _least_and_greatest(np.multiply, left, right),
    "/": _quotient_box,
    "negative": lambda value: (-value[1], -value[0]),
    "round": lambda value, digits: (_rounded(value[0], digits[0]), _rounded(value[1], digits[0])),
    "at least 1": lambda value: (np.maximum(value[0], 1.0), np.maximum(value[1], 1.0)),
}
