"""Numbers of rows, mean, spread, extremes and quartiles of columns, as R's summary shows them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from adomnia.messages.texts import Note, NoteTemplate, define_note
from adomnia.methods.analysis import keys_of, stack_estimates, with_values
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
from adomnia.methods.parts.describe.column_sums import SPREAD, ColumnSums, column_vector
from adomnia.methods.parts.describe.cut_quantiles import CutQuantile, Flow, estimate_quantiles, find_cuts
from adomnia.methods.parts.describe.cuts import Cutting, check_cells
from adomnia.methods.parts.describe.noisy_ratios import BEYOND_BOUNDS, describe_inference, read_inference
from adomnia.methods.parts.describe.rounds import SeveralRounds, split_cells, table_of, together
from adomnia.methods.parts.describe.weighted_summary import WeightedSummary
from adomnia.methods.sampling_weights import WEIGHT, read_weights
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Price
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Histogram
from adomnia.statistics.contract import Estimate, Measure, Measured, ResultTable, Steps, name_about
from adomnia.statistics.extreme import Extreme

_QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
# Of the price of a column. A quartile's error in standard deviations is about 1.6 times that of a mean for the same
# part of a price, so counting gets more than the sums; the choice before it only has to find the neighbourhood.
_SUMS = Fraction(28, 100)
_EXTREME = Fraction(11, 100)
_CHOOSE = Fraction(17, 100)
_COUNT = Fraction(33, 100)
_COARSE = 2**10  # values of the grid of extremes: the fewer there are, the nearer to the end one can be told
_MOST_COLUMNS = 50


@dataclass(frozen=True)
class Summary(SeveralRounds):
    """What R's summary() says of each column, in every group.

    Method      noisy Bernstein sums of degree four (numbers of rows, mean, standard deviation); extremes chosen some
                rows from the ends; quartiles chosen by rank, and rows counted between cuts around them.
    Guarantee   equal parts of the price for each column, composed.
    Bias        clamping; extremes lie inward by the rows that the note names.
    Cite        Awan & Slavkovic 2021 (the norm); Fieller 1954 (quotients); Kaplan, Schnapp & Stemmer 2022 (quartiles).
    """

    tag: ClassVar[str] = "Summary"
    name: ClassVar[str] = "summary"
    relation: Relation
    by: tuple[Factor, ...]
    columns: tuple[NumberColumn, ...]
    population: bool
    confidence: Fraction

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        many = len(self.columns)
        parts = ((_SUMS + _CHOOSE + _COUNT) / many, _EXTREME / many, _EXTREME / many)
        return tuple(pair for column in self.columns for pair in zip(self._queries(column), parts, strict=True))

    def _queries(self, column: NumberColumn) -> tuple[Query, Query, Query]:
        keys, coarse = keys_of(*self.by), _coarsen(column.domain)
        sums = Query(self.relation, keys, column_vector(column.value, column.domain, SPREAD, absent=True))
        ends = (Histogram(column.value, coarse, (Fraction(end),), self.confidence) for end in (0, 1))
        least, greatest = (Query(with_values(self.relation, column.value), keys, end) for end in ends)
        return sums, least, greatest

    def steps(self, price: Price) -> Steps:
        part = price / len(self.columns)
        described = yield from together([self._describe(column, part) for column in self.columns])
        counted = np.array([cell["n"].values for column in described for cell in column])
        extremes = _say_extremes(part, [self._queries(column)[1] for column in self.columns], float(counted.min()))
        notes = (describe_inference(population=self.population), extremes, _NUMBERS, BEYOND_BOUNDS)
        tables = [self._tabulate([column[place] for column in described], notes) for place in range(len(described[0]))]
        return table_of(self.by, tables)

    def _describe(self, column: NumberColumn, price: Price) -> "Flow[list[dict[str, Estimate]]]":
        """All that is said of one column, in every group."""
        sums, least, greatest = self._queries(column)
        measured, *ends = yield (
            Measure(sums, price * _SUMS),
            Measure(least, price * _EXTREME, "quantiles"),
            Measure(greatest, price * _EXTREME, "quantiles"),
        )
        cells = [
            ColumnSums(column.value, column.domain, SPREAD, each, self.population)
            for each in split_cells(self.by, measured)
        ]
        rows = np.array([each.rows for each in cells]).reshape(sums.shape)
        cutting = Cutting(
            least.relation,
            keys_of(*self.by),
            column.value,
            column.domain,
            _QUARTILES,
            self.population,
            self.confidence,
            price * _CHOOSE,
            price * _COUNT,
        )
        quartiles = yield from find_cuts(cutting, rows)
        extremes = zip(*(split_cells(self.by, end) for end in ends), strict=True)
        return [
            _say(each, found, (Extreme(least, greatest=False), low), (Extreme(greatest, greatest=True), high))
            for each, found, (low, high) in zip(cells, quartiles, extremes, strict=True)
        ]

    def _tabulate(self, columns: Sequence[dict[str, Estimate]], notes: tuple[Note, ...]) -> ResultTable:
        """One row a column."""
        names = tuple(column.name for column in self.columns)
        estimates = {name: stack_estimates([each[name] for each in columns]) for name in columns[0]}
        figure = {"kind": "points", "x": "column", "y": "mean", "title": "Means"}
        about = dict.fromkeys(("mean", "sd", "q1", "median", "q3"), name_about(population=self.population))
        return ResultTable({"column": names}, estimates, notes, figure, about=about)


def _say(
    sums: ColumnSums,
    quartiles: Sequence[CutQuantile],
    least: tuple[Extreme, Measured],
    greatest: tuple[Extreme, Measured],
) -> dict[str, Estimate]:
    q1, median, q3 = (estimate_quantiles([each]) for each in quartiles)
    low, high = (statistic.estimate(measured) for statistic, measured in (least, greatest))
    low = replace(low, values=np.minimum(low.values, q1.values))
    high = replace(high, values=np.maximum(high.values, q3.values))
    return {
        "n": sums.count(),
        "missing": sums.missing(),
        "mean": sums.mean(),
        "sd": sums.deviation(),
        "min": low,
        "q1": q1,
        "median": median,
        "q3": q3,
        "max": high,
    }


def _coarsen(domain: Numbers) -> Numbers:
    while domain.width >= _COARSE:
        domain = Numbers(domain.lower, domain.upper, 2 * domain.step)
    return domain


_NUMBERS = define_note(
    "numbers_about_data", "n and missing are noisy numbers of rows, and their intervals are about the data."
)
_BEYOND = "min and max are about the data, and not its extremes: about {beyond:,} rows of a group lie beyond each"
_ALL_BEYOND = NoteTemplate(
    "extremes_say_nothing",
    f"{_BEYOND}, or all that there are: they say nothing here. A higher price, or fewer columns, moves them out.",
)
_SOME_BEYOND = NoteTemplate(
    "rows_beyond_extremes", f"{_BEYOND}, which is {{percent:.2g}}% where rows are fewest (n = {{rows:,.0f}})."
)


def _say_extremes(price: Price, queries: Sequence[Query], rows: float) -> Note:
    """How many rows lie beyond the extremes, and which part that is of the fewest rows of a group and column."""
    targets = (Measure(query, price * _EXTREME, "quantiles").mechanism.targets[0] for query in queries)  # type: ignore[attr-defined]  # as asked
    beyond = max(int(abs(target.offset)) for target in targets)
    if beyond >= rows / 2:
        return _ALL_BEYOND(beyond=beyond)
    return _SOME_BEYOND(beyond=beyond, percent=100 * beyond / rows, rows=rows)


def _build(frame: Frame, arguments: Arguments) -> Summary | WeightedSummary:
    weights = read_weights(arguments)
    columns = arguments["columns"] or tuple(each for each in frame.numbers.values() if each != weights)
    if not columns:
        raise BadArgument("columns", "is empty, and no column of the rows is a number with bounds", "name some")
    if len(columns) > _MOST_COLUMNS:
        why = f"are {len(columns)}, which leaves next to nothing of the price for each"
        raise BadArgument("columns", why, f"name at most {_MOST_COLUMNS}")
    check_cells(arguments["by"], len(_QUARTILES))
    population = read_inference(frame, arguments, "summary")
    if weights is not None:
        return WeightedSummary(frame.relation, arguments["by"], columns, weights, population)
    return Summary(frame.relation, arguments["by"], columns, population, frame.confidence)


METHOD = Method(
    "summary",
    "describe",
    "Numbers of rows, mean, standard deviation, extremes and quartiles of columns.",
    (
        Parameter(
            "columns",
            "columns",
            "the numbers to describe; all that the rows have, unless some are named",
            all_columns=True,
        ),
        WEIGHT,
        BY,
        INFERENCE,
    ),
    _build,
    {
        "column": "which column",
        "n": "rows that have a value; with a weight, the sum of their weights",
        "missing": "rows that have none; with a weight, the sum of their weights",
        "mean": "arithmetic mean",
        "sd": "standard deviation",
        "min": "a value near the least one: a note says how many rows lie below it",
        "q1": "first quartile",
        "median": "median",
        "q3": "third quartile",
        "max": "a value near the greatest one: a note says how many rows lie above it",
    },
    "SELECT * FROM summary((SELECT age, salary FROM people))",
    {"R": "summary, fivenum", "SAS": "PROC MEANS", "pandas": "DataFrame.describe"},
    (
        "The price is divided evenly among the columns.",
        "With a weight, extremes and quartiles are not told. Intervals of mean and sd are those of sampling weights.",
    ),
)
