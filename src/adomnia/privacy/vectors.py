"""Several numbers of each row, added up together: a person moves all of them at once, by less than by each alone.

Proof: docs/proofs/vectors.md.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Expression
from adomnia.privacy.polynomials import Polynomial, reach
from adomnia.privacy.sensitivity import Sensitivity

MOST_ENTRIES = 256
LARGEST_ENTRY = 2**78  # 2**48 rows of it sum to at most 2**126, which every engine's widest integer holds


@dataclass(frozen=True)
class Variable:
    """A number of a row in steps of its grid, counted from the lower end: between 0 and the width of the grid."""

    tag: ClassVar[str] = "Variable"
    value: Expression
    domain: Numbers


@dataclass(frozen=True)
class Vector:
    """Sums of polynomials of a row's variables; an entry adds nothing where a variable that it names is NULL."""

    tag: ClassVar[str] = "Vector"
    variables: tuple[Variable, ...]
    entries: tuple[Polynomial, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.entries) <= MOST_ENTRIES:
            raise ValueError(f"Vector entries must number between 1 and {MOST_ENTRIES}, got {len(self.entries)}.")
        if any(len(exponents) != len(self.variables) for entry in self.entries for _, exponents in entry.terms):
            raise ValueError(f"Vector entries must be of {len(self.variables)} variables each, got {self.entries}.")
        if self.magnitude > LARGEST_ENTRY:
            raise ValueError(f"Vector entries must stay within 2**78 in every row, got {self.magnitude}.")

    @cached_property
    def magnitude(self) -> int:
        """A bound on every entry of a row, and on every step of computing it."""
        return max(1, *(entry.size(self._widths) for entry in self.entries))

    @cached_property
    def row(self) -> Sensitivity:
        """How far one row moves all entries together."""
        return reach(self.entries, self._widths)

    def suppose(self, rows: int) -> list[int]:
        """The sums of so many rows whose values all lie in the middle."""
        middles = [variable.domain.middle - variable.domain.grid_lower for variable in self.variables]
        return [rows * entry.at(middles) for entry in self.entries]

    @property
    def _widths(self) -> list[int]:
        return [variable.domain.width for variable in self.variables]
