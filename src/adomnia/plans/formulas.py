"""Arithmetic between statistics: computed on noisy values, so it is free."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeAlias, Union

import numpy as np

from adomnia.statistics.contract import Estimate, Floats, Statistic

LARGEST = float(np.finfo(np.float64).max)
_EXACT = 2.0**52  # from here on every double is whole

DATE = "date"  # the function that reads a number of days as a date

Term: TypeAlias = Union[Statistic, "Formula", Fraction]


@dataclass(frozen=True)
class Formula:
    """A function of statistics, formulas and constants; at least one statistic is among them."""

    tag: ClassVar[str] = "Formula"
    function: str
    terms: tuple[Term, ...]


def statistics_of(term: Term) -> Iterator[Statistic]:
    """The statistics of a formula, as often as they are written."""
    if isinstance(term, Formula):
        for part in term.terms:
            yield from statistics_of(part)
    elif not isinstance(term, Fraction):
        yield term


def map_statistics(term: Term, change: Callable[[Statistic], Statistic]) -> Term:
    """The same term with every statistic changed."""
    if isinstance(term, Formula):
        return Formula(term.function, tuple(map_statistics(part, change) for part in term.terms))
    return term if isinstance(term, Fraction) else change(term)


def count_nodes(term: Term) -> int:
    """Of how many functions, statistics and constants a formula consists."""
    return 1 + sum(map(count_nodes, term.terms)) if isinstance(term, Formula) else 1


def is_linear(term: Term) -> bool:
    """Whether a term is a sum of statistics times constants: how wide its box is depends on no value."""
    if not isinstance(term, Formula):
        return True
    first, *others = term.terms
    match term.function:
        case "+" | "-" | "negative" | "date":
            return all(map(is_linear, term.terms))
        case "*":
            return sum(not isinstance(part, Fraction) for part in term.terms) == 1 and all(map(is_linear, term.terms))
        case "/":
            return isinstance(others[0], Fraction) and is_linear(first)
    return False


def noisy_values(term: Term, estimates: Mapping[Statistic, Estimate]) -> Floats:
    """The value in each cell, always a finite number."""
    with np.errstate(all="ignore"):
        return _values(term, estimates)


def _values(term: Term, estimates: Mapping[Statistic, Estimate]) -> Floats:
    if isinstance(term, Fraction):
        return np.asarray(float(term))
    if not isinstance(term, Formula):
        return estimates[term].values
    found = VALUES[term.function](*(_values(part, estimates) for part in term.terms))
    # No product of finite numbers is infinite then, and nothing is -0.
    return np.clip(found, -LARGEST, LARGEST) + 0.0


def divide(left: Floats, right: Floats) -> Floats:
    """0 where the divisor is 0: any number would do, since the interval there is unbounded."""
    return np.where(right == 0, 0.0, left / np.where(right == 0, 1.0, right))


def round_half_away(value: Floats, digits: Floats) -> Floats:
    """To so many digits behind the point, halves away from zero."""
    scale = 10.0**digits
    scaled = np.abs(value) * scale
    return np.where(scaled < _EXACT, np.copysign(np.floor(scaled + 0.5) / scale, value), value)


VALUES: dict[str, Callable[..., Floats]] = {
    DATE: lambda days: days,
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": divide,
    "negative": np.negative,
    "round": round_half_away,
    "at least 1": lambda value: np.maximum(value, 1.0),
}
