"""One-way tables: how many rows hold each value of a column, and which share."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from adomnia.messages.texts import Note, define_note
from adomnia.methods.analysis import SingleRound, keys_of, with_values
from adomnia.methods.contract import BY, INFERENCE, Arguments, Factor, Frame, Method, NumberColumn, Parameter
from adomnia.methods.parts.describe.noisy_ratios import NoisyCounts, NoisyRatio, read_inference
from adomnia.methods.parts.describe.weighted_summary import WEIGHTED_NOTE, WeightedCounts, weight_vector
from adomnia.methods.sampling_weights import WEIGHT, read_weights
from adomnia.privacy.kinds import LATER
from adomnia.privacy.queries import Aggregate, Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Rows
from adomnia.statistics.contract import Estimate, Measured, ResultTable, name_about

COUNTS_NOTE = define_note("counts_about_data", "Counts are about the data.")
_SHARES = {
    True: define_note(
        "shares_about_population",
        "Shares are about the population that the people are a sample of: intervals allow for sampling and noise.",
    ),
    False: define_note("shares_about_data", "Shares are about the data: intervals allow for noise alone."),
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
    weights: NumberColumn | None = field(default=None, metadata={LATER: True})

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        counted: Aggregate = Rows()
        if self.weights is not None:
            counted = weight_vector(self.weights, population=self.population)
        return ((Query(self.relation, keys_of(*self.by, self.factor), counted), Fraction(1)),)

    def tabulate(self, *measured: Measured) -> ResultTable:
        count, share = self._read(measured[0])
        weighted = () if self.weights is None else (WEIGHTED_NOTE,)
        return ResultTable(
            {"value": self.factor.levels},
            {"count": count, "share": share.estimate("noisy count / noisy count of all")},
            (COUNTS_NOTE, *weighted, note_shares(population=self.population)),
            {"kind": "bars", "x": "value", "y": "count"},
            about={"share": name_about(population=self.population)},
        )

    def _read(self, measured: Measured) -> tuple[Estimate, NoisyRatio]:
        """The counts, and their shares of all."""
        if self.weights is not None:
            found = WeightedCounts.of(measured, self.weights, population=self.population)
            return found.estimate(), found.share_of(found.whole, population=self.population)
        counts, cumulants = np.asarray(measured.values, dtype=np.float64), measured.noise.continuous.cumulants
        counted = NoisyCounts(counts, np.ones(len(counts)), cumulants)
        whole = NoisyCounts(np.full(len(counts), counts.sum()), np.full(len(counts), float(len(counts))), cumulants)
        return counted.estimate(), counted.share_of(whole, population=self.population)


def note_shares(*, population: bool) -> Note:
    """What the intervals of shares are about."""
    return _SHARES[population]


def _build(frame: Frame, arguments: Arguments) -> Frequencies:
    population, weights = read_inference(frame, arguments, "frequencies"), read_weights(arguments)
    rows = frame.relation if weights is None else with_values(frame.relation, weights.value)
    return Frequencies(rows, arguments["by"], arguments["factor"], population, weights)


METHOD = Method(
    "frequencies",
    "describe",
    "How many rows hold each value of a column, and which share.",
    (Parameter("factor", "factor", "the column, whose values are declared", required=True), WEIGHT, BY, INFERENCE),
    _build,
    {
        "value": "a declared value",
        "count": "rows that hold it; with a weight, the sum of their weights",
        "share": "their share of the rows that hold any",
    },
    "SELECT * FROM frequencies(people, factor => city)",
    {"R": "table, prop.table", "SAS": "PROC FREQ", "pandas": "Series.value_counts"},
)
