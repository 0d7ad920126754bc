"""Synthetic rows by MST: every column, and the pairs of columns along a tree that joins what goes together most."""

from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import ClassVar

from adomnia.methods.analysis import Analysis
from adomnia.methods.contract import Arguments, BadArgument, Frame, Method
from adomnia.methods.synthesis.attributes import (
    BINS,
    COLUMNS,
    MISSING_VALUES,
    ReleaseColumn,
    read_columns,
    show_columns,
)
from adomnia.methods.synthesis.choosing import ReleaseTables, TableOption, TablePlaces, split_table
from adomnia.methods.synthesis.graphical.models import Model
from adomnia.methods.synthesis.noisy_tables import NoisyTables
from adomnia.methods.synthesis.synthesis import SIZE, expected_rows, synthesize
from adomnia.privacy.events import Price
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Measured, ResultTable, Round, Steps

_MOST_PAIRS = 1_500  # each is a statement that is proved before a price is told
_THIRD = Fraction(1, 3)  # of the price: columns, the choice of pairs, pairs


@dataclass(frozen=True)
class Mst(Analysis):
    """Synthetic rows, from a graphical model whose pairs of columns form a tree.

    Method      every column; a tree over the columns, each branch chosen among the pairs that it may still join by how
                far a pair is from independence; what these pairs say beyond their columns; a model of all that.
    Guarantee   columns, choices and pairs composed, each a stated part of the price.
    Bias        that of the tree: columns that it does not join depend on each other only through those in between.
    Cite        McKenna, Miklau & Sheldon 2021.
    """

    tag: ClassVar[str] = "Mst"
    name: ClassVar[str] = "mst"
    relation: Relation
    columns: tuple[ReleaseColumn, ...]
    size: int | None

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many values each column has."""
        return tuple(map(len, self.columns))

    @cached_property
    def tables(self) -> ReleaseTables:
        """What may be measured."""
        return ReleaseTables(self.relation, self.columns)

    @cached_property
    def pairs(self) -> tuple[TablePlaces, ...]:
        """All pairs of columns."""
        return tuple(combinations(range(len(self.columns)), 2))

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        """The first column pays for the tree too: which pairs it has is not known before."""
        return ((self.tables.query((0,)), Fraction(1)),)

    def expected_result(self, _price: Price, _rows: int) -> ResultTable:
        return expected_rows(self.columns)

    def planned_measures(self, price: Price) -> Round:
        """Every column, a choice among all pairs, and the largest of them."""
        asked = self.tables.ask_columns(price * self._columns_part)
        if self._chooses:
            asked += (self.tables.simulate_choice(dict.fromkeys(self.pairs, 1), price * self._choice_part),)
        largest = sorted(self.pairs, key=self.tables.count_cells)[-self._branches :] if self.pairs else []
        return asked + tuple(
            measure for pair in largest for measure in self.tables.ask_parts(pair, price * self._pair_part)
        )

    def steps(self, price: Price) -> Steps:
        measured = yield self.tables.ask_columns(price * self._columns_part)
        noisy = NoisyTables(self.sizes)
        for place, each in enumerate(measured):
            noisy = noisy.add((place,), split_table(self.sizes, (place,), price), (each,))
        tree = yield from self._choose_tree(noisy.fit(), price)
        for pair in tree:
            measured = yield self.tables.ask_parts(pair, price * self._pair_part)
            noisy = noisy.add(pair, split_table(self.sizes, pair, price), measured)
        return synthesize(self.columns, noisy.fit_well(), noisy, self.size, {"method": "mst"})

    def _choose_tree(
        self, model: Model, price: Price
    ) -> Generator[Round, tuple[Measured, ...], tuple[TablePlaces, ...]]:
        """One branch after the other, as Kruskal does, but that each is a private choice."""
        if not self._chooses:
            return self.pairs
        options = [
            TableOption(pair, 1, believed)
            for pair, believed in zip(self.pairs, model.marginals(self.pairs), strict=True)
        ]
        joined = list(range(len(self.columns)))  # to which part of the tree a column belongs
        tree: list[TablePlaces] = []
        while len(tree) < self._branches:
            options = [option for option in options if len({joined[place] for place in option.table}) > 1]
            (chosen,) = yield (self.tables.choose(options, price * self._choice_part),)
            one, other = options[int(chosen.values)].table
            tree.append((one, other))
            joined = [joined[one] if part == joined[other] else part for part in joined]
        return tuple(tree)

    @property
    def _branches(self) -> int:
        return len(self.columns) - 1

    @property
    def _chooses(self) -> bool:
        """Whether there is more than one tree."""
        return len(self.pairs) > 1

    @property
    def _columns_part(self) -> Fraction:
        return 1 - _THIRD * (bool(self.pairs) + self._chooses)

    @property
    def _choice_part(self) -> Fraction:
        return _THIRD / self._branches

    @property
    def _pair_part(self) -> Fraction:
        return _THIRD / self._branches


def _build(frame: Frame, arguments: Arguments) -> Mst:
    relation, columns = read_columns(frame, arguments)
    pairs = len(columns) * (len(columns) - 1) // 2
    if pairs > _MOST_PAIRS:
        raise BadArgument("columns", f"make {pairs:,} pairs, more than {_MOST_PAIRS:,}", "name fewer columns")
    return Mst(relation, columns, arguments["size"])


METHOD = Method(
    "mst",
    "releases",
    "Synthetic rows from every column and the pairs of columns along a tree: quick, and good for few rows.",
    (COLUMNS, BINS, MISSING_VALUES, SIZE),
    _build,
    {},
    "SELECT * FROM mst(people, columns => (age, sex, city), bins => 4, size => 50)",
    {"mbi": "MST"},
    shows=show_columns,
)
