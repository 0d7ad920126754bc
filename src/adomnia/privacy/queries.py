"""Exact integer aggregates that derive their own sensitivity; nobody else writes one."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isqrt, prod
from typing import ClassVar, TypeAlias, TypeVar, final

from adomnia.privacy.hashing import hashed_once
from adomnia.privacy.keys import AnyKey, Blocks, Key, is_unknown, key_cells, provable_cells
from adomnia.privacy.relations import Relation, everything, most_rows
from adomnia.privacy.scans import (
    Additive,
    Exact,
    Form,
    Histogram,
    Integers,
    NonNull,
    People,
    Proposal,
    Rows,
    Scan,
    Total,
    spread,
)
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.privacy.transforms.contract import Transform
from adomnia.privacy.vectors import Vector

CLIPPED_PARTS = 2**10  # of a unit: so finely are shortened entries rounded
MOST_CLIPPED = 2**52  # of what a person can move in all: as a double exact, in parts of 64 bits, its square of 128


Aggregate: TypeAlias = Scan | Transform
_Kind = TypeVar("_Kind", bound=Scan)


@dataclass(frozen=True)
class Clip:
    """Shortens what each person adds to all cells, as one vector, to a length of `bound`, by one factor for all of it.

    The length is that of the vector itself, or of the person's numbers of rows in each cell if `counted`. Entries are
    in CLIPPED_PARTS of a unit, and rounded towards zero. Proof: docs/proofs/clipping.md.
    """

    tag: ClassVar[str] = "Clip"
    bound: int
    counted: bool = False


@final
@hashed_once
@dataclass(frozen=True)
class Query:
    """One aggregate over a relation, in every cell of its declared keys."""

    tag: ClassVar[str] = "Query"
    relation: Relation
    keys: tuple[AnyKey, ...]
    aggregate: Aggregate
    clip: Clip | None = None

    def __post_init__(self) -> None:
        in_blocks = any(isinstance(key, Blocks) for key in self.keys)
        if in_blocks and not self.relation.rows_per_person:
            raise ValueError("Query in blocks must be of rows of people, got public ones.")
        of_people = in_blocks or self.clip is not None or self.aggregate.of_people
        if of_people and self.relation.has_blocks:
            raise ValueError("Query by person must be of rows of people, got those of blocks.")
        if self.clip is not None and (
            self.largest_move is None or not 1 <= self.clip.bound <= self.largest_move <= MOST_CLIPPED
        ):
            raise ValueError(f"Query clip must be of 1 to {self.largest_move} in counts or sums, got {self.clip}.")
        if isinstance(self.aggregate, Transform):
            self.aggregate.check(self.keys)

    @property
    def largest_move(self) -> int | None:
        """How far one person moves all cells together in a count or a sum: each row by so much, in one cell."""
        if not isinstance(self.aggregate, Scan) or not self.aggregate.clips:
            return None
        return self.relation.rows_per_person * self.aggregate.magnitude

    @property
    def histogram(self) -> Histogram:
        """What it counts, where that is each value of a grid."""
        return self._narrow(Histogram)

    @property
    def proposal(self) -> Proposal:
        """The same, where a bound is proposed for it."""
        return self._narrow(Proposal)

    @property
    def total(self) -> Total:
        """What it adds up, where that is one expression."""
        return self._narrow(Total)

    @property
    def vector(self) -> Vector:
        """What it adds up, where that is several numbers of a row."""
        return self._narrow(Vector)

    def _narrow(self, kind: type[_Kind]) -> _Kind:
        if not isinstance(self.aggregate, kind):
            raise TypeError(f"Query must be of a {kind.__name__}, got {self.aggregate}.")
        return self.aggregate

    @property
    def additive(self) -> Additive | None:
        """What each row adds by itself, if that is all: people who have one row each are counted by their rows."""
        if self.aggregate == People() and self.relation.rows_per_person == 1:
            return Rows()
        return self.aggregate if isinstance(self.aggregate, Rows | NonNull | Total) else None

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of declared values of each key."""
        return tuple(map(len, self.cells))

    @property
    def value_keys(self) -> tuple[Key, ...]:
        """Its keys, where all of them are of values: what is asked by blocks is never counted or shortened by those."""
        found = tuple(key for key in self.keys if not isinstance(key, Blocks))
        if found != self.keys:
            raise ValueError("Query keys must be of values here, got blocks.")
        return found

    @cached_property
    def result_shape(self) -> tuple[int, ...]:
        """The shape of what is measured: of a vector all entries of each cell, of others their number."""
        return self.aggregate.result_shape(self.shape)

    @cached_property
    def columns(self) -> int:
        """How many columns of a statement it takes: one for each entry of a vector."""
        return self.aggregate.columns if isinstance(self.aggregate, Scan) else 1

    @cached_property
    def inner(self) -> "tuple[Query, ...]":
        """The queries whose exact answers it is computed from, which an engine gives: itself, unless transformed."""
        if not isinstance(self.aggregate, Transform):
            return (self,)
        return tuple(Query(self.relation, keys, scan) for keys, scan in self.aggregate.inner(self.keys))

    def apply(self, exact: Sequence[Exact]) -> Integers:
        """Its exact answer from those of the inner queries."""
        if not isinstance(self.aggregate, Transform):
            return spread(*exact)
        return self.aggregate.apply(exact, self.largest)

    @cached_property
    def by_block(self) -> bool:
        """Whether it is computed block by block of people, from rows of which a person may have any number."""
        return isinstance(self.aggregate, Transform) and self.aggregate.by_block

    @cached_property
    def recurs(self) -> bool:
        """Whether later rounds ask others that are computed from the same inner ones."""
        return isinstance(self.aggregate, Transform) and self.aggregate.recurs

    @cached_property
    def form(self) -> Form:
        """What its exact answer is, and so what a mechanism has to know about it before it may open it."""
        return "keys" if self.aggregate.form == "cells" and any(map(is_unknown, self.keys)) else self.aggregate.form

    @cached_property
    def cells(self) -> tuple[range, ...]:
        """The integers that stand for the values of each key."""
        return tuple(map(key_cells, self.keys))

    @property
    def provable(self) -> tuple[range, ...]:
        """The same as its statement shows them, which does not know how many values of an open key are read."""
        return tuple(map(provable_cells, self.keys))

    @property
    def in_one_cell(self) -> bool:
        """Whether all rows of a person are in one cell, however many: there is one, or cells are blocks of people."""
        return all(isinstance(key, Blocks) for key in self.keys)

    @cached_property
    def read(self) -> Relation:
        """The rows that are read: all of them where a person counts once in all."""
        once = self.aggregate.of_people and self.in_one_cell
        return everything(self.relation) if once else self.relation

    @property
    def scan(self) -> tuple[object, ...]:
        """What queries of one statement have in common: histograms stand alone."""
        alone = self.aggregate if self.form == "histogram" else None
        return self.read, self.keys, self.clip is None, alone

    @property
    def largest(self) -> int:
        """A bound on the size of any cell, from public facts: it decides which integers the sums are carried in."""
        return self.aggregate.largest(most_rows(self.relation) * (1 if self.clip is None else CLIPPED_PARTS))

    def sensitivity(self) -> Sensitivity:
        """How far one person moves the cells: their rows may all fall into one, or into as many as they have rows."""
        return self._sensitivity

    @property
    def _groups(self) -> int:
        """In how many cells rows of one person can be: they are in one block."""
        return prod(len(provable_cells(key)) for key in self.keys if not isinstance(key, Blocks))

    @cached_property
    def _sensitivity(self) -> Sensitivity:
        found = self._derive_sensitivity()
        # Of blocks, a person takes a row away and puts another in its place.
        return Sensitivity(found.l1, found.l2_squared, found.linf) if self.relation.has_blocks else found

    def _derive_sensitivity(self) -> Sensitivity:
        if isinstance(self.aggregate, Transform):
            return self.aggregate.derive(each.sensitivity() for each in self.inner)
        rows = self.relation.rows_per_person
        if self.clip is None:
            return self.aggregate.derive(rows, self._groups)
        length = CLIPPED_PARTS * self.clip.bound * (self.aggregate.magnitude if self.clip.counted else 1)
        l1 = isqrt(length**2 * min(rows, self._groups) - 1) + 1  # by Cauchy and Schwarz, rounded up
        return Sensitivity(l1, length**2, length, self.aggregate.rises)
