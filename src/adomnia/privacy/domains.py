"""Which values are possible: declared in the catalog, never read from the data."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from adomnia.privacy.amounts import Number, exact, positive
from adomnia.privacy.hashing import hashed_once

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

_CELLS = 2**20  # of a numeric column whose step nobody chose
_LARGEST_GRID = 2**78  # 2**48 rows of it sum to at most 2**126, which every engine's widest integer holds
_MOST_CATEGORIES = 10**6


@hashed_once
@dataclass(frozen=True, init=False)
class Numbers:
    """Numbers between two bounds, handled as whole multiples of a public step.

    >>> salary = Numbers.bounded(0, 500_000)
    >>> salary.step, salary.grid_upper
    (Fraction(1, 4), 2000000)
    """

    tag: ClassVar[str] = "Numbers"
    lower: Fraction
    upper: Fraction
    step: Fraction

    def __init__(self, lower: Number, upper: Number, step: Number) -> None:
        object.__setattr__(self, "lower", exact(lower, "Numbers", "lower"))
        object.__setattr__(self, "upper", exact(upper, "Numbers", "upper"))
        object.__setattr__(self, "step", positive(step, "Numbers", "step"))
        if self.grid_lower > self.grid_upper:
            raise ValueError(f"Numbers upper must leave a multiple of {step} above {lower}, got {upper}.")
        if self.magnitude > _LARGEST_GRID:
            raise ValueError(f"Numbers step must keep both bounds within 2**78 steps of zero, got {step}.")

    @classmethod
    def integers(cls, lower: Number, upper: Number) -> Numbers:
        """Whole numbers between two bounds."""
        return cls(lower, upper, 1)

    @classmethod
    def bounded(cls, lower: Number, upper: Number, step: Number | None = None) -> Numbers:
        """Numbers between two bounds; by default the step is the power of two that makes 2**20 to 2**21 cells."""
        if step is not None:
            return cls(lower, upper, step)
        span = exact(upper, "Numbers", "upper") - exact(lower, "Numbers", "lower")
        if span <= 0:
            raise ValueError(f"Numbers upper must be > lower where no step is given, got {upper}.")
        return cls(lower, upper, _power_of_two_at_most(span / _CELLS))

    @cached_property
    def grid_lower(self) -> int:
        """The first grid integer inside the bounds."""
        return -(-self.lower // self.step)

    @cached_property
    def grid_upper(self) -> int:
        """The last grid integer inside the bounds."""
        return self.upper // self.step

    @cached_property
    def magnitude(self) -> int:
        """How far a sum moves at most when one row comes or goes, in steps."""
        return max(abs(self.grid_lower), abs(self.grid_upper))

    @property
    def width(self) -> int:
        """The distance between the first and the last grid integer, in steps."""
        return self.grid_upper - self.grid_lower

    @property
    def middle(self) -> int:
        """The grid integer that centred sums subtract."""
        return (self.grid_lower + self.grid_upper) // 2

    def grid(self, value: float | None) -> int | None:
        """The grid integer of a value: the reference for what every engine must compute, double arithmetic included."""
        if value is None or _is_nan(value):
            return None
        clamped = float(min(max(value, self._float_lower), self._float_upper))
        nearest = floor(clamped / self._float_step + 0.5)
        # Again, because the bounds may lie off the grid, and because both rounding and the doubles can step over them.
        return min(max(nearest, self.grid_lower), self.grid_upper)

    def value(self, grid: int) -> float:
        """The number that a grid integer stands for."""
        return float(grid * self.step)

    @cached_property
    def _float_lower(self) -> float:
        return float(self.lower)

    @cached_property
    def _float_upper(self) -> float:
        return float(self.upper)

    @cached_property
    def _float_step(self) -> float:
        return float(self.step)


@dataclass(frozen=True, init=False)
class Categories:
    """A closed list of distinct values, in the order in which they were declared.

    >>> Categories(["Oslo", "Bergen"]).values
    ('Oslo', 'Bergen')
    """

    values: tuple[Hashable, ...]

    def __init__(self, values: Iterable[Hashable]) -> None:
        if isinstance(values, str | bytes):
            raise TypeError(f"Categories values must be a list, got {values!r}.")
        listed = tuple(values)
        if not 1 <= len(listed) <= _MOST_CATEGORIES:
            raise ValueError(f"Categories values must number between 1 and {_MOST_CATEGORIES}, got {len(listed)}.")
        seen: set[Hashable] = set()
        for value in listed:
            if value is None or _is_nan(value):
                raise ValueError(f"Categories values must not be missing, got {value!r}.")
            if value in seen:
                raise ValueError(f"Categories values must be distinct, got {value!r} twice.")
            seen.add(value)
        object.__setattr__(self, "values", listed)


Domain: TypeAlias = Numbers | Categories


def _is_nan(value: object) -> bool:
    return value != value  # noqa: PLR0124 - only NaN differs from itself, whatever its type


def _power_of_two_at_most(x: Fraction) -> Fraction:
    exponent = x.numerator.bit_length() - x.denominator.bit_length()
    power = Fraction(2) ** exponent
    return power if power <= x else power / 2
