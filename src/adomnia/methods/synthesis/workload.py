"""The tables that synthetic rows are meant for: which may be measured, and how much each of them matters."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import gcd, prod
from typing import TypeAlias

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
