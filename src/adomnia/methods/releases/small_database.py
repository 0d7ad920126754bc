"""Synthetic rows by the net mechanism: of all small databases, one that answers nearly as the data does."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain, combinations_with_replacement
from math import comb, prod
from typing import ClassVar

import numpy as np

from adomnia.messages.texts import NoteTemplate
from adomnia.methods.analysis import Analysis
from adomnia.methods.contract import Arguments, BadArgument, Frame, Method, Parameter
from adomnia.methods.synthesis.attributes import BINS, COLUMNS, MISSING_VALUES, ReleaseColumn, show_columns
from adomnia.methods.synthesis.explicit_rows import (
    WAYS,
    ExplicitTables,
    FittedTable,
    read_explicit,
    read_noisy,
)
from adomnia.methods.synthesis.synthesis import SIZE, expected_rows
from adomnia.privacy.events import Price
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.transforms.distances import Candidate, Distances, Guess
from adomnia.statistics.contract import Measure, ResultTable, Round, Steps
from adomnia.statistics.products import Places

MOST_CANDIDATES = 100_000
MOST_COMBINATIONS = 200  # of values: with more there is no room for two rows
_USUAL_CANDIDATES = 20_000
_MOST_SMALL = 64
_COUNTING = Fraction(1, 10)  # of the price, for how many rows there are: the rest chooses
_MOST_BELIEVED = 2**40  # rows: larger guesses would leave no room for 64 bits


_REPEATED = NoteTemplate(
    "repeated_database",
    "They repeat a database of {rows} rows, chosen among {candidates:,} by the largest error of its {counts:,} counts: "
    "shares are multiples of 1/{rows}.",
)


@dataclass(frozen=True)
class SmallDatabase(Analysis):
    """Synthetic rows from the small database, of all that there are, whose counts are the nearest to those of the data.

    Method      a noisy number N of rows; then the exponential mechanism over all databases of m rows. With c the counts
                of the data and y those of a candidate, in every cell of the tables of few columns, the score is
                -max |m c - N y|: by how much shares differ, in integers.
    Guarantee   both composed. One row moves a score by m; Blum, Ligett & Roth replace a row instead of adding one, so
                that their number of rows is public: here it is measured first, and is a constant of the choice.
    Bias        shares are multiples of 1 / m.
    Cite        Blum, Ligett & Roth 2008; Dwork & Roth 2014, 4.1.
    """

    tag: ClassVar[str] = "SmallDatabase"
    name: ClassVar[str] = "small_database"
    relation: Relation
    columns: tuple[ReleaseColumn, ...]
    ways: int
    small: int
    size: int | None

    @cached_property
    def tables(self) -> ExplicitTables:
        """What the small database should be good for."""
        return ExplicitTables(self.relation, self.columns, self.ways)

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        """The number of rows pays for the choice, of which it is a constant."""
        return ((self.tables.query(()), Fraction(1)),)

    def expected_result(self, _price: Price, _rows: int) -> ResultTable:
        return expected_rows(self.columns)

    def planned_measures(self, price: Price) -> Round:
        """The number of rows, and a choice of one database: others move no further."""
        return self._ask_total(price), self._ask_choice(price, np.zeros((1, self.small), dtype=np.int64), 1)

    def steps(self, price: Price) -> Steps:
        (counted,) = yield (self._ask_total(price),)
        total = min(max(int(counted.values), 1), _MOST_BELIEVED)
        databases = list_databases(prod(self.tables.sizes), self.small)
        (chosen,) = yield (self._ask_choice(price, databases, total),)
        counts = np.bincount(databases[int(chosen.values)], minlength=prod(self.tables.sizes))
        weights = counts.reshape(self.tables.sizes).astype(np.float64) * total / self.small
        about = {"method": "small_database", "rows": self.small, "candidates": self.candidates}
        cells = sum(map(self.tables.count_cells, self.tables.asked))
        note = _REPEATED(rows=self.small, candidates=self.candidates, counts=cells)
        noisy, released = (read_noisy((), counted),), (counted.values, chosen.values)
        return FittedTable(self.columns, weights, noisy, released, counted.noise.continuous.tails).publish(
            self.size, about, note
        )

    @property
    def candidates(self) -> int:
        """How many databases there are of so many rows."""
        return count_databases(prod(self.tables.sizes), self.small)

    def _ask_total(self, price: Price) -> Measure:
        return Measure(self.query, price * _COUNTING)

    def _ask_choice(self, price: Price, databases: Places, total: int) -> Measure:
        """One of some databases, rather one whose counts, as shares of so many rows, are near to those of the data."""
        tables = [self._list_guesses(place, databases, total) for place in range(len(self.tables.asked))]
        candidates = tuple(Candidate(guesses, -1) for guesses in zip(*tables, strict=True))
        compared = Distances(self.tables.keys, candidates, "largest", self.small)
        return Measure(Query(self.relation, (), compared), price * (1 - _COUNTING), by="exponential")

    def _list_guesses(self, place: int, databases: Places, total: int) -> list[Guess]:
        """Of each database what it says of one table. Many say the same, and have the same guess."""
        table = self.tables.asked[place]
        values = np.unravel_index(databases, self.tables.sizes)
        shape = [self.tables.sizes[column] for column in table]
        cells = np.ravel_multi_index([values[column] for column in table], shape)
        counts = np.zeros((len(databases), prod(shape)), dtype=np.int64)
        np.add.at(counts, (np.arange(len(databases))[:, None], cells), 1)
        different, own = np.unique(counts, axis=0, return_inverse=True)
        guesses = [Guess(place, each * total) for each in different]
        return [guesses[which] for which in own.ravel().tolist()]


def list_databases(cells: int, rows: int) -> Places:
    """All databases of so many rows, one line each with the cells of its rows."""
    found = chain.from_iterable(combinations_with_replacement(range(cells), rows))
    return np.fromiter(found, dtype=np.int64).reshape(-1, rows)


def count_databases(cells: int, rows: int) -> int:
    """How many there are of so many rows, in any order."""
    return comb(cells + rows - 1, rows)


def _find_small(cells: int) -> int:
    """The largest number of rows with as many databases as are usual."""
    few = [rows for rows in range(1, _MOST_SMALL + 1) if count_databases(cells, rows) <= _USUAL_CANDIDATES]
    return max(few, default=1)


def _build(frame: Frame, arguments: Arguments) -> SmallDatabase:
    relation, columns, ways = read_explicit(frame, arguments, MOST_COMBINATIONS)
    cells = prod(map(len, columns))
    small = arguments["small"] or _find_small(cells)
    if count_databases(cells, small) > MOST_CANDIDATES:
        why = f"makes {count_databases(cells, small):,} databases to choose from, and there may be {MOST_CANDIDATES:,}"
        raise BadArgument("small", why, f"write small => {_find_small(cells)}, or name fewer columns")
    return SmallDatabase(relation, columns, ways, small, arguments["size"])


METHOD = Method(
    "small_database",
    "releases",
    "Synthetic rows of a small database, chosen among all of them for counts like those of the data.",
    (
        COLUMNS,
        WAYS,
        Parameter(
            "small",
            "integer",
            "how many rows the small database has; as many as leave few enough to choose from if not said",
            lower=1,
            upper=_MOST_SMALL,
        ),
        BINS,
        MISSING_VALUES,
        SIZE,
    ),
    _build,
    {},
    "SELECT * FROM small_database(people, columns => (sex, city), small => 2, size => 50)",
    shows=show_columns,
)
