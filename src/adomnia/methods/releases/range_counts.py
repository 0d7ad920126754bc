"""Counts of a column of numbers in bins, measured so that every range of them follows with little noise.

What is private about it, and what follows: docs/proofs/range_counts.md.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from adomnia.distributions.projections import fit_whole
from adomnia.messages.texts import Note, NoteTemplate, define_note
from adomnia.methods.analysis import Analysis
from adomnia.methods.contract import Arguments, BadArgument, Frame, Method, NumberColumn, Parameter
from adomnia.methods.synthesis.agreeing import COUNTS, estimate_counts
from adomnia.methods.synthesis.attributes import MISSING, MISSING_VALUES, ReleaseColumn, read_columns
from adomnia.methods.synthesis.p_identity import IN_WORDS, WORKLOADS, LineWorkload, WorkloadName
from adomnia.methods.synthesis.strategies import (
    MOST_FITTED,
    STRATEGIES,
    GramRelease,
    SparseMatrix,
    Strategy,
    StrategyName,
    build_strategy,
    choose_strategy,
    list_strategies,
    norm_of,
)
from adomnia.privacy.events import Price
from adomnia.privacy.expressions import call
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation, Where
from adomnia.privacy.transforms.matrices import Combination
from adomnia.statistics.contract import Measure, Measured, ResultTable, Round, Steps
from adomnia.statistics.products import Product

MOST_BINS = 1_024
_CHOSE = NoteTemplate(
    "strategy_chosen",
    "The strategy {strategy} was chosen for {workload}. Sums of squared errors, its own being 1: {errors}.",
)
_WHOLE = define_note(
    "whole_counts_near",
    "whole_count is not negative, adds up and is near to count. It is too high on average where there are few rows.",
)


@dataclass(frozen=True)
class RangeCounts(Analysis):
    """How many rows are in each bin of a column, and in every range of bins.

    Method      noisy integer combinations of the counts of bins: single bins, runs of a tree whose levels are weighted,
                or bins and a few sums of them that are fitted to the wanted counts; then least squares.
    Guarantee   one measurement at the whole price: a row is in one bin, and moves the combinations by one column.
    Bias        none of counts and their sums; whole counts are pushed up where there are few rows.
    Cite        Li et al. 2010 (the matrix mechanism); Hay et al. 2010 (trees); McKenna et al. 2018 (fitted sums).
    """

    tag: ClassVar[str] = "RangeCounts"
    name: ClassVar[str] = "range_counts"
    relation: Relation
    number: NumberColumn
    bins: int
    missing: Literal["kept", "left_out"]
    workload: WorkloadName
    strategy: StrategyName | Literal["auto"]
    norm: Literal[0, 1, 2] = 0  # that of the noise which a price buys; 0 before there is one
    compared: bool = False  # whether the strategy was chosen here

    def specialize_for(self, price: Price) -> Self:
        norm, chosen = norm_of(price), self.strategy
        if chosen == "auto":
            return replace(self, strategy=choose_strategy(self.workload_of_bins, norm), norm=norm, compared=True)
        return replace(self, norm=norm)

    @cached_property
    def column(self) -> ReleaseColumn:
        """The numbers in bins, whatever else they could be counted by."""
        name = self.number.name.lower()
        alone = Frame(self.relation, {name: self.number}, {}, order=(name,))
        arguments = {"columns": (name,), "bins": self.bins, "missing": self.missing}
        return read_columns(alone, arguments)[1][0]

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((Query(self.relation, (self.column.key,), self._combination), Fraction(1)),)

    def planned_measures(self, price: Price) -> Round:
        return (Measure(self.specialize_for(price).query, price),)

    def steps(self, price: Price) -> Steps:
        suited = self.specialize_for(price)
        (measured,) = yield suited.planned_measures(price)
        return suited.tabulate(measured)

    def expected_result(self, price: Price, rows: int) -> ResultTable:
        """The same errors without the search for whole counts."""
        suited = self.specialize_for(price)
        mechanism = Measure(suited.query, price).mechanism
        supposed = np.array(suited._combination.simulate(rows // len(self.column)))
        return suited._table(Measured(supposed, mechanism), whole=False)

    def tabulate(self, measured: Measured) -> ResultTable:
        """Counts and their sums, from what was measured."""
        return self._table(measured, whole=True)

    @property
    def comparison(self) -> Note | None:
        """Which strategies were compared, and their errors."""
        if not self.compared or self.norm == 0:
            return None
        workload, norm = self.workload_of_bins, self.norm
        errors = {name: build_strategy(name, workload, norm).error for name in list_strategies(workload)}
        told = [f"{name} {error / errors[self._chosen.name]:.2f}" for name, error in errors.items()]
        return _CHOSE(strategy=self.strategy, workload=IN_WORDS[self.workload], errors=told)

    @property
    def workload_of_bins(self) -> LineWorkload:
        """The counts that are wanted of as many bins as there are."""
        return LineWorkload(self.workload, self._bins)

    @property
    def _bins(self) -> int:
        return len(self.column.attribute.edges) - 1

    @property
    def _chosen(self) -> Strategy:
        """What is measured; of no kind of price single bins, which are the same for all."""
        name = "identity" if self.norm == 0 or self.strategy == "auto" else self.strategy
        return build_strategy(name, self.workload_of_bins, self.norm or 1)

    @cached_property
    def _combination(self) -> Combination:
        if len(self.column) > self._bins:
            return self._chosen.with_missing(self.norm or 1)
        return self._chosen.without_missing()

    def _table(self, measured: Measured, *, whole: bool) -> ResultTable:
        matrix, attribute, tails = (
            self._combination.blocks[0][0],
            self.column.attribute,
            measured.noise.continuous.tails,
        )
        release = GramRelease.solve(matrix, measured.values, measured.noise.continuous.cumulants.variance)
        counts = fit_whole(release.values, SparseMatrix(matrix).gram) if whole else np.zeros(len(attribute), np.int64)
        about = {"method": self.name, "strategy": self._chosen.name, "workload": self.workload}
        return ResultTable(
            {"bin": tuple(MISSING if level is None else level for level in attribute.levels)},
            {
                "count": estimate_counts(release.values, release.variances, tails, "least squares"),
                "cumulative": estimate_counts(*release.add_up(), tails, "least squares, added up"),
            },
            (COUNTS, _WHOLE),
            {"kind": "bars", "x": "bin", "y": "count"},
            self._facts(counts),
            product=Product((attribute,), release, tails, tables={(0,): counts}, about=about) if whole else None,
        )

    def _facts(self, counts: NDArray[np.int64]) -> dict[str, Any]:
        edges, missing = self.column.attribute.edges, [None] * (len(self.column) - self._bins)
        facts: dict[str, list[Any]] = {
            "x_from": [*edges[:-1], *missing],
            "x_to": [*edges[1:], *missing],
            "whole_count": counts.tolist(),
        }
        return {name: lambda values=values: values for name, values in facts.items()}


def _build(frame: Frame, arguments: Arguments) -> RangeCounts:
    number, missing = arguments["column"], arguments["missing"]
    left_out = Where(frame.relation, call("not", call("is null", number.value)))
    relation = frame.relation if missing == "kept" else left_out
    found = RangeCounts(relation, number, arguments["bins"], missing, arguments["workload"], arguments["strategy"])
    if found.strategy == "p_identity" and found.workload_of_bins.bins > MOST_FITTED:
        raise BadArgument("strategy", f"is fitted to at most {MOST_FITTED} bins", "take the tree, or fewer bins =>")
    return found


METHOD = Method(
    "range_counts",
    "releases",
    "Counts of a column of numbers in bins, measured so that every range of them follows with little noise.",
    (
        Parameter("column", "column", "the numbers", required=True),
        Parameter(
            "bins",
            "integer",
            "into how many bins of equal width the range is divided; whole numbers of a smaller range have one each",
            default=256,
            lower=2,
            upper=MOST_BINS,
        ),
        Parameter(
            "workload",
            "choice",
            "which counts are to have little noise: of all ranges, of those from the lower bound on, or ranks",
            default="ranges",
            choices=WORKLOADS,
        ),
        Parameter(
            "strategy",
            "choice",
            "what is measured: single bins, the runs of a tree, or bins with fitted sums; auto has the least error",
            default="auto",
            choices=("auto", *STRATEGIES),
        ),
        MISSING_VALUES,
    ),
    _build,
    {
        "bin": "the numbers in it",
        "count": "rows in the bin",
        "cumulative": "rows in it and in all bins before it",
        "x_from": "where the bin starts",
        "x_to": "where it ends",
        "whole_count": "rows in the bin as a whole number that is not negative",
    },
    "SELECT * FROM range_counts(people, column => age, bins => 24)",
    {"R": "cut, table", "Python": "numpy.histogram"},
)
