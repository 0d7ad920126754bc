"""The functions that are computed on noisy values, cell by cell. NULL is a number that is none (nan)."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from operator import eq, ge, gt, le, lt
from typing import Any

import numpy as np

from adomnia.plans.formulas import DATE, Formula, Term
from adomnia.statistics.contract import Estimate, Floats

LARGEST = float(np.finfo(np.float64).max)
UNKNOWN = 0.5  # a condition that is NULL: AND is then the least of its parts, and OR the greatest
_EXACT = 2.0**52  # from here on every double is whole

KEY_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {"=": eq, "<": lt, "<=": le, ">": gt, ">=": ge}


def noisy_values(term: Term, estimates: Mapping[Any, Estimate]) -> Floats:
    """The value in each cell: a finite number, or NULL."""
    with np.errstate(all="ignore"):
        return _values(term, estimates)


def _values(term: Term, estimates: Mapping[Any, Estimate]) -> Floats:
    if isinstance(term, Fraction):
        return np.asarray(float(term))
    if not isinstance(term, Formula):
        return estimates[term].values
    found = VALUES[term.function](*(_values(part, estimates) for part in term.terms))
    # No product of finite numbers is infinite then, and nothing is -0.
    return np.clip(found, -LARGEST, LARGEST) + 0.0


def divide(left: Floats, right: Floats) -> Floats:
    """0 where the divisor is 0: any number would do, since the interval there is unbounded."""
    return np.where(right == 0, 0.0 * left, left / np.where(right == 0, 1.0, right))


def round_half_away(value: Floats, digits: Floats) -> Floats:
    """To so many digits behind the point, halves away from zero."""
    scale = 10.0**digits
    scaled = np.abs(value) * scale
    return np.where(scaled < _EXACT, np.copysign(np.floor(scaled + 0.5) / scale, value), value)


def raise_to(value: Floats, exponent: Floats) -> Floats:
    """A power; NULL where there is none: of zero below zero, of a number below zero by a fraction."""
    return np.where((value == 0) & (exponent < 0), np.nan, np.power(value, exponent))


def root(value: Floats) -> Floats:
    """The square root; NULL below zero."""
    return np.sqrt(np.where(value < 0, np.nan, value))


def logarithm(find: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
    """A logarithm; NULL from zero downwards."""
    return lambda value: find(np.where(value <= 0, np.nan, value))


def inside(value: Floats, least: Floats, most: Floats) -> Floats:
    """NULL beyond the range of a type."""
    return np.where((value >= least) & (value <= most), value, np.nan)


def _compare(holds: Callable[[Floats, Floats], Any]) -> Callable[[Floats, Floats], Floats]:
    return lambda left, right: np.where(np.isnan(left) | np.isnan(right), UNKNOWN, holds(left, right))


def _first(*values: Floats) -> Floats:
    found = values[-1]
    for value in reversed(values[:-1]):
        found = np.where(np.isnan(value), found, value)
    return np.asarray(found)


def _choose(*terms: Floats) -> Floats:
    found = terms[-1]
    for place in range(len(terms) - 3, -1, -2):
        found = np.where(terms[place] == 1, terms[place + 1], found)
    return np.asarray(found)


def _reduce(combine: np.ufunc, start: float | None = None) -> Callable[..., Floats]:
    def reduced(*values: Floats) -> Floats:
        found = values[0] if start is None else np.asarray(start)
        for value in values if start is not None else values[1:]:
            found = combine(found, value)
        return found

    return reduced


VALUES: dict[str, Callable[..., Floats]] = {
    DATE: lambda days: days,
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": divide,
    "negative": np.negative,
    "round": round_half_away,
    "at least 1": lambda value: np.maximum(value, 1.0),
    "abs": np.abs,
    "floor": np.floor,
    "ceil": np.ceil,
    "sqrt": root,
    "ln": logarithm(np.log),
    "log10": logarithm(np.log10),
    "exp": np.exp,
    "power": raise_to,
    "greatest": _reduce(np.fmax),
    "least": _reduce(np.fmin),
    "coalesce": _first,
    "nullif": lambda value, other: np.where(value == other, np.nan, value),
    "inside": inside,
    "null": lambda: np.asarray(np.nan),
    "case": _choose,
    "=": _compare(np.equal),
    "<>": _compare(np.not_equal),
    "<": _compare(np.less),
    "<=": _compare(np.less_equal),
    ">": _compare(np.greater),
    ">=": _compare(np.greater_equal),
    "is null": lambda value: np.isnan(value) * 1.0,
    "and": _reduce(np.minimum, 1.0),
    "or": _reduce(np.maximum, 0.0),
    "not": lambda condition: 1.0 - condition,
}
