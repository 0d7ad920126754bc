"""Tables that rows are meant for: which matter, how one is chosen that a public model knows worst, and measured.

What is measured is what a table says beyond its single columns, which were measured before. The counts of a table are
sums of contrasts of some of its columns (docs/proofs/residuals.md). Equal noise on all counts spends a part of the
price on the contrasts of single columns, which are known already. Measured without these, the rest has less noise at
the same price: half as much of two columns of two values each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import gcd, prod, sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from adomnia.methods.synthesis.attributes import ReleaseColumn
from adomnia.methods.synthesis.bases import Basis, ask, suits
from adomnia.privacy.events import Price, Pure
from adomnia.privacy.keys import Key
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Rows
from adomnia.privacy.transforms.distances import Candidate, Distances, Guess
from adomnia.statistics.contract import Measure, Round

_PARTS = 64  # of a row that guesses are rounded to: a cell with less than a hundredth of a row is as good as empty
_LARGEST = 2**45  # of a guess, in these parts
_LARGEST_PENALTY = 2**50  # likewise: noise that is beyond all counts is cut, or a low price would be a mistake
TablePlaces: TypeAlias = tuple[int, ...]  # of its columns, rising

MOST_TABLES = 500  # that may be measured: each is a statement that is proved before a price is told


@dataclass(frozen=True)
class Workload:
    """All tables of so many columns with at most so many cells; of what no such table has, the largest that do.

    Method      McKenna, Mullins, Sheldon & Miklau 2022: a table matters by how many columns it shares with those.
    """

    sizes: tuple[int, ...]  # of each column: how many values it has
    ways: int
    most_cells: int

    @cached_property
    def wanted(self) -> tuple[TablePlaces, ...]:
        """The tables that rows should be good for."""
        found: list[TablePlaces] = []
        covered: set[TablePlaces] = set()
        for ways in range(min(self.ways, len(self.sizes)), 0, -1):
            own = [
                each for each in combinations(range(len(self.sizes)), ways) if self.count_cells(each) <= self.most_cells
            ]
            found += [each for each in own if each not in covered]
            covered |= {part for each in own for part in combinations(each, ways - 1)}
            covered |= {part for each in covered if len(each) == ways for part in combinations(each, ways - 1)}
        return tuple(found)

    @cached_property
    def tables(self) -> tuple[TablePlaces, ...]:
        """The tables that may be measured: parts of the wanted ones, those with few columns and few cells first."""
        parts = {part for each in self.wanted for ways in range(1, len(each) + 1) for part in combinations(each, ways)}
        return tuple(sorted(parts, key=lambda each: (len(each), self.count_cells(each), each))[:MOST_TABLES])

    @cached_property
    def weights(self) -> dict[TablePlaces, int]:
        """How much each table matters: the columns that it shares with each wanted one, added up."""
        often = [sum(column in each for each in self.wanted) for column in range(len(self.sizes))]
        found = {each: sum(often[column] for column in each) for each in self.tables}
        common = gcd(*found.values())
        return {each: weight // common for each, weight in found.items()}

    def count_cells(self, table: Sequence[int]) -> int:
        """How many cells a table has."""
        return prod(self.sizes[column] for column in table)


@dataclass(frozen=True)
class TableOption:
    """A table that may be chosen: how much it matters, what it is believed to hold, and what noise would add to it."""

    table: TablePlaces
    weight: int
    believed: NDArray[np.floating[Any]]
    penalty: float = 0.0


@dataclass(frozen=True)
class TablePart:
    """Some columns of a table, how they are measured, and which part of the price of the table that takes."""

    columns: TablePlaces
    basis: Basis
    share: Fraction


def split_table(sizes: Sequence[int], table: TablePlaces, price: Price) -> tuple[TablePart, ...]:
    """The parts of a table, as they add up to the same noise on all its counts.

    Laplace noise hides counts better than contrasts, of which a row moves several; so do tables of many values.
    """
    parts = [part for many in range(2, len(table) + 1) for part in combinations(table, many)]
    parts = [part for part in parts if all(sizes[place] > 1 for place in part)]
    if isinstance(price, Pure) or not parts or not suits("contrasts", [sizes[place] for place in parts[-1]]):
        return (TablePart(table, "counts", Fraction(1)),)
    weights = [_weigh(sizes, table, part) for part in parts]
    return tuple(
        TablePart(part, "contrasts", weight / sum(weights)) for part, weight in zip(parts, weights, strict=True)
    )


def relative_noise(sizes: Sequence[int], table: TablePlaces, price: Price) -> float:
    """The deviation of the noise on each count, relative to that of counts measured whole at the same price."""
    if split_table(sizes, table, price)[0].basis == "counts":
        return 1.0
    parts = (part for many in range(2, len(table) + 1) for part in combinations(table, many))
    return sqrt(sum(_weigh(sizes, table, part) for part in parts))


def _weigh(sizes: Sequence[int], table: TablePlaces, part: TablePlaces) -> Fraction:
    """What the contrasts of some columns cost, of the price of all counts with equal noise."""
    own = prod(Fraction(sizes[place] - 1, sizes[place]) for place in part)
    return Fraction(own) / prod(sizes[place] for place in table if place not in part)


@dataclass(frozen=True)
class ReleaseTables:
    """The tables over some rows, by the places of their columns."""

    relation: Relation
    columns: tuple[ReleaseColumn, ...]

    def query(self, table: TablePlaces) -> Query:
        """Its counts."""
        return Query(self.relation, self._keys(table), Rows())

    def count_cells(self, table: TablePlaces) -> int:
        """How many cells a table has."""
        return prod(len(self.columns[place]) for place in table)

    def ask_columns(self, price: Price) -> Round:
        """Every column by itself. The price is divided so that the noise of all counts is least, about."""
        weights = [round(100 * len(column) ** (2 / 3)) for column in self.columns]
        return tuple(
            Measure(self.query((place,)), price * weight / sum(weights)) for place, weight in enumerate(weights)
        )

    def ask_parts(self, table: TablePlaces, price: Price) -> Round:
        """What a table says beyond its single columns; of a single column all it says."""
        parts = split_table([len(column) for column in self.columns], table, price)
        return tuple(self.ask_part(part, price * part.share) for part in parts)

    def ask_part(self, part: TablePart, price: Price) -> Measure:
        """One part of a table."""
        return Measure(ask(self.relation, [self.columns[place] for place in part.columns], part.basis), price)

    def choose(self, options: Sequence[TableOption], price: Price) -> Measure:
        """One of the options, by the exponential mechanism: rather one whose exact counts are far from the believed.

        The score is AIM's, weight * (distance - penalty), in whole parts of a row.
        """
        candidates = tuple(
            Candidate((Guess(place, _round(each.believed)),), each.weight, -_count_parts(each.weight * each.penalty))
            for place, each in enumerate(options)
        )
        return self._choose([each.table for each in options], candidates, price)

    def simulate_choice(self, weights: Mapping[TablePlaces, int], price: Price) -> Measure:
        """A choice among all tables before anything is believed: what is proved beforehand."""
        candidates = tuple(
            Candidate((Guess(place, np.broadcast_to(np.int8(0), self.count_cells(table))),), weight)
            for place, (table, weight) in enumerate(weights.items())
        )
        return self._choose(list(weights), candidates, price)

    def _choose(self, tables: Sequence[TablePlaces], candidates: tuple[Candidate, ...], price: Price) -> Measure:
        compared = Distances(tuple(map(self._keys, tables)), candidates, scale=_PARTS)
        return Measure(Query(self.relation, (), compared), price, by="exponential")

    def _keys(self, table: TablePlaces) -> tuple[Key, ...]:
        return tuple(self.columns[place].key for place in table)


def _round(believed: NDArray[np.floating[Any]]) -> NDArray[np.integer[Any]]:
    """Counts in whole parts of a row, none of them negative."""
    return np.asarray(np.clip(np.rint(believed.ravel() * _PARTS), 0, _LARGEST), dtype=np.int64)


def _count_parts(penalty: float) -> int:
    """A penalty in whole parts of a row."""
    return round(min(_PARTS * penalty, _LARGEST_PENALTY))
