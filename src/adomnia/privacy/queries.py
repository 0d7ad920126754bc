"""Exact integer aggregates that derive their own sensitivity; nobody else writes one."""

from dataclasses import dataclass, replace
from functools import cached_property
from math import isqrt, prod
from typing import ClassVar, Literal, TypeAlias

from adomnia.privacy.hashing import hashed_once
from adomnia.privacy.keys import MOST_CELLS, AnyKey, Blocks, Bucket, Key, is_unknown, key_cells, provable_cells
from adomnia.privacy.relations import Relation, everything, has_blocks, most_rows
from adomnia.privacy.scans import Aggregate, DistinctValues, Histogram, NonNull, People, Rows, Total
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.privacy.transforms.distances import Distances
from adomnia.privacy.transforms.estimates import BlockEstimates
from adomnia.privacy.transforms.matrices import Combination
from adomnia.privacy.vectors import Vector

CLIPPED_PARTS = 2**10  # of a unit: so finely are shortened entries rounded
MOST_CLIPPED = 2**52  # of what a person can move in all: as a double exact, in parts of 64 bits, its square of 128


# What the exact answer to a query is: a number in every cell, which are public; counts of the values that some rows
# have; or the keys that some people have. Of the last two even the number is private.
Form: TypeAlias = Literal["cells", "histogram", "keys"]


