"""Synthetic rows by MWEM: weights in a table of all columns, multiplied by what the worst table of few columns says."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb, prod
from typing import ClassVar

import numpy as np

from adomnia.messages.texts import NoteTemplate, define_note
from adomnia.methods.analysis import Analysis
from adomnia.methods.contract import Arguments, Frame, Method, Parameter
from adomnia.methods.synthesis.attributes import BINS, COLUMNS, MISSING_VALUES, ReleaseColumn, show_columns
from adomnia.methods.synthesis.explicit_rows import (
    COLUMN_PART,
    PARTS,
    WAYS,
    ExplicitTables,
    FittedTable,
    NoisyCells,
    TableColumns,
    count_replays,
    fit,
    read_explicit,
    read_noisy,
    round_parts,
    start_independent,
)
from adomnia.methods.synthesis.synthesis import SIZE, expected_rows
from adomnia.privacy.events import Price
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.transforms.distances import Candidate, Distances, Guess
from adomnia.privacy.transforms.matrices import Combination, Matrix
from adomnia.statistics.contract import Floats, Measure, Measured, ResultTable, Round, Steps

_CHOOSING = Fraction(1, 10)  # of a round: the rest measures
_AT_THE_END = 5  # times as many updates as after a round


_GUESSED = "How other columns go together is guessed, and may be far off."
_TOGETHER = NoteTemplate("drawn_together", f"Measured together were {{tables}}. {_GUESSED}")
_NOTHING_TOGETHER = define_note("nothing_drawn_together", f"No columns were measured together. {_GUESSED}")


@dataclass(frozen=True)
class Mwem(Analysis):
    """Synthetic rows from an explicit table of all columns, where the worst questions are measured one by one.

    Method      every column, whose product is the first table; then rounds: choose a table of few columns, or one of
                its cells, by how far the counts are from what is believed; measure it; multiply weights by what all
                measurements so far say.
    Guarantee   choices by the exponential mechanism and measurements composed, each a stated part of the price.
    Bias        that of a table near to independent columns in all that was not measured.
    Cite        Hardt, Ligett & McSherry 2012; McKenna, Mullins, Sheldon & Miklau 2022 (whole tables, penalty).
    """

    tag: ClassVar[str] = "Mwem"
    name: ClassVar[str] = "mwem"
    relation: Relation
    columns: tuple[ReleaseColumn, ...]
    ways: int
    rounds: int
    whole: bool
    size: int | None

    @cached_property
    def tables(self) -> ExplicitTables:
        """What the rows should be good for."""
        return ExplicitTables(self.relation, self.columns, self.ways)

    @cached_property
    def part(self) -> Fraction:
        """The part of the price of each round; that of a column is a quarter of it."""
        return 1 / (self.rounds + len(self.columns) * COLUMN_PART)

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        """The first column pays for all rounds: which tables they measure is not known before."""
        return self.tables.share_first(self.part * COLUMN_PART, self.rounds * self.part)

    def expected_result(self, _price: Price, _rows: int) -> ResultTable:
        return expected_rows(self.columns)

    def planned_measures(self, price: Price) -> Round:
        """Every column, a choice among all tables, and the largest of these."""
        columns = self.tables.ask_columns(price * (self.part * COLUMN_PART))
        if not self.rounds:
            return columns
        largest = sorted(self.tables.asked, key=self.tables.count_cells, reverse=True)
        counts = tuple(self._ask_counts(price, table, 0) for table in largest[: self.rounds])
        nothing = [np.zeros(self.tables.count_cells(table)) for table in self.tables.asked]
        return (*columns, self._ask_choice(price, nothing), *counts)

    def steps(self, price: Price) -> Steps:
        measured = yield self.tables.ask_columns(price * (self.part * COLUMN_PART))
        noisy = [read_noisy((place,), each) for place, each in enumerate(measured)]
        released = [each.values for each in measured]
        weights = start_independent(self.tables.sizes, noisy)
        for _ in range(self.rounds):
            (chosen,) = yield (self._ask_choice(price, self.tables.believe(weights)),)
            table, cell = self._find(int(chosen.values))
            (counts,) = yield (self._ask_counts(price, table, cell),)
            released += [chosen.values, counts.values]
            noisy.append(self._read(table, cell, counts))
            weights = fit(weights, noisy, self._replays(len(noisy)))
        if self.rounds:
            weights = fit(weights, noisy, _AT_THE_END * self._replays(len(noisy)))
        tails = measured[0].noise.continuous.tails
        return self._publish(FittedTable(self.columns, weights, tuple(noisy), tuple(released), tails))

    def _ask_choice(self, price: Price, tables: Sequence[Floats]) -> Measure:
        """One of the tables, or one of their cells, rather one that is far from what is believed.

        The noise of measuring a table moves it away too: how far is taken off its distance.
        """
        noise = self._noise(price) if self.whole else 0.0
        candidates = []
        for place, believed in enumerate(tables):
            (penalty,) = round_parts(np.array(noise * believed.size)).tolist()  # cut where noise is beyond all counts
            candidates.append(Candidate((Guess(place, round_parts(believed)),), 1, -penalty))
        compared = Distances(self.tables.keys, tuple(candidates), "total" if self.whole else "each", PARTS)
        return Measure(Query(self.relation, (), compared), price * (self.part * _CHOOSING), by="exponential")

    def _noise(self, price: Price) -> float:
        """How far the noise of a measurement moves each count, on average."""
        return self._ask_counts(price, self.tables.asked[0], 0).noise.continuous.mean_size

    def _ask_counts(self, price: Price, table: TableColumns, cell: int) -> Measure:
        query = self.tables.query(table)
        if not self.whole:
            one = Combination(((Matrix(self.tables.count_cells(table), (((cell, 1),),)),),))
            query = Query(self.relation, query.keys, one)
        return Measure(query, price * (self.part * (1 - _CHOOSING)))

    def _find(self, chosen: int) -> tuple[TableColumns, int]:
        """The table that a choice stands for, and the cell of it."""
        if self.whole:
            return self.tables.asked[chosen], 0
        ends = np.cumsum([self.tables.count_cells(table) for table in self.tables.asked])
        place = int(np.searchsorted(ends, chosen, side="right"))
        table = self.tables.asked[place]
        return table, chosen - int(ends[place]) + self.tables.count_cells(table)

    def _read(self, table: TableColumns, cell: int, counts: Measured) -> NoisyCells:
        found = read_noisy(table, counts)
        return found if self.whole else NoisyCells(table, np.array([cell]), found.counts, found.variance)

    def _replays(self, measured: int) -> int:
        return count_replays(prod(self.tables.sizes) * measured * (self.rounds + _AT_THE_END))

    def _publish(self, fitted: FittedTable) -> ResultTable:
        names = [column.attribute.name for column in self.columns]
        listed = [" x ".join(names[place] for place in each.columns) for each in fitted.noisy]
        together = list(dict.fromkeys(listed[len(names) :]))
        note = _TOGETHER(tables=together) if together else _NOTHING_TOGETHER
        about = {"method": "mwem", "rounds": self.rounds, "measured": listed}
        return fitted.publish(self.size, about, note)


def _build(frame: Frame, arguments: Arguments) -> Mwem:
    relation, columns, ways = read_explicit(frame, arguments)
    usual = min(comb(len(columns), ways), 2 * len(columns))
    rounds = 0 if ways == 1 else arguments["rounds"] or usual
    return Mwem(relation, columns, ways, rounds, arguments["queries"] == "tables", arguments["size"])


METHOD = Method(
    "mwem",
    "releases",
    "Synthetic rows from a table of all columns, fitted to the noisy tables that it was furthest from.",
    (
        COLUMNS,
        WAYS,
        Parameter("rounds", "integer", "how many tables are measured; two a column if not said", lower=1, upper=200),
        Parameter(
            "queries",
            "choice",
            "what is measured in a round: a whole table, which costs no more than one of its cells, or a cell",
            default="tables",
            choices=("tables", "cells"),
        ),
        BINS,
        MISSING_VALUES,
        SIZE,
    ),
    _build,
    {},
    "SELECT * FROM mwem(people, columns => (age, sex, city), bins => 4, size => 50)",
    {"mbi": "mwem+pgm"},
    shows=show_columns,
)
