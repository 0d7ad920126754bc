"""Synthetic rows from an explicit table of all columns: what its methods read, and what they publish.

Proof: docs/proofs/query_release.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb, prod
from typing import Any

import numpy as np

from adomnia.mechanisms.contract import Tails
from adomnia.messages.notes import Note, NoteTemplate
from adomnia.methods.contract import Arguments, BadArgument, Frame, Parameter
from adomnia.methods.synthesis.attributes import ReleaseColumn, count_cells, read_columns
from adomnia.methods.synthesis.choosing import ReleaseTables
from adomnia.methods.synthesis.decoding import decode_rows
from adomnia.methods.synthesis.explicit_table import NoisyCells, TableColumns, draw_rows, sum_tables
from adomnia.methods.synthesis.residuals import NoisyMarginal, Residuals
from adomnia.methods.synthesis.synthesis import DRAWN, GOOD_FOR, MOST_ROWS
from adomnia.noise import Integers
from adomnia.noise.afterwards import follow
from adomnia.privacy.events import Price
from adomnia.privacy.keys import MOST_CELLS, Key
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Floats, Measure, Measured, ResultTable, Round
from adomnia.statistics.products import Places, Product

MOST_TABLES = 1_000  # each is a statement that is proved before data is read
COLUMN_PART = Fraction(1, 4)  # of what a table costs: tables of several columns tell of each of them too
PARTS = 64  # of a row, that what is believed is rounded to
_MOST_PARTS = 2**50
_WORK = 2 * 10**9  # cells that may be looked at in fitting
_LEAST_REPLAYS, _MOST_REPLAYS = 10, 100
WAYS = Parameter("ways", "integer", "of how many columns at once counts should be right", default=2, lower=1, upper=4)
_OF_TABLE = NoteTemplate(
    "rows_of_table",
    "These {number:,} rows are of nobody: they are drawn from a table that was fitted to noisy counts. There are about "
    "{rows:,} rows of data.",
)


def read_explicit(
    frame: Frame, arguments: Arguments, most_cells: int = MOST_CELLS
) -> tuple[Relation, tuple[ReleaseColumn, ...], int]:
    """The rows, their columns and of how many at once counts are asked; refused where there are too many cells."""
    relation, columns = read_columns(frame, arguments)
    cells, ways = count_cells(columns), min(arguments["ways"], len(columns))
    if cells > most_cells:
        why = f"have {cells:,} combinations of values, and a table of all of them may have {most_cells:,}"
        raise BadArgument("columns", why, "name fewer, or put numbers into fewer bins with bins => ...")
    if comb(len(columns), ways) > MOST_TABLES:
        why = f"asks for {comb(len(columns), ways):,} tables, and there may be {MOST_TABLES:,}"
        raise BadArgument("ways", why, "name fewer columns, or lower it")
    return relation, columns, ways


@dataclass(frozen=True)
class ExplicitTables(ReleaseTables):
    """All tables of so many columns: what rows should be good for."""

    ways: int

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many values each column has."""
        return tuple(map(len, self.columns))

    @cached_property
    def asked(self) -> tuple[TableColumns, ...]:
        """The columns of each table."""
        return tuple(combinations(range(len(self.columns)), self.ways))

    @cached_property
    def keys(self) -> tuple[tuple[Key, ...], ...]:
        """The same as keys of queries."""
        return tuple(self.query(table).value_keys for table in self.asked)

    def share_first(self, column: Fraction, rounds: Fraction) -> tuple[tuple[Query, Fraction], ...]:
        """Every column with its part of a price, the first of them with that of all rounds too."""
        first, *others = (self.query((place,)) for place in range(len(self.columns)))
        return ((first, column + rounds), *((query, column) for query in others))

    def count_cells(self, table: TableColumns) -> int:
        """How many cells a table has."""
        return prod(self.sizes[column] for column in table)

    def ask_columns(self, price: Price) -> Round:
        """The counts of every column, each at that price."""
        return tuple(Measure(self.query((place,)), price) for place in range(len(self.columns)))

    def believe(self, weights: Floats) -> list[Floats]:
        """What a table of all columns says of each."""
        believed = sum_tables(weights, self.asked)
        return [believed[table] for table in self.asked]


def round_parts(believed: Floats) -> Places:
    """Counts in whole parts of a row, in one line."""
    return np.clip(np.rint(believed.ravel() * PARTS), 0, _MOST_PARTS).astype(np.int64)


def count_replays(work: int) -> int:
    """How many updates of weights are worth their time, where each looks at so many cells in all rounds."""
    return max(_LEAST_REPLAYS, min(_MOST_REPLAYS, _WORK // work))


def read_noisy(columns: TableColumns, measured: Measured) -> NoisyCells:
    """A whole table as it was measured."""
    return NoisyCells.whole(
        columns, np.asarray(measured.values, dtype=np.float64), measured.noise.continuous.cumulants.variance
    )


@dataclass(frozen=True)
class FittedTable:
    """A table of all columns that was fitted to noisy counts, and what else was released on the way to it."""

    columns: tuple[ReleaseColumn, ...]
    weights: Floats
    noisy: tuple[NoisyCells, ...]
    released: tuple[Integers, ...]
    tails: Tails

    @property
    def estimates(self) -> Residuals:
        """What the tables that were measured whole say themselves, without bias."""
        sizes = self.weights.shape
        whole = [each for each in self.noisy if each.places.size == prod(sizes[column] for column in each.columns)]
        return Residuals.from_measured(
            sizes, [NoisyMarginal(each.columns, each.counts, each.variance) for each in whole]
        )

    def publish(self, size: int | None, about: Mapping[str, Any], *notes: Note) -> ResultTable:
        """Rows as a result and as a product; about as many as there are if nobody says how many."""
        total = float(self.weights.sum())
        number = size or min(max(round(total), 1), MOST_ROWS)
        rows = draw_rows(self.weights, number, follow(self.released, "rows"))
        attributes = tuple(column.attribute for column in self.columns)
        labels = decode_rows(attributes, rows, follow(self.released, "values"))
        first = _OF_TABLE(number=number, rows=round(total))
        product = Product(attributes, self.estimates, self.tails, rows, about={**about, "total": total})
        return ResultTable(labels, {}, (first, *notes, GOOD_FOR, DRAWN), product=product)  # type: ignore[arg-type]  # of None
