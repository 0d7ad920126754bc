"""Terms that are sums of noisy integers times constants: the law of their noise is known as it is."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from adomnia.plans.formulas import Formula, Term
from adomnia.statistics.contract import Estimate, Measured

_TAME = 2**100  # constants of formulas are doubles, and their products may be far beyond


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
