"""Intervals of formulas.

Where a formula is a sum of noisy integers times constants, or a quotient of two such integers, its interval follows
from the distribution of their noise together. Where it is another smooth function of noisy sums, so it does to first
order, with the slopes that the function has at the ends of the interval; where noise may reach a zero of what is
divided by, or an extreme, that is given up for a box. Any other formula is made of such pieces, and its interval is a
box: each piece is within its own interval, all of them at once, and the least and the greatest value that the formula
then takes are the ends. The confidence that is left open is divided evenly over the pieces (Bonferroni), so it does not
matter whether they share noise.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from adomnia.distributions.margins import divide_confidence
from adomnia.distributions.ratios import quotient_bounds, share_bounds
from adomnia.mechanisms.contract import find_alpha
from adomnia.plans.boxes import find_box, find_limits
from adomnia.plans.formulas import DATE, Formula, Grouping, Keyed, Term, WindowFunction, leaves_of, walk
from adomnia.plans.functions import noisy_values
from adomnia.plans.smoothness import find_propagation
from adomnia.statistics.contract import Bounds, Estimate, Floats, Measured, join_about
from adomnia.statistics.linear import Ring, linear

_TWO = 2
_BOXED = 0.05  # of the misses that are allowed, how many are left to the box where nothing else is known

Interval: TypeAlias = Callable[[float, int], Bounds]
_TAME = 2**100  # constants of formulas are doubles, and their products may be far beyond


def estimate_term(source: Term, estimates: Mapping[Any, Estimate]) -> Estimate:
    """The estimate of an output: values with their intervals."""
    if not isinstance(source, Formula):
        return estimates[source]
    if source.function == DATE:
        return replace(estimate_term(source.terms[0], estimates), dates=True)
    values = noisy_values(source, estimates)
    pieces = list(_pieces(source, estimates))
    dependent = any(isinstance(part, WindowFunction) for part in walk(source))

    def interval(confidence: float, cells: int) -> Bounds:
        if not 0 < confidence < 1:
            raise ValueError(f"Interval confidence must be above 0 and below 1, got {confidence}.")
        if dependent:  # other rows of the answer hold the same noise
            confidence, cells = divide_confidence(confidence, cells), 1
        with np.errstate(all="ignore"):
            lower, upper = _box_of(source, pieces, confidence, cells)
        return around(values, (lower, upper))

    joint = bool(pieces) and pieces[0][0] is source  # one piece, then
    how = "by the distribution of their noise" if joint else "each within its interval"
    method = f"computed from noisy values, {how}"
    about = join_about(estimates[leaf] for leaf in leaves_of(source))
    return Estimate(values, interval, method, _is_whole(source, estimates), about=about)


def around(values: Floats, bounds: Bounds) -> Bounds:
    """The bounds, farther apart where the value would be beyond them; none of what can only be NULL."""
    lower, upper = np.fmin(bounds[0], values), np.fmax(bounds[1], values)
    return np.where(lower > upper, -np.inf, lower), np.where(lower > upper, np.inf, upper)


def _box_of(term: Term, pieces: list[tuple[Term, Interval]], confidence: float, cells: int) -> Bounds:
    """What a term may be if each piece is within its interval, as all of them are with that confidence."""
    intervals = dict(pieces)
    noisy = sum(not isinstance(piece, Keyed | Grouping) for piece in intervals)
    each = divide_confidence(confidence, max(1, noisy))
    bounds = {piece: found(each, cells) for piece, found in intervals.items()}
    return find_box(term, {id(piece): bounds[piece] for piece, _ in pieces})


def _pieces(term: Term, estimates: Mapping[Any, Estimate]) -> Iterator[tuple[Term, Interval]]:
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


def _known(term: Formula, estimates: Mapping[Any, Estimate]) -> Interval | None:
    if _shares_noise(term, estimates):
        return None
    line = find_line(term, estimates)
    if line is not None and line.parts:
        return linear(tuple(line.parts.values()), "", line.constant).interval
    quotient = _quotient_interval(term, estimates) if term.function == "/" else None
    if quotient is not None:
        return quotient
    propagated = _propagated_interval(term, estimates)
    return propagated if propagated is None or term.function != "/" else _cut_share(term, propagated, estimates)


def _cut_share(term: Formula, interval: Interval, estimates: Mapping[Any, Estimate]) -> Interval:
    """The interval of a quotient, cut where what is added up above is part of what is below, and none is negative."""
    above, below = (find_line(part, estimates) for part in term.terms)
    if above is None or below is None or above.constant or below.constant:
        return interval
    factors = {key: factor for key, (_, factor) in below.parts.items()}
    if not above.parts.keys() <= factors.keys() <= below.unsigned or min(factors.values()) <= 0:
        return interval
    # A mean of these shares, weighted by the parts of what is below.
    shares = [float(above.parts[key][1] / factor) if key in above.parts else 0.0 for key, factor in factors.items()]

    def cut(confidence: float, cells: int) -> Bounds:
        lower, upper = interval(confidence, cells)
        return np.clip(lower, min(shares), max(shares)), np.clip(upper, min(shares), max(shares))

    return cut


def _shares_noise(term: Term, estimates: Mapping[Any, Estimate]) -> bool:
    """Whether two totals in a formula are of some of the same cells, in other ways than one within the other."""
    rings: dict[Hashable, set[Ring]] = {}
    for leaf in leaves_of(term):
        for measured, _ in estimates[leaf].parts if isinstance(leaf, WindowFunction) else ():
            if measured.origin is not None and isinstance(measured.origin[1], Ring):
                rings.setdefault(measured.origin[0].key, set()).add(measured.origin[1])
    return any(one.meets(other) for each in rings.values() for one, other in combinations(each, 2))


def _quotient_interval(term: Formula, estimates: Mapping[Any, Estimate]) -> Interval | None:
    """The interval of a quotient; where its divisor may be no more than 1, that of both in a box."""
    above, below = term.terms
    counted = below.terms[0] if isinstance(below, Formula) and below.function == "at least 1" else None
    ratio = _ratio(find_line(above, estimates), find_line(below if counted is None else counted, estimates))
    if ratio is None or counted is None:
        return ratio
    return _known_or_box(term, ratio, (above, counted), estimates)


def _known_or_box(
    term: Formula, known: Interval, sides: tuple[Term, ...], estimates: Mapping[Any, Estimate]
) -> Interval:
    """The known interval where it is bounded, else the box's: together they miss as seldom as one is allowed to."""

    def interval(confidence: float, cells: int) -> Bounds:
        missed = 1 - confidence
        lower, upper = known(1 - missed * (1 - _BOXED), cells)
        bounded = np.isfinite(lower) & np.isfinite(upper)
        if bounded.all():
            return lower, upper
        box = _box_of(term, [piece for side in sides for piece in _pieces(side, estimates)], 1 - missed * _BOXED, cells)
        return np.where(bounded, lower, box[0]), np.where(bounded, upper, box[1])

    return interval


