"""One-way tables: how many rows hold each value of a column, and which share."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from adomnia.methods.analysis import SingleRound, keys_of
from adomnia.methods.contract import BY, INFERENCE, Arguments, Factor, Frame, Method, Parameter
from adomnia.methods.describe.counted_shares import NoisyCounts
from adomnia.methods.describe.error_laws import noise_cumulants
from adomnia.methods.describe.inference import read_inference
from adomnia.privacy.aggregates import Rows
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Measured, ResultTable

COUNTS_NOTE = "Counts are about the data."
_SHARES = {
    True: "Shares are about the population that the people are a sample of: intervals allow for sampling and noise.",
    False: "Shares are about the data: intervals allow for noise alone.",
}


@dataclass(frozen=True)
class Frequencies(SingleRound):
    """How many rows hold each declared value, and which share of those that hold one, in every group.

    Method      noisy counts; shares are quotients of a count and the sum of all.
    Guarantee   one measurement at the whole price: a row is in one cell.
    Bias        none.
    Cite        Ghosh, Roughgarden & Sundararajan 2012 (counts); Wilson 1927, Fieller 1954 (shares).
    """

    tag: ClassVar[str] = "Frequencies"
    name: ClassVar[str] = "frequencies"
    error_columns: ClassVar[tuple[str, ...]] = ("count", "share")
    relation: Relation
    by: tuple[Factor, ...]
    factor: Factor
    population: bool

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((Query(self.relation, keys_of(*self.by, self.factor), Rows()), Fraction(1)),)

    def tabulate(self, *measured: Measured) -> ResultTable:
        counts = np.asarray(measured[0].values, dtype=np.float64)
        law = noise_cumulants(measured[0])
        counted = NoisyCounts(counts, np.ones(len(counts)), law)
        whole = NoisyCounts(np.full(len(counts), counts.sum()), np.full(len(counts), float(len(counts))), law)
        share = counted.share_of(whole, population=self.population).estimate("noisy count / noisy count of all")
        return ResultTable(
            {"value": self.factor.levels},
            {"count": counted.estimate(), "share": share},
            (COUNTS_NOTE, note_shares(population=self.population)),
            {"kind": "bars", "x": "value", "y": "count"},
        )


def note_shares(*, population: bool) -> str:
    """What the intervals of shares are about."""
    return _SHARES[population]


def _build(frame: Frame, arguments: Arguments) -> Frequencies:
    population = read_inference(frame, arguments, "frequencies")
    return Frequencies(frame.relation, arguments["by"], arguments["factor"], population)


METHOD = Method(
    "frequencies",
    "describe",
    "How many rows hold each value of a column, and which share.",
    (Parameter("factor", "factor", "the column, whose values are declared", required=True), BY, INFERENCE),
    _build,
    {"value": "a declared value", "count": "rows that hold it", "share": "their share of the rows that hold any"},
    "SELECT * FROM frequencies(people, factor => city)",
    {"R": "table, prop.table", "SAS": "PROC FREQ", "pandas": "Series.value_counts"},
)
