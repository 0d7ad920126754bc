"""Synthetic rows by boosting: the median of several tables, each made for what the earlier ones got wrong."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, comb, prod
from typing import ClassVar

import numpy as np

from adomnia.mechanisms.exponential import Exponential
from adomnia.messages.texts import NoteTemplate
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
from adomnia.noise import Integers
from adomnia.noise.afterwards import follow
from adomnia.privacy.events import Price
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.transforms.distances import Candidate, Distances, Guess
from adomnia.statistics.contract import Floats, Measure, Measured, ResultTable, Round, Steps

_CHOOSING = Fraction(1, 10)  # of what a draw costs: the rest measures
_ACCURATE = 2  # standard deviations of the noise: a count that is so near needs no more attention
_EXPONENTS = 2  # from the weight of what is accurate, 1 / e, to that of what is not, e: Dwork & Roth 2014, figure 6.1
_AT_THE_END = 5  # times as many updates as for a synopsis
_FURTHEST = 2**50  # parts of a row, beyond which distances are cut whatever the noise
_COMPARED = (
    "A classic, for comparison: each of its tables knows what was drawn in its own round alone. mwem fits one table to "
    "all that was measured, and was nearer to the data at every price that was tried (benchmarks/query_release.py)."
)
_MEDIAN = NoteTemplate(
    "median_of_tables",
    "They follow the median of {tables} tables, each fitted to the noisy counts that were drawn for it.",
)


@dataclass(frozen=True)
class Boosting(Analysis):
    """Synthetic rows from the median of several synopses, each of them fitted to what earlier ones got wrong.

    Method      every column; then rounds: draw cells of tables of few columns, by weights that rise with how far each
                earlier synopsis is from their count; measure their tables; fit a synopsis to these and the columns.
                Rows are drawn from a table that is fitted to the medians of all counts over the synopses.
    Guarantee   draws by the exponential mechanism and measurements composed, each a stated part of the price. Weights
                are attenuated: between accurate and not they rise evenly, by what the price of a draw allows.
    Bias        that of tables near to independent columns; the median over few synopses.
    Cite        Dwork, Rothblum & Vadhan 2010; Dwork & Roth 2014, 6.
    """

    tag: ClassVar[str] = "Boosting"
    name: ClassVar[str] = "boosting"
    relation: Relation
    columns: tuple[ReleaseColumn, ...]
    ways: int
    rounds: int
    draws: int
    size: int | None

    @cached_property
    def tables(self) -> ExplicitTables:
        """What the rows should be good for."""
        return ExplicitTables(self.relation, self.columns, self.ways)

    @cached_property
    def part(self) -> Fraction:
        """The part of the price of each draw with its measurement; that of a column is a quarter of it."""
        return 1 / (self.rounds * self.draws + len(self.columns) * COLUMN_PART)

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        """The first column pays for all rounds: which tables they measure is not known before."""
        return self.tables.share_first(self.part * COLUMN_PART, self.rounds * self.draws * self.part)

    def expected_result(self, _price: Price, _rows: int) -> ResultTable:
        return expected_rows(self.columns)

    def planned_measures(self, price: Price) -> Round:
        """Every column, the largest tables, and a draw by the errors of all synopses but the last."""
        columns = self.tables.ask_columns(price * (self.part * COLUMN_PART))
        if not self.rounds:
            return columns
        largest = sorted(self.tables.asked, key=self.tables.count_cells, reverse=True)
        counts = tuple(self._ask_counts(price, table) for table in largest[: self.rounds * self.draws])
        nothing = [np.zeros(self.tables.count_cells(table)) for table in self.tables.asked]
        return (*columns, *counts, self._ask_cell(price, [nothing] * max(self.rounds - 1, 1)))

    def steps(self, price: Price) -> Steps:
        measured = yield self.tables.ask_columns(price * (self.part * COLUMN_PART))
        noisy = [read_noisy((place,), each) for place, each in enumerate(measured)]
        released = [each.values for each in measured]
        start = start_independent(self.tables.sizes, noisy)
        synopses: list[Floats] = []
        for _ in range(self.rounds):
            drawn = yield from self._draw_tables(price, synopses, released)
            released += [each.values for _, each in drawn]
            own = [read_noisy(table, each) for table, each in drawn]
            synopses.append(
                fit(start, [*noisy[: len(self.columns)], *own], self._replays(len(self.columns) + len(own)))
            )
            noisy += own
        weights = self._join(synopses) if synopses else start
        fitted = FittedTable(self.columns, weights, tuple(noisy), tuple(released), measured[0].noise.continuous.tails)
        about = {"method": "boosting", "rounds": self.rounds, "draws": self.draws}
        return fitted.publish(self.size, about, _MEDIAN(tables=self.rounds))

    def _draw_tables(
        self, price: Price, synopses: Sequence[Floats], released: Sequence[Integers]
    ) -> Generator[Round, tuple[Measured, ...], list[tuple[TableColumns, Measured]]]:
        """The tables of the cells that were drawn in one round, each measured as often as it was drawn."""
        found: list[tuple[TableColumns, Measured]] = []
        cells = np.repeat(np.arange(len(self.tables.asked)), list(map(self.tables.count_cells, self.tables.asked)))
        # Before there is a synopsis all cells have one weight: chance that hides nobody need not be paid for.
        places = follow(released, "first cells").integers(len(cells), size=self.draws).tolist()
        asked = self._ask_cell(price, list(map(self.tables.believe, synopses))) if synopses else None
        for place in places:
            cell = place
            if asked is not None:
                (drawn,) = yield (asked,)
                cell = int(drawn.values)
            table = self.tables.asked[cells[cell]]
            (counts,) = yield (self._ask_counts(price, table),)
            found.append((table, counts))
        return found

    def _ask_cell(self, price: Price, synopses: Sequence[Sequence[Floats]]) -> Measure:
        """One of all cells, by how far its count is from what each of some synopses says of it.

        The weight of a cell is exp(rate * distances), each cut between what is accurate and what is not: for every
        synopsis it is multiplied by something between 1 / e and e, but for a factor that all cells have.
        """
        candidates = tuple(
            Candidate(tuple(Guess(place, round_parts(each[place])) for each in synopses))
            for place in range(len(self.tables.asked))
        )
        whole = Distances(self.tables.keys, candidates, "each", PARTS)
        paid = price * (self.part * _CHOOSING)
        rate = Exponential.for_query(Query(self.relation, (), whole), paid).rate
        near = min(ceil(PARTS * _ACCURATE * self._deviation(price)), _FURTHEST)
        cut = replace(whole, between=(near, min(near + ceil(_EXPONENTS / rate), 2 * _FURTHEST)))
        return Measure(Query(self.relation, (), cut), paid, by="exponential")

    def _ask_counts(self, price: Price, table: TableColumns) -> Measure:
        return Measure(self.tables.query(table), price * (self.part * (1 - _CHOOSING)))

    def _deviation(self, price: Price) -> float:
        """Of the noise on each count."""
        return self._ask_counts(price, self.tables.asked[0]).noise.continuous.deviation

    def _join(self, synopses: Sequence[Floats]) -> Floats:
        """One table of all columns from several: the median of every count of few columns."""
        believed = zip(*map(self.tables.believe, synopses), strict=True)
        medians = [
            NoisyCells.whole(table, np.median(np.stack(several), axis=0), 1.0)
            for table, several in zip(self.tables.asked, believed, strict=True)
        ]
        return fit(np.mean(np.stack(synopses), axis=0), medians, _AT_THE_END * self._replays(len(medians)))

    def _replays(self, measured: int) -> int:
        return count_replays(prod(self.tables.sizes) * measured * (self.rounds + _AT_THE_END))


def _build(frame: Frame, arguments: Arguments) -> Boosting:
    relation, columns, ways = read_explicit(frame, arguments)
    rounds = 0 if ways == 1 else arguments["rounds"]
    draws = arguments["draws"] or min(comb(len(columns), ways), 2 * len(columns))
    return Boosting(relation, columns, ways, rounds, draws, arguments["size"])


METHOD = Method(
    "boosting",
    "releases",
    "Synthetic rows from the median of several tables, each made for what the earlier ones got wrong.",
    (
        COLUMNS,
        WAYS,
        Parameter("rounds", "integer", "of how many tables the median is taken", default=3, lower=1, upper=15),
        Parameter(
            "draws",
            "integer",
            "how many counts are drawn for each of them; two a column if not said",
            lower=1,
            upper=30,
        ),
        BINS,
        MISSING_VALUES,
        SIZE,
    ),
    _build,
    {},
    "SELECT * FROM boosting(people, columns => (age, sex, city), bins => 4, size => 50)",
    notes=(_COMPARED,),
    shows=show_columns,
)
