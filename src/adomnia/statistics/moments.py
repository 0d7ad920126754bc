"""Sums of values, of their squares and of their products: what is measured for a spread or a correlation.

Values are counted from the middle of their bounds: there one row moves each sum least, and the noise of the number of
rows matters little.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol, Self

import numpy as np

from adomnia.distributions.quotients import Noisy
from adomnia.mechanisms.contract import Noise
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Expression, Literal, call, number
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Aggregate, Query
from adomnia.privacy.scans import Total
from adomnia.statistics.contract import Floats, Measured

ROWS = "rows"  # their number, among sums that are named by the letters of what is multiplied in them

_EXACT = 2**53  # up to here every whole number is a double
_LARGEST = 2**900  # far from where doubles overflow


def centre_total(total: Total) -> Total:
    """The sum of the distances from the middle, as a mean measures it."""
    return replace(total, centre=total.domain.middle)


def multiply_totals(left: Total, right: Total) -> Total:
    """The sum of the products of two distances from the middle, or of one with itself, from the middle of its own."""
    value = call("*", _distance(left), _distance(right))
    highest = _reach(left) * _reach(right)
    if highest > _LARGEST:
        raise ValueError(f"Products of distances must be at most 2**900, got {left.domain} and {right.domain}.")
    domain = _domain(value, Fraction(0) if left == right else -highest, highest)
    return Total(value, domain, domain.middle)


def where_both(total: Total, other: Total) -> Total:
    """The same sum over the rows where another value is there too."""
    nothing = Literal(None, total.value.kind)
    return replace(total, value=call("case", call("is null", other.value), nothing, total.value))


def width(total: Total) -> float:
    """The distance between the bounds of a value."""
    return float(total.domain.upper - total.domain.lower)


def query_moments(query: Query, moments: Mapping[str, Aggregate]) -> dict[str, Query]:
    """One query for each moment, all over the same rows."""
    return {name: replace(query, aggregate=aggregate) for name, aggregate in moments.items()}


class NoisyMoments(Protocol):
    """Noisy sums from which a spread is computed, however they were measured; values are called x and y."""

    @property
    def noises(self) -> Mapping[str, Noise]:
        """The distribution of each measurement's noise."""
        ...

    def rows(self, less: int = 0) -> Noisy:
        """The number of rows, less one for samples."""
        ...

    def about_means(self, first: str, second: str) -> Noisy:
        """The sum of the products of two values' distances from their means."""
        ...

    def about_noisy_means(self, first: str, second: str) -> Floats:
        """The same as a smooth function of the noisy sums: means may be beyond the bounds of their values."""
        ...

    @property
    def sums(self) -> tuple[Measured, ...]:
        """The noisy sums, each with noise of its own."""
        ...

    def with_sums(self, values: Sequence[Floats]) -> Self:
        """The same with other sums in their place, with axes before those of the cells."""
        ...


@dataclass(frozen=True)
class Moments:
    """What was asked of the rows of every cell and what was measured, by name."""

    asked: Mapping[str, Query]
    answers: Mapping[str, Measured]

    @classmethod
    def of(cls, asked: Mapping[str, Query], measured: Sequence[Measured]) -> Self:
        """With the answers to their queries, in their order."""
        return cls(asked, dict(zip(asked, measured, strict=True)))

    @property
    def noises(self) -> Mapping[str, Noise]:
        """The distribution of each measurement's noise."""
        return {name: answer.noise for name, answer in self.answers.items()}

    def rows(self, less: int = 0) -> Noisy:
        """The number of rows, less one for samples."""
        values = _floats(self.answers[ROWS])
        return Noisy(values - less, {ROWS: np.ones_like(values)}, np.zeros_like(values))

    def about_means(self, first: str, second: str) -> Noisy:
        """The sum of the products of two values' distances from their means: W - U V / N of the noisy sums."""
        # A noisy number of rows may be zero or less. One is the least that there is a mean of.
        rows = np.maximum(_floats(self.answers[ROWS]), 1.0)
        both = first + second
        products = self._total(both)
        one, two = (self._mean(name, rows) for name in both)
        offset = float(_middle(products))
        values = _floats(self.answers[both]) * float(products.domain.step) + (offset - one * two) * rows
        weights = {ROWS: offset + one * two, both: np.full_like(rows, float(products.domain.step))}
        for name, other in ((first, two), (second, one)):
            weights[name] = weights.get(name, np.zeros_like(rows)) - other * float(self._total(name).domain.step)
        off = [rounding_of(self._total(name)) for name in both]
        each = rounding_of(products) + np.abs(one) * off[1] + np.abs(two) * off[0] + off[0] * off[1]
        return Noisy(values, weights, each * rows)

    def about_noisy_means(self, first: str, second: str) -> Floats:
        """The same as a smooth function of the noisy sums: means may be beyond the bounds of their values."""
        rows = np.maximum(_floats(self.answers[ROWS]), 1.0)
        both = first + second
        products, one, two = (
            _floats(self.answers[name]) * float(self._total(name).domain.step) for name in (both, *both)
        )
        return np.asarray(products + float(_middle(self._total(both))) * rows - one * two / rows)

    @property
    def sums(self) -> tuple[Measured, ...]:
        """The noisy sums, each with noise of its own."""
        return tuple(self.answers.values())

    def with_sums(self, values: Sequence[Floats]) -> Self:
        """The same with other answers."""
        answers = zip(self.answers.items(), values, strict=True)
        changed = {name: Measured(found, answer.mechanism) for (name, answer), found in answers}  # type: ignore[arg-type]
        return replace(self, answers=changed)

    def _mean(self, name: str, rows: Floats) -> Floats:
        total = self._total(name)
        return np.clip(_floats(self.answers[name]) * float(total.domain.step) / rows, *_around(total))

    def _total(self, name: str) -> Total:
        return self.asked[name].total


def _floats(measured: Measured) -> Floats:
    return np.asarray(measured.values, dtype=np.float64)


def _middle(total: Total) -> Fraction:
    return total.domain.middle * total.domain.step


def _around(total: Total) -> tuple[float, float]:
    return float(total.domain.lower - _middle(total)), float(total.domain.upper - _middle(total))


def _reach(total: Total) -> Fraction:
    return max(total.domain.upper - _middle(total), _middle(total) - total.domain.lower)


def _distance(total: Total) -> Expression:
    return call("-", total.value, number(_middle(total)))


def _domain(value: Expression, lowest: Fraction, highest: Fraction) -> Numbers:
    whole = isinstance(value.kind, Quantity) and value.kind.whole
    if lowest == highest or (whole and highest <= _EXACT):
        return Numbers.integers(lowest, highest)
    return Numbers.bounded(lowest, highest)


def rounding_of(total: Total, coarser: Numbers | None = None) -> float:
    """How far a value may be from its place on the grid, or on a coarser one."""
    domain, kind = coarser or total.domain, total.value.kind
    if 1 % domain.step == 0 and isinstance(kind, Quantity) and kind.whole:
        return 0.0
    ends = (domain.grid_lower * domain.step - domain.lower, domain.upper - domain.grid_upper * domain.step)
    return float(max(domain.step / 2, *ends))
