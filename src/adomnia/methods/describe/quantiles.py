"""Quantiles of a column."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

import numpy as np

from adomnia.mechanisms.quantiles import FINEST_SHARE
from adomnia.messages.texts import define_note
from adomnia.methods.analysis import keys_of, with_values
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
from adomnia.methods.parts.describe.cut_quantiles import CutQuantile, Flow, Robust, estimate_quantiles, find_cuts
from adomnia.methods.parts.describe.cuts import Cutting, check_cells
from adomnia.methods.parts.describe.noisy_ratios import describe_inference, read_inference
from adomnia.methods.parts.describe.rounds import SeveralRounds, table_of
from adomnia.privacy.events import Price
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import NonNull
from adomnia.statistics.contract import Measure, ResultTable, Steps, name_about

# Of the price: the number of rows, the values chosen by rank, the counts between cuts.
ROWS, CHOOSE, COUNT = Fraction(4, 100), Fraction(32, 100), Fraction(64, 100)
_OUTERMOST = Fraction(2, FINEST_SHARE)
_APART = Fraction(3, FINEST_SHARE)
_MOST = 40
BOUNDS_NOTE = define_note(
    "ends_at_bounds",
    "Where rows are too few to tell, an interval ends at the declared bounds. Values beyond them count as the bounds.",
)


@dataclass(frozen=True)
class QuantilesOfColumn(SeveralRounds):
    """The values that given shares of all rows are below or at, in every group.

    Method      a noisy number of rows; values chosen by rank, three for each quantile; rows counted between cuts that
                are laid around them. The interval holds all values that noisy ranks and sampling allow for.
    Guarantee   the three rounds composed.
    Bias        clamping, and half a step of rounding a value.
    Cite        McSherry & Talwar 2007; Kaplan, Schnapp & Stemmer 2022; Thompson 1936 (the interval by ranks).
    """

    tag: ClassVar[str] = "ColumnQuantiles"
    name: ClassVar[str] = "quantiles"
    relation: Relation
    by: tuple[Factor, ...]
    column: NumberColumn
    probs: tuple[Fraction, ...]
    population: bool
    confidence: Fraction

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((Query(self.relation, keys_of(*self.by), NonNull(self.column.value)), Fraction(1)),)

    def steps(self, price: Price) -> Steps:
        found = yield from find_quantiles(self, self.probs, price)
        return table_of(self.by, [self._tabulate(each) for each in found])

    def _tabulate(self, found: list[CutQuantile]) -> ResultTable:
        return ResultTable(
            {"prob": tuple(float(each) for each in self.probs)},
            {"estimate": estimate_quantiles(found)},
            (describe_inference(population=self.population), BOUNDS_NOTE),
            {"kind": "points", "x": "prob", "y": "estimate"},
            about=name_about(population=self.population),
        )


def find_quantiles(
    asked: QuantilesOfColumn | Robust, shares: tuple[Fraction, ...], price: Price
) -> Flow[list[list[CutQuantile]]]:
    """Three rounds: how many rows, values by rank, counts between cuts."""
    ((query, _),) = asked.shares
    (rows,) = yield (Measure(query, price * ROWS),)
    cutting = cut_column(asked, shares, price)
    return (yield from find_cuts(cutting, np.asarray(rows.values, dtype=np.float64)))


def cut_column(asked: QuantilesOfColumn | Robust, shares: tuple[Fraction, ...], price: Price) -> Cutting:
    """How quantiles of the column are bought."""
    ((query, _),) = asked.shares
    column, prices = asked.column, (price * CHOOSE, price * COUNT)
    present = with_values(asked.relation, column.value)
    return Cutting(
        present, query.value_keys, column.value, column.domain, shares, asked.population, asked.confidence, *prices
    )


def _build(frame: Frame, arguments: Arguments) -> QuantilesOfColumn:
    column, probs = arguments["column"], arguments["probs"]
    check_probs(probs)
    check_cells(arguments["by"], len(probs))
    population = read_inference(frame, arguments, "quantiles")
    return QuantilesOfColumn(frame.relation, arguments["by"], column, probs, population, frame.confidence)


def check_probs(probs: tuple[Fraction, ...]) -> None:
    """Refuse shares that cannot be told apart."""
    if any(FINEST_SHARE % each.denominator or not _OUTERMOST <= each <= 1 - _OUTERMOST for each in probs):
        raise BadArgument("probs", "must be from 0.002 to 0.998, with at most three digits", "write (0.1, 0.5, 0.9)")
    if len(probs) > _MOST or any(after - before < _APART for before, after in pairwise(probs)):
        raise BadArgument("probs", f"must be up to {_MOST} rising numbers, at least 0.003 apart", "sort and thin them")


METHOD = Method(
    "quantiles",
    "describe",
    "Quantiles of a column, with intervals that hold on ties and gaps.",
    (
        Parameter("column", "column", "the numbers", required=True),
        Parameter(
            "probs",
            "numbers",
            "the shares of rows below each quantile, rising",
            default=(Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)),
        ),
        BY,
        INFERENCE,
    ),
    _build,
    {"prob": "the share of rows below", "estimate": "the quantile"},
    "SELECT * FROM quantiles(people, column => salary, probs => (0.1, 0.5, 0.9))",
    {"R": "quantile", "SAS": "PROC UNIVARIATE", "pandas": "DataFrame.quantile"},
)
