"""Histograms: how many rows are in each bin of a column."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from adomnia.messages.texts import Note, define_note
from adomnia.methods.analysis import SingleRound, keys_of, with_values
from adomnia.methods.column_bins import BREAKS, ColumnBins, bins_parameter, choose_bins
from adomnia.methods.contract import BY, INFERENCE, Arguments, Factor, Frame, Method, Parameter
from adomnia.methods.parts.densities.shares import ABOUT_DATA, NOBODY, NoisyShares, require_one_row
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Bounds, Estimate, Measured, ResultTable, name_about
from adomnia.statistics.one_round import in_steps

_OUTSIDE = define_note("outside_in_outer_bins", "What lies outside the bins is counted in the outer ones.")
_ABOUT = define_note(
    "histogram_about",
    "Intervals of counts are about the people in the data, those of densities about the population.",
)


@dataclass(frozen=True)
class HistogramOfColumn(SingleRound):
    """Counts in bins, and the density that they are.

    Method      one noisy count a bin. The density is the count over the noisy number of rows and the width, made
                not negative with an integral of 1; its interval by inverting a simulated score test.
    Guarantee   one measurement of disjoint counts at the whole price.
    Bias        none in counts; densities of few rows are drawn to zero from below.
    Cite        Dwork, McSherry, Nissim & Smith 2006; Wilson 1927 (the interval).
    """

    tag: ClassVar[str] = "Histogram of a column"
    name: ClassVar[str] = "histogram"
    error_columns: ClassVar[tuple[str, ...]] = ("count", "density")
    relation: Relation
    by: tuple[Factor, ...]
    bins: ColumnBins
    sampled: bool

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self.bins.query(self.relation, keys_of(*self.by)), Fraction(1)),)

    def tabulate(self, *measured: Measured) -> ResultTable:
        (counted,) = measured
        found = NoisyShares(counted.values, (1,) * len(self.bins), counted.noise, self.sampled)
        return ResultTable(
            labels={"x_from": self.bins.lower, "x_to": self.bins.upper},
            estimates={
                "count": replace(in_steps(counted, Fraction(1), "noisy count"), unsigned=True),
                "density": density_of(found, self.bins),
            },
            notes=(*self._notes, *([NOBODY] if found.total <= 0 else [])),
            figure={
                "kind": "bars",
                "x_from": "x_from",
                "x_to": "x_to",
                "y": "density",
                "x_title": self.bins.column.name,
            },
            about={"density": name_about(population=self.sampled)},
        )

    @property
    def _notes(self) -> tuple[Note, ...]:
        return (_ABOUT if self.sampled else ABOUT_DATA, _OUTSIDE)


def density_of(shares: NoisyShares, bins: ColumnBins) -> Estimate:
    """Shares of bins over the width of these."""

    def interval(confidence: float, cells: int) -> Bounds:
        lower, upper = shares.bounds(confidence, cells)
        return lower / bins.widths, upper / bins.widths

    return Estimate(shares.values / bins.widths, interval, "noisy share of a bin over its width")


def _build(frame: Frame, arguments: Arguments) -> HistogramOfColumn:
    column, sampled = arguments["column"], arguments["inference"] == "population"
    if sampled:
        require_one_row(frame, METHOD.name, ", or ask with inference => 'data'")
    rows = with_values(frame.relation, column.value)
    return HistogramOfColumn(rows, arguments["by"], choose_bins(column, arguments), sampled)


METHOD = Method(
    name="histogram",
    chapter="densities",
    summary="How many rows are in each bin of a column, and the density that this is.",
    parameters=(
        Parameter("column", "column", "the column of numbers", required=True),
        bins_parameter(20),
        BREAKS,
        INFERENCE,
        BY,
    ),
    build=_build,
    returns={
        "x_from": "where the bin starts; this value belongs to it",
        "x_to": "where the bin ends; of the last bin this value belongs to it",
        "count": "how many rows are in it",
        "density": "their share of all rows over the width of the bin",
    },
    example="SELECT * FROM histogram(people, column => age, bins => 12)",
    known_as={"R": "hist", "SAS": "PROC UNIVARIATE HISTOGRAM", "SciPy": "numpy.histogram"},
)
