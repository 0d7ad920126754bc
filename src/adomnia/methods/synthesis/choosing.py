"""Tables over some rows: how they are measured, and how the one is chosen that a public model knows worst."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.methods.synthesis.attributes import ReleaseColumn
from adomnia.methods.synthesis.bases import ask
from adomnia.methods.synthesis.interactions import TablePart, split_table
from adomnia.methods.synthesis.workload import TablePlaces
from adomnia.privacy.events import Price
from adomnia.privacy.keys import Key
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Rows
from adomnia.privacy.transforms.distances import Candidate, Distances, Guess
from adomnia.statistics.contract import Measure, Round

_PARTS = 64  # of a row that guesses are rounded to: a cell with less than a hundredth of a row is as good as empty
_LARGEST = 2**45  # of a guess, in these parts
_LARGEST_PENALTY = 2**50  # likewise: noise that is beyond all counts is cut, or a low price would be a mistake


@dataclass(frozen=True)
class TableOption:
    """A table that may be chosen: how much it matters, what it is believed to hold, and what noise would add to it."""

    table: TablePlaces
    weight: int
    believed: NDArray[np.floating[Any]]
    penalty: float = 0.0


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

    def suppose_choice(self, weights: Mapping[TablePlaces, int], price: Price) -> Measure:
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
