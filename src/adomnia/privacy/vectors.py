"""Several numbers of each row, added up together: a person moves all of them at once, by less than by each alone.

Proof: docs/proofs/vectors.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar

from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Expression
from adomnia.privacy.hashing import hashed_once
from adomnia.privacy.polynomials import Polynomial, largest_move
from adomnia.privacy.scans import Scan
from adomnia.privacy.sensitivity import Sensitivity

MOST_ENTRIES = 256
LARGEST_ENTRY = 2**78  # 2**48 rows of it sum to at most 2**126, which every engine's widest integer holds


class LargeEntryError(ValueError):
    """A product of columns is so large that no engine adds it up exactly."""


@dataclass(frozen=True)
class Variable:
    """A number of a row in steps of its grid, counted from the lower end: between 0 and the width of the grid."""

    tag: ClassVar[str] = "Variable"
    value: Expression
    domain: Numbers


@hashed_once
@dataclass(frozen=True)
class Vector(Scan):
    """Sums of polynomials of a row's variables; an entry adds nothing where a variable that it names is NULL.

    `absent`, if not 0, makes one more entry of a vector of one variable, the last: what a row adds to it where that
    variable is NULL. All others must name the variable, so that a row is either in them or in the last.
    """

    tag: ClassVar[str] = "Vector"
    adds_up: ClassVar[bool] = True
    variables: tuple[Variable, ...]
    entries: tuple[Polynomial, ...]
    absent: int = 0

    def __post_init__(self) -> None:
        if not 1 <= len(self.entries) <= MOST_ENTRIES:
            raise ValueError(f"Vector entries must number between 1 and {MOST_ENTRIES}, got {len(self.entries)}.")
        if any(len(exponents) != len(self.variables) for entry in self.entries for _, exponents in entry.terms):
            raise ValueError(f"Vector entries must be of {len(self.variables)} variables each, got {self.entries}.")
        if type(self.absent) is not int or self.absent < 0:
            raise ValueError(f"Vector absent must be a whole number of at least 0, got {self.absent}.")
        if self.absent and (len(self.variables) != 1 or not all(map(_is_named, self.entries))):
            raise ValueError("Vector absent must stand beside entries that all name the one variable, got others.")
        if self.magnitude > LARGEST_ENTRY:
            raise LargeEntryError(f"Vector entries must stay within 2**78 in every row, got {self.magnitude}.")

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return tuple(variable.value for variable in self.variables)

    @property
    def grids(self) -> tuple[Numbers, ...]:
        return tuple(variable.domain for variable in self.variables)

    @cached_property
    def magnitude(self) -> int:
        """A bound on every entry of a row, and on every step of computing it."""
        widths = self._widths
        return max(1, self.absent, *(entry.size(widths) for entry in self.entries))

    @property
    def columns(self) -> int:
        """How many numbers it gives, in cells that have them innermost."""
        return len(self.entries) + bool(self.absent)

    def result_shape(self, cells: tuple[int, ...]) -> tuple[int, ...]:
        return *cells, self.columns

    @cached_property
    def row(self) -> Sensitivity:
        """How far one row moves all entries together: those that name what it has, or the one for what it has not."""
        present, absent = _largest_move(self.entries, self._widths), Fraction(self.absent)
        return Sensitivity(
            max(present.l1, absent),
            max(present.l2_squared, absent**2),
            max(present.linf, absent),
            present.monotone,
        )

    @property
    def usual_move(self) -> float:
        """As if it were spread evenly over the entries."""
        return float(self.row.l1) / self.columns

    def simulate(self, rows: int) -> list[int]:
        """The sums of so many rows whose values all lie in the middle."""
        middles = [variable.domain.middle - variable.domain.grid_lower for variable in self.variables]
        return [rows * entry.at(middles) for entry in self.entries] + [0] * bool(self.absent)

    @property
    def _widths(self) -> tuple[int, ...]:
        return tuple(variable.domain.width for variable in self.variables)


# A question makes the same polynomials of several values, and several times.
_largest_move = lru_cache(maxsize=1024)(largest_move)


def _is_named(entry: Polynomial) -> bool:
    """Whether the first variable stands in an entry."""
    return any(exponents[0] for _, exponents in entry.terms)
