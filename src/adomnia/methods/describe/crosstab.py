"""Two-way tables with margins."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import ClassVar

import numpy as np

from adomnia.messages.texts import define_note
from adomnia.methods.analysis import SingleRound, keys_of, with_values
from adomnia.methods.contract import (
    BY,
    INFERENCE,
    Arguments,
    BadArgument,
    Factor,
    Frame,
    Method,
    NumberColumn,
    Parameter,
)
from adomnia.methods.describe.frequencies import COUNTS_NOTE, note_shares
from adomnia.methods.parts.describe.noisy_ratios import NoisyCounts, read_inference
from adomnia.methods.parts.describe.weighted_summary import WEIGHTED_NOTE, WeightedCounts, weight_vector
from adomnia.methods.sampling_weights import WEIGHT, read_weights
from adomnia.privacy.kinds import LATER
from adomnia.privacy.queries import Aggregate, Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Rows
from adomnia.statistics.contract import Estimate, Floats, Measured, ResultTable, name_about

ALL = "(all)"
_MARGINS = define_note("margins", f"Rows and columns called {ALL} are margins.")
_SHARES = ("share", "row_share", "column_share")
_MOST_CELLS = 10_000


@dataclass(frozen=True)
class Crosstab(SingleRound):
    """How many rows hold each pair of declared values, with margins and shares, in every group.

    Method      noisy counts of all cells; margins are sums of them, shares are quotients.
    Guarantee   one measurement at the whole price: a row is in one cell.
    Bias        none.
    Cite        Ghosh, Roughgarden & Sundararajan 2012 (counts); Wilson 1927, Fieller 1954 (shares).
    """

    tag: ClassVar[str] = "Crosstab"
    name: ClassVar[str] = "crosstab"
    error_columns: ClassVar[tuple[str, ...]] = ("count", *_SHARES)
    relation: Relation
    by: tuple[Factor, ...]
    row: Factor
    column: Factor
    population: bool
    weights: NumberColumn | None = field(default=None, metadata={LATER: True})

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        counted: Aggregate = Rows()
        if self.weights is not None:
            counted = weight_vector(self.weights, population=self.population)
        return ((Query(self.relation, keys_of(*self.by, self.row, self.column), counted), Fraction(1)),)

    def tabulate(self, *measured: Measured) -> ResultTable:
        cells = self._read(measured[0])
        columns: dict[str, Estimate] = {"count": cells[0].estimate()}
        for name, whole in zip(_SHARES, cells[1:], strict=True):
            share = cells[0].share_of(whole, population=self.population)  # type: ignore[arg-type]  # of the same kind
            columns[name] = share.estimate("noisy count / noisy count of the whole")
        pairs = list(product(*((*map(str, factor.levels), ALL) for factor in (self.row, self.column))))
        return ResultTable(
            {"row": tuple(row for row, _ in pairs), "column": tuple(column for _, column in pairs)},
            columns,
            (
                COUNTS_NOTE,
                *([] if self.weights is None else [WEIGHTED_NOTE]),
                note_shares(population=self.population),
                _MARGINS,
            ),
            {"kind": "heat", "x": "column", "y": "row", "value": "count"},
            about=dict.fromkeys(_SHARES, name_about(population=self.population)),
        )

    def _read(self, measured: Measured) -> tuple["NoisyCounts | WeightedCounts", ...]:
        """The cells with their margins, and the wholes that each is a part of: the table, its row, its column."""
        if self.weights is None:
            counts, cumulants = np.asarray(measured.values, dtype=np.float64), measured.noise.continuous.cumulants
            tables = _list_wholes(_with_margins(counts)), _list_wholes(_with_margins(np.ones_like(counts)))
            return tuple(NoisyCounts(values, cells, cumulants) for values, cells in zip(*tables, strict=True))
        found = WeightedCounts.of(measured, self.weights, population=self.population)
        parts = (_list_wholes(_with_margins(each)) for each in (found.values, found.squares, found.noises))
        return tuple(
            WeightedCounts(values, squares, noises, found.cumulants)
            for values, squares, noises in zip(*parts, strict=True)
        )


def _list_wholes(table: Floats) -> Iterator[Floats]:
    """Of a table with margins the cells, and of each the whole table, its row and its column."""
    for whole in (table, table[-1:, -1:], table[:, -1:], table[-1:]):
        yield np.broadcast_to(whole, table.shape).ravel()


def _with_margins(cells: Floats) -> Floats:
    """A table with the sums of its rows and of its columns."""
    wide = np.hstack([cells, cells.sum(axis=1, keepdims=True)])
    return np.vstack([wide, wide.sum(axis=0, keepdims=True)])


def read_factors(arguments: Arguments) -> tuple[Factor, Factor]:
    """Both factors of a two-way table."""
    row, column = arguments["row"], arguments["column"]
    if row.key == column.key:
        raise BadArgument("column", "is the same as row", "name another column")
    if len(row.levels) * len(column.levels) > _MOST_CELLS:
        why = f"makes {len(row.levels) * len(column.levels):,} cells with row, more than {_MOST_CELLS:,}"
        raise BadArgument("column", why, "group one of them more coarsely in the SELECT in brackets")
    return row, column


def _build(frame: Frame, arguments: Arguments) -> Crosstab:
    population, weights = read_inference(frame, arguments, "crosstab"), read_weights(arguments)
    rows = frame.relation if weights is None else with_values(frame.relation, weights.value)
    return Crosstab(rows, arguments["by"], *read_factors(arguments), population, weights)


ROW = Parameter("row", "factor", "the column whose values are rows of the table", required=True)
COLUMN = Parameter("column", "factor", "the column whose values are its columns", required=True)
METHOD = Method(
    "crosstab",
    "describe",
    "How many rows hold each pair of values of two columns, with margins and shares.",
    (ROW, COLUMN, WEIGHT, BY, INFERENCE),
    _build,
    {
        "row": "a value of the first column",
        "column": "a value of the second",
        "count": "rows that hold both; with a weight, the sum of their weights",
        "share": "their share of all rows in the table",
        "row_share": "their share of the rows that hold the first",
        "column_share": "their share of the rows that hold the second",
    },
    "SELECT * FROM crosstab(people, row => sex, column => city)",
    {"R": "xtabs, addmargins", "SAS": "PROC FREQ", "pandas": "crosstab"},
)
