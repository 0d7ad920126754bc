"""Choices of what to measure next: the table that is worst known, by its distance from what a public model says."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adomnia.methods.releases.attributes import ReleaseColumn
from adomnia.methods.releases.workload import TablePlaces
from adomnia.privacy.aggregates import Rows
from adomnia.privacy.distances import Candidate, Distances, Guess
from adomnia.privacy.events import Price
from adomnia.privacy.keys import Key
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Measure

_PARTS = 64  # of a row that guesses are rounded to: a cell with less than a hundredth of a row is as good as empty
_LARGEST = 2**31 - 1


@dataclass(frozen=True)
class Option:
    """A table that may be chosen: how much it matters, what it is believed to hold, and what noise would add to it."""

    table: TablePlaces
    weight: int
    believed: NDArray[np.floating]
    penalty: float = 0.0


@dataclass(frozen=True)
class ReleaseTables:
    """The tables over some rows, by the places of their columns."""

    relation: Relation
    columns: tuple[ReleaseColumn, ...]

    def query(self, table: TablePlaces) -> Query:
        """Its counts."""
        return Query(self.relation, self._keys(table), Rows())

    def choose(self, options: Sequence[Option], price: Price) -> Measure:
        """One of the options, by the exponential mechanism: rather one whose exact counts are far from the believed.

        The score is AIM's, weight * (distance - penalty), in whole parts of a row.
        """
        candidates = tuple(
            Candidate((Guess(place, _round(each.believed)),), each.weight, -round(each.weight * _PARTS * each.penalty))
            for place, each in enumerate(options)
        )
        tables = tuple(self._keys(each.table) for each in options)
        return Measure(Query(self.relation, (), Distances(tables, candidates, scale=_PARTS)), price, by="exponential")

    def suppose_choice(self, tables: Mapping[TablePlaces, int], price: Price) -> Measure:
        """A choice over all tables, with their weights, before anything is believed: what is proved beforehand."""
        nothing: Callable[[TablePlaces], NDArray[np.floating]] = lambda table: np.broadcast_to(
            np.float32(0), (self.query(table).shape)
        )
        return self.choose([Option(table, weight, nothing(table)) for table, weight in tables.items()], price)

    def _keys(self, table: TablePlaces) -> tuple[Key, ...]:
        return tuple(self.columns[place].key for place in table)


def _round(believed: NDArray[np.floating]) -> NDArray[np.integer]:
    """Counts in parts of a row, none of them negative or beyond 32 bits."""
    return np.clip(np.rint(believed.ravel() * _PARTS), 0, _LARGEST).astype(np.int64)