def _propagated_interval(term: Formula, estimates: Mapping[Any, Estimate]) -> Interval | None:
    """The interval of a smooth function of noisy sums; where noise may take it beyond that, the box of its terms."""
    function = find_propagation(term, estimates)
    if function is None:
        return None

    def interval(confidence: float, cells: int) -> Bounds:
        bounds, clear = function.bounds(find_alpha(confidence, cells))
        lower, upper = (np.clip(end, *find_limits(term, estimates)) for end in bounds)
        return np.where(clear, lower, -np.inf), np.where(clear, upper, np.inf)

    return _known_or_box(term, interval, term.terms, estimates)


@dataclass(frozen=True)
class Line:
    """A constant, and noisy integers times constants, each by the key of its noise."""

    constant: Fraction
    parts: dict[Hashable, tuple[Measured, Fraction]]
    unsigned: frozenset[Hashable] = frozenset()  # the keys of those that are noisy values of what is never negative

    @property
    def is_tame(self) -> bool:
        """Whether its numbers are of a size that doubles can follow."""
        numbers = (self.constant, *(factor for _, factor in self.parts.values()))
        return all(abs(each.numerator) <= _TAME and each.denominator <= _TAME for each in numbers)

    def times(self, factor: Fraction) -> "Line":
        parts = {key: (measured, factor * each) for key, (measured, each) in self.parts.items() if factor}
        return Line(factor * self.constant, parts, self.unsigned)

    def plus(self, other: "Line") -> "Line":
        parts = dict(self.parts)
        for key, (measured, factor) in other.parts.items():
            parts[key] = (measured, factor + parts[key][1] if key in parts else factor)
        kept = {key: part for key, part in parts.items() if part[1]}
        return Line(self.constant + other.constant, kept, self.unsigned | other.unsigned)


def find_line(term: Term, estimates: Mapping[Any, Estimate]) -> Line | None:
    """A term as a sum of noisy integers times constants, if it is one."""
    if isinstance(term, Fraction):
        return Line(term, {})
    if not isinstance(term, Formula):
        estimate = estimates[term]
        parts = {part[0].key: part for part in estimate.parts}
        return Line(Fraction(0), parts, frozenset(parts if estimate.unsigned else ())) if parts else None
    lines = [find_line(part, estimates) for part in term.terms]
    line = None if None in lines or term.function not in _LINES else _LINES[term.function](*lines)
    return line if line is not None and line.is_tame else None


def _product(left: Line, right: Line) -> Line | None:
    if left.parts and right.parts:
        return None
    return left.times(right.constant) if left.parts else right.times(left.constant)


def _multiple(left: Line, right: Line) -> Line | None:
    return None if right.parts or not right.constant else left.times(1 / right.constant)


_LINES: dict[str, Callable[..., Line | None]] = {
    "+": Line.plus,
    "-": lambda left, right: left.plus(right.times(Fraction(-1))),
    "*": _product,
    "/": _multiple,
    "negative": lambda line: line.times(Fraction(-1)),
}


def _ratio(above: Line | None, below: Line | None) -> Interval | None:
    """The interval of (a T + c N) / (b N) = a/b T/N + c/b, where T and N have noise of their own."""
    if above is None or below is None or above.constant or below.constant:
        return None
    if len(below.parts) == _TWO and above.parts.keys() <= below.parts.keys() <= below.unsigned:
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


def _ratio_of_shares(above: Line, below: Line) -> Interval | None:
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


def _is_whole(term: Term, estimates: Mapping[Any, Estimate]) -> bool:  # noqa: PLR0911 - one for each kind of function
    if isinstance(term, Fraction):
        return term.denominator == 1
    if not isinstance(term, Formula):
        return estimates[term].whole
    match term.function:
        case "round":
            return bool(term.terms[1] == 0)
        case "case":
            return all(_is_whole(part, estimates) for part in (*term.terms[1::2], term.terms[-1]))
        case "floor" | "ceil":
            return True
        case "inside" | "nullif":
            return _is_whole(term.terms[0], estimates)
        case "/" | "sqrt" | "ln" | "log10" | "exp" | "power":
            return False
    return all(_is_whole(part, estimates) for part in term.terms)