@dataclass(frozen=True)
class Clip:
    """Shortens what each person adds to all cells, as one vector, to a length of `bound`, by one factor for all of it.

    The length is that of the vector itself, or of the person's numbers of rows in each cell if `counted`. Entries are
    in CLIPPED_PARTS of a unit, and rounded towards zero. Proof: docs/proofs/clipping.md.
    """

    tag: ClassVar[str] = "Clip"
    bound: int
    counted: bool = False


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
        of_people = in_blocks or self.clip is not None or isinstance(self.aggregate, People)
        if of_people and has_blocks(self.relation):
            raise ValueError("Query by person must be of rows of people, got those of blocks.")
        if self.clip is not None and (self.reach is None or not 1 <= self.clip.bound <= self.reach <= MOST_CLIPPED):
            raise ValueError(f"Query clip must be of 1 to {self.reach} in counts or sums, got {self.clip}.")
        if isinstance(self.aggregate, Combination) and self.aggregate.columns != prod(self.shape):
            raise ValueError(f"Query cells must number {self.aggregate.columns}, as combined, got {prod(self.shape)}.")
        if isinstance(self.aggregate, BlockEstimates) and list(map(type, self.keys)) != [Blocks]:
            raise ValueError(f"Query keys must be blocks of people where these are estimated, got {self.keys}.")
        if isinstance(self.aggregate, Distances):
            self._check_tables(self.aggregate)

    def _check_tables(self, distances: Distances) -> None:
        """Distances are of tables of their own, each of declared cells with a guess for every one of them."""
        if self.keys or any(part.form != "cells" for part in self.parts):
            raise ValueError("Query of distances must have no keys but the declared ones of its tables, got others.")
        cells = [prod(part.shape) for part in self.parts]
        if max(cells) > MOST_CELLS or any(each.counts.size != cells[each.table] for each in distances.guesses):
            raise ValueError("Query tables must have a guess for each of at most a million cells, got others.")

    @property
    def reach(self) -> int | None:
        """How far one person moves all cells together in a count or a sum: each row by so much, in one cell."""
        if not isinstance(self.aggregate, Rows | NonNull | Total):
            return None
        return self.relation.rows_per_person * _of_one_row(self.aggregate)

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

    @property
    def result_shape(self) -> tuple[int, ...]:
        """The shape of what is measured: of a vector all entries of each cell, of others their number."""
        match self.aggregate:
            case Vector(columns=columns):
                return *self.shape, columns
            case Combination(results=results) | BlockEstimates(results=results) | Distances(results=results):
                return (results,)
        return self.shape

    @property
    def columns(self) -> int:
        """How many columns of a statement it takes: one for each entry of a vector."""
        return self.aggregate.columns if isinstance(self.aggregate, Vector) else 1

    @cached_property
    def inner(self) -> "Query":
        """What an engine is asked: of estimates of blocks the sums that they are made of, else the query itself."""
        if not isinstance(self.aggregate, BlockEstimates):
            return self
        sums = self.aggregate.sums
        if isinstance(sums, Vector):
            return replace(self, aggregate=sums)
        return replace(self, keys=(*self.keys, Bucket(sums.value, sums.domain, sums.value)), aggregate=Rows())

    @cached_property
    def parts(self) -> "tuple[Query, ...]":
        """The queries whose exact answers it is computed from: of distances their tables, else it is one by itself."""
        if not isinstance(self.aggregate, Distances):
            return (self,)
        return tuple(Query(self.relation, keys, Rows()) for keys in self.aggregate.tables)

    @property
    def form(self) -> Form:
        """What its exact answer is, and so what a mechanism has to know about it before it may open it."""
        if isinstance(self.aggregate, Histogram):
            return "histogram"
        return "keys" if any(map(is_unknown, self.keys)) else "cells"

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
        once = isinstance(self.aggregate, People) and self.in_one_cell
        return everything(self.relation) if once else self.relation

    @property
    def scan(self) -> tuple[object, ...]:
        """What queries of one statement have in common: histograms and estimates of blocks stand alone."""
        alone = self.aggregate if isinstance(self.aggregate, Histogram | BlockEstimates) else None
        return self.read, self.keys, self.clip is None, alone

    @property
    def largest(self) -> int:
        """A bound on the size of any cell, from public facts: it decides which integers the sums are carried in."""
        if isinstance(self.aggregate, Distances):
            return self.aggregate.largest(most_rows(self.relation))
        parts = 1 if self.clip is None else CLIPPED_PARTS
        return most_rows(self.relation) * parts * _of_one_row(self.aggregate)

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
        return Sensitivity(found.l1, found.l2_squared, found.linf) if has_blocks(self.relation) else found

    def _derive_sensitivity(self) -> Sensitivity:  # noqa: PLR0911 - one for each sort of aggregate
        rows = self.relation.rows_per_person
        if self.clip is not None:
            row = _of_one_row(self.aggregate)
            length = CLIPPED_PARTS * self.clip.bound * (row if self.clip.counted else 1)
            rises = not isinstance(self.aggregate, Total) or self.aggregate.rises
            l1 = isqrt(length**2 * min(rows, self._groups) - 1) + 1  # by Cauchy and Schwarz, rounded up
            return Sensitivity(l1, length**2, length, rises)
        match self.aggregate:
            case People():
                cells = min(rows, self._groups)
                return Sensitivity(l1=cells, l2_squared=cells, linf=1, monotone=True)
            case DistinctValues() as different:
                # Each row adds one value to one cell at most, and a cell holds no more of them than there can be.
                cell = int(min(rows, different.most))
                l1 = min(rows, cell * self._groups)
                return Sensitivity(l1, l1 * cell, cell, monotone=True)
            case BlockEstimates(move=move):  # a person is in one block, however many rows they have
                return move
            case Total() as total:
                one_row = Sensitivity(l1=total.magnitude, monotone=total.rises)
                return one_row.times(rows)
            case Vector(row=one_row) | Combination(row=one_row) | Distances(row=one_row):
                return one_row.times(rows)
        return Sensitivity(l1=1, monotone=True).times(rows)


def _of_one_row(aggregate: Aggregate) -> int:
    """How far one row moves it at most."""
    if isinstance(aggregate, BlockEstimates):
        return aggregate.sums.magnitude if isinstance(aggregate.sums, Vector) else 1
    return aggregate.magnitude if isinstance(aggregate, Total | Vector | Combination) else 1
