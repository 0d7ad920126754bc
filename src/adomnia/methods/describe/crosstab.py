"""Two-way tables with margins."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import ClassVar

import numpy as np

from adomnia.methods.analysis import SingleRound, keys_of
from adomnia.methods.contract import BY, INFERENCE, Arguments, BadArgument, Factor, Frame, Method, Parameter
from adomnia.methods.describe.counted_shares import NoisyCounts
from adomnia.methods.describe.error_laws import noise_cumulants
from adomnia.methods.describe.frequencies import COUNTS_NOTE, note_shares
from adomnia.methods.describe.inference import read_inference
from adomnia.privacy.aggregates import Rows
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Floats, Measured, ResultTable

ALL = "(all)"
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
    relation: Relation
    by: tuple[Factor, ...]
    row: Factor
    column: Factor
    population: bool

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((Query(self.relation, keys_of(*self.by, self.row, self.column), Rows()), Fraction(1)),)

    def tabulate(self, *measured: Measured) -> ResultTable:
        counts = np.asarray(measured[0].values, dtype=np.float64)
        law = noise_cumulants(measured[0])
        found, cells = _with_margins(counts), _with_margins(np.ones_like(counts))

        def count(rows: Floats, of: Floats) -> NoisyCounts:
            values, parts = (np.broadcast_to(each, found.shape).ravel() for each in (rows, of))
            return NoisyCounts(values, parts, law)

        counted = count(found, cells)
        wholes = {
            "share": count(found[-1:, -1:], cells[-1:, -1:]),
            "row_share": count(found[:, -1:], cells[:, -1:]),
            "column_share": count(found[-1:], cells[-1:]),
        }
        method = "noisy count / noisy count of the whole"
        shares = {
            name: counted.share_of(whole, population=self.population).estimate(method) for name, whole in wholes.items()
        }
        rows, columns = ((*map(str, factor.levels), ALL) for factor in (self.row, self.column))
        pairs = list(product(rows, columns))
        return ResultTable(
            {"row": tuple(row for row, _ in pairs), "column": tuple(column for _, column in pairs)},
            {"count": counted.estimate(), **shares},
            (COUNTS_NOTE, note_shares(population=self.population), f"Rows and columns called {ALL} are margins."),
            {"kind": "heat", "x": "column", "y": "row", "value": "count"},
        )


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
    population = read_inference(frame, arguments, "crosstab")
    return Crosstab(frame.relation, arguments["by"], *read_factors(arguments), population)


ROW = Parameter("row", "factor", "the column whose values are rows of the table", required=True)
COLUMN = Parameter("column", "factor", "the column whose values are its columns", required=True)
METHOD = Method(
    "crosstab",
    "describe",
    "How many rows hold each pair of values of two columns, with margins and shares.",
    (ROW, COLUMN, BY, INFERENCE),
    _build,
    {
        "row": "a value of the first column",
        "column": "a value of the second",
        "count": "rows that hold both",
        "share": "their share of all rows in the table",
        "row_share": "their share of the rows that hold the first",
        "column_share": "their share of the rows that hold the second",
    },
    "SELECT * FROM crosstab(people, row => sex, column => city)",
    {"R": "xtabs, addmargins", "SAS": "PROC FREQ", "pandas": "crosstab"},
)
