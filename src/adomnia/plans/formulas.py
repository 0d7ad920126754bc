"""Arithmetic between statistics: computed on noisy values, so it is free.

Where a formula is a sum of at most two noisy integers times constants, or a quotient of two such integers, its interval
follows from the law of their noise together. Any other is made of such pieces, and its interval is a box: each piece is
within its own interval, all of them at once, and the least and the greatest value that the formula then takes are the
ends. The confidence that is left open is divided evenly over the pieces (Bonferroni), so it does not matter whether
they share noise.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeAlias, Union

import numpy as np

from adomnia.statistics.contract import Bounds, Estimate, Floats, Measured, Statistic
from adomnia.statistics.linear import MOST_EXACT, linear
from adomnia.statistics.ratios import quotient_bounds
from adomnia.statistics.shares import share_bounds

_LARGEST = float(np.finfo(np.float64).max)
_SUREST = 1 - 2.0**-53  # the largest double below 1
_BOXED = 0.05  # of the misses that are allowed, how many are left to the box where a ratio is unbounded
_TAME = 2**100  # constants of formulas are doubles, and their products may be far beyond
_EXACT = 2.0**52  # from here on every double is whole

Term: TypeAlias = Union[Statistic, "Formula", Fraction]
Interval: TypeAlias = Callable[[float, int], Bounds]


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
        case "+" | "-" | "negative":
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


def estimate_term(source: Statistic | Formula, estimates: Mapping[Statistic, Estimate]) -> Estimate:
    """The estimate of an output: values with their intervals."""
    if not isinstance(source, Formula):
        return estimates[source]
    values = noisy_values(source, estimates)
    pieces = list(_pieces(source, estimates))
    intervals = dict(pieces)

    def interval(confidence: float, cells: int) -> Bounds:
        if not 0 < confidence < 1:
            raise ValueError(f"Interval confidence must be above 0 and below 1, got {confidence}.")
        each = min(1 - (1 - confidence) / len(intervals), _SUREST)
        bounds = {piece: found(each, cells) for piece, found in intervals.items()}
        with np.errstate(all="ignore"):
            lower, upper = _box(source, {id(piece): bounds[piece] for piece, _ in pieces})
        return np.minimum(lower, values), np.maximum(upper, values)

    exact = pieces[0][0] is source  # one piece, then
    method = "computed from noisy values, " + ("by the law of their noise" if exact else "each within its interval")
    return Estimate(values, interval, method, _is_whole(source, estimates))


def _pieces(term: Term, estimates: Mapping[Statistic, Estimate]) -> Iterator[tuple[Term, Interval]]:
    """The largest parts of a formula whose interval is known, as often as they are written."""
    if isinstance(term, Formula):
        known = _known(term, estimates)
        if known is not None:
            yield term, known
            return
        for part in term.terms:
            yield from _pieces(part, estimates)
    elif not isinstance(term, Fraction):
        yield term, estimates[term].interval


def _known(term: Formula, estimates: Mapping[Statistic, Estimate]) -> Interval | None:
    line = _line(term, estimates)
    if line is not None and 0 < len(line.parts) <= MOST_EXACT:
        return linear(tuple(line.parts.values()), "", line.constant).interval
    return _quotient_interval(term, estimates) if term.function == "/" else None


@dataclass(frozen=True)
class _Line:
    """A constant, and noisy integers times constants, each by whose it is."""

    constant: Fraction
    parts: dict[int, tuple[Measured, Fraction]]

    @property
    def is_tame(self) -> bool:
        """Whether its numbers are of a size that doubles can follow."""
        numbers = (self.constant, *(factor for _, factor in self.parts.values()))
        return all(abs(each.numerator) <= _TAME and each.denominator <= _TAME for each in numbers)

    def times(self, factor: Fraction) -> "_Line":
        parts = {key: (measured, factor * each) for key, (measured, each) in self.parts.items() if factor}
        return _Line(factor * self.constant, parts)

    def plus(self, other: "_Line") -> "_Line":
        parts = dict(self.parts)
        for key, (measured, factor) in other.parts.items():
            parts[key] = (measured, factor + parts[key][1] if key in parts else factor)
        kept = {key: part for key, part in parts.items() if part[1]}
        return _Line(self.constant + other.constant, kept)


def _line(term: Term, estimates: Mapping[Statistic, Estimate]) -> _Line | None:
    """A term as a sum of noisy integers times constants, if it is one."""
    if isinstance(term, Fraction):
        return _Line(term, {})
    if not isinstance(term, Formula):
        parts = estimates[term].parts
        return _Line(Fraction(0), {id(part[0]): part for part in parts}) if parts else None
    lines = [_line(part, estimates) for part in term.terms]
    line = None if None in lines or term.function not in _LINES else _LINES[term.function](*lines)
    return line if line is not None and line.is_tame else None


def _product(left: _Line, right: _Line) -> _Line | None:
    if left.parts and right.parts:
        return None
    return left.times(right.constant) if left.parts else right.times(left.constant)


def _multiple(left: _Line, right: _Line) -> _Line | None:
    return None if right.parts or not right.constant else left.times(1 / right.constant)


def _quotient_interval(term: Formula, estimates: Mapping[Statistic, Estimate]) -> Interval | None:
    """The interval of a quotient; where its divisor may be no more than 1, that of both in a box."""
    above, below = term.terms
    counted = below.terms[0] if isinstance(below, Formula) and below.function == "at least 1" else None
    ratio = _ratio(_line(above, estimates), _line(below if counted is None else counted, estimates))
    if ratio is None or counted is None:
        return ratio
    return _ratio_or_box(term, ratio, [*_pieces(above, estimates), *_pieces(counted, estimates)])


def _ratio_or_box(term: Formula, ratio: Interval, sides: list[tuple[Term, Interval]]) -> Interval:
    """The ratio's interval where it is bounded, else the box's: together they miss as seldom as one is allowed to."""

    def interval(confidence: float, cells: int) -> Bounds:
        missed = 1 - confidence
        lower, upper = ratio(1 - missed * (1 - _BOXED), cells)
        each = min(1 - missed * _BOXED / len(sides), _SUREST)
        box = _box(term, {id(part): found(each, cells) for part, found in sides})
        bounded = np.isfinite(lower) & np.isfinite(upper)
        return np.where(bounded, lower, box[0]), np.where(bounded, upper, box[1])

    return interval


def _ratio(above: _Line | None, below: _Line | None) -> Interval | None:
    """The interval of (a T + c N) / (b N) = a/b T/N + c/b, where T and N have noise of their own."""
    if above is None or below is None or above.constant or below.constant:
        return None
    if len(below.parts) == MOST_EXACT and above.parts.keys() <= below.parts.keys():
        return _ratio_of_shares(above, below)
    if len(below.parts) != 1:
        return None
    ((key, (divisor, factor)),) = below.parts.items()
    others = [part for name, part in above.parts.items() if name != key]
    if len(others) != 1:
        return None
    ((dividend, share),) = others
    shift = above.parts[key][1] / factor if key in above.parts else Fraction(0)

    def interval(confidence: float, cells: int) -> Bounds:
        ends = quotient_bounds(dividend, divisor, confidence, cells)
        lower, upper = (end * float(share / factor) + float(shift) for end in ends)
        return (lower, upper) if share / factor > 0 else (upper, lower)

    return interval


def _ratio_of_shares(above: _Line, below: _Line) -> Interval | None:
    """The interval of (a A + b B) / (c A + d B) with c, d > 0: in A / (A + B) it only rises or only falls."""
    (one, (part, c)), (two, (rest, d)) = below.parts.items()
    if min(c, d) <= 0:
        return None
    a, b = (above.parts[key][1] if key in above.parts else Fraction(0) for key in (one, two))

    def interval(confidence: float, cells: int) -> Bounds:
        shares = share_bounds(part, rest, confidence, cells)
        ends = [
            (float(a) * share + float(b) * (1 - share)) / (float(c) * share + float(d) * (1 - share))
            for share in (np.clip(shares[0], 0.0, 1.0), np.clip(shares[1], 0.0, 1.0))
        ]
        return np.minimum(*ends), np.maximum(*ends)

    return interval


def _values(term: Term, estimates: Mapping[Statistic, Estimate]) -> Floats:
    if isinstance(term, Fraction):
        return np.asarray(float(term))
    if not isinstance(term, Formula):
        return estimates[term].values
    found = _VALUES[term.function](*(_values(part, estimates) for part in term.terms))
    # No product of finite numbers is infinite then, and nothing is -0.
    return np.clip(found, -_LARGEST, _LARGEST) + 0.0


def _box(term: Term, bounds: Mapping[int, Bounds]) -> Bounds:
    if id(term) in bounds:
        return bounds[id(term)]
    if not isinstance(term, Formula):
        constant = np.asarray(float(term))  # type: ignore[arg-type]  # every statistic is in a piece
        return constant, constant
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
_LINES: dict[str, Callable[..., _Line | None]] = {
    "+": _Line.plus,
    "-": lambda left, right: left.plus(right.times(Fraction(-1))),
    "*": _product,
    "/": _multiple,
    "negative": lambda line: line.times(Fraction(-1)),
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
