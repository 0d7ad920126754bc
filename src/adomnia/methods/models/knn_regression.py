"""Nearest-neighbour regression: the mean of one column over about k people who are near in another."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import ClassVar

import numpy as np

from adomnia.messages.texts import Note, NoteTemplate
from adomnia.methods.analysis import with_values
from adomnia.methods.column_bins import ColumnBins, split_finely
from adomnia.methods.contract import INFERENCE, Arguments, Frame, Method, NumberColumn, Parameter
from adomnia.methods.parts.describe.rounds import SeveralRounds
from adomnia.methods.parts.models.binned_means import (
    POINTS,
    RESPONSE,
    VALUE,
    BinnedMeans,
    ask_means,
    check_columns,
    choose_points,
    describe_about,
)
from adomnia.methods.parts.models.regression import is_about_population
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Price
from adomnia.privacy.expressions import call, number
from adomnia.privacy.keys import Bucket
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.brackets import isotonic
from adomnia.statistics.contract import Floats, Measure, Measured, ResultTable, Steps, name_about

MOST_CELLS = 40  # that means are taken of
_FINE_CELLS = 128  # that people are counted in before
_COUNT = Fraction(1, 5)  # of the price, for these counts
_CLEAR = 12.0  # standard deviations of noise that are the fewest neighbours, where nobody says how many
_FULL = 0.5  # of the rows that a cell is to hold: the fewest
_MOST_NEIGHBOURS = 10**9


_CELLS = NoteTemplate(
    "cells_by_data",
    "The noisy data made {cells} cell{cells:s} of about {rows:,} rows each; how much the curve changes within a cell "
    "is in no interval.",
)


@dataclass(frozen=True)
class KnnRegression(SeveralRounds):
    """The mean of a response over cells of a column that hold about as many people each.

    Method      people are counted in narrow cells; from these noisy counts the range is divided where about k people
                are between two edges. Then the sums of the response between the released edges are measured.
    Guarantee   both rounds composed: the second depends on the first through what was released.
    Bias        within a cell the curve is its average. Intervals are about these averages.
    Cite        Gordon & Olshen 1978 (partitions); Lei 2011 (private regression by cells); Fieller 1954 (the interval).
    """

    tag: ClassVar[str] = "KnnRegression"
    name: ClassVar[str] = "knn_regression"
    relation: Relation
    response: NumberColumn
    cells: ColumnBins
    points: tuple[Fraction, ...]
    neighbours: int | None
    population: bool

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self.cells.query(self.relation, ()), Fraction(1)),)

    def steps(self, price: Price) -> Steps:
        ((query, _),) = self.shares
        (counted,) = yield (Measure(query, price * _COUNT),)
        later = price * (1 - _COUNT)
        places = self._divide(counted, Measure(query, later).noise.cumulants.variance)
        edges = [self.cells.edges[place] for place in places]
        (sums,) = yield (Measure(ask_means(self.relation, (self._between(edges),), self.response), later),)
        return self._tabulate(BinnedMeans(self.response, sums, self.population), edges)

    def _divide(self, counted: Measured, later: float) -> list[int]:
        """Which fine cells start a cell: where the rows so far are so many parts of all."""
        counts = np.asarray(counted.values, dtype=np.float64)
        rows = float(counts.sum())
        many = int(np.clip(rows / max(self._choose_neighbours(rows, later), 1.0), 1, min(MOST_CELLS, len(counts))))
        before = isotonic(np.concatenate([[0.0], np.cumsum(counts)]))
        apart = (before[-1] - before[0]) / many
        wanted = before[0] + apart * np.arange(1, many)
        return _keep_full(np.searchsorted((before[1:] + before[:-1]) / 2, wanted).tolist(), before, apart)

    def _choose_neighbours(self, rows: float, variance: float) -> float:
        """How many people a cell holds: so many that noise, sampling and bias fall together as people are more."""
        if self.neighbours is not None:
            return float(self.neighbours)
        return float(max(max(rows, 1.0) ** (2 / 3), _CLEAR * sqrt(variance)))

    def _between(self, edges: list[Fraction]) -> Bucket:
        """Which of the cells a row is in. There are always as many conditions: those beyond the last are never met."""
        padded = edges + [self.cells.edges[-1] + 1] * (MOST_CELLS - 1 - len(edges))
        value = self.cells.column.value
        pairs = ((call(">=", value, number(edge)), number(place)) for place, edge in enumerate(padded, 1))
        cases = [part for pair in reversed(list(pairs)) for part in pair]
        place = call("case", *cases, number(0))
        return Bucket(place, Numbers.integers(0, MOST_CELLS - 1), place)

    def _tabulate(self, bins: BinnedMeans, edges: list[Fraction]) -> ResultTable:
        inner = np.array([float(edge) for edge in edges])
        ends = np.array([float(self.cells.edges[0]), *inner, float(self.cells.edges[-1])])
        points = np.array([float(each) for each in self.points])
        place = np.searchsorted(inner, points, side="right")
        found = bins.smooth(np.eye(MOST_CELLS)[place])
        return ResultTable(
            labels={"x": tuple(points.tolist())},
            estimates={"mean": found.estimate()},
            notes=(
                describe_about("the mean of all rows between x_from and x_to", population=self.population),
                self._describe(bins, len(edges) + 1),
                *found.notes(self.cells.column.name),
            ),
            figure={"kind": "line", "x": "x", "y": "mean", "x_title": self.cells.column.name},
            about=name_about(population=self.population),
            facts={"x_from": ends[place].tolist, "x_to": ends[place + 1].tolist},
        )

    def _describe(self, bins: BinnedMeans, many: int) -> Note:
        rows = max(0, round(float(bins.counts[:many].sum())))
        return _CELLS(cells=many, rows=round(rows / many))


def _keep_full(places: Sequence[int], before: Floats, apart: float) -> list[int]:
    """The places that leave enough rows on both sides: many rows at one value would leave empty cells beside it."""
    kept = [0]
    for place in places:
        if before[place] - before[kept[-1]] >= apart * _FULL and before[-1] - before[place] >= apart * _FULL:
            kept.append(place)
    return kept[1:]


def _build(frame: Frame, arguments: Arguments) -> KnnRegression:
    response, column = check_columns(arguments)
    cells = split_finely(column, _FINE_CELLS)
    return KnnRegression(
        with_values(frame.relation, response.value, column.value),
        response,
        cells,
        choose_points(cells, arguments["points"]),
        arguments["k"],
        is_about_population(frame, arguments, "knn_regression"),
    )


METHOD = Method(
    name="knn_regression",
    chapter="models",
    summary="The mean of one column over the people who are nearest in another: a curve of steps, with a band.",
    parameters=(
        RESPONSE,
        VALUE,
        Parameter(
            "k",
            "integer",
            "about how many people a mean is taken of; otherwise as many as suit the noisy number of rows",
            lower=1,
            upper=_MOST_NEIGHBOURS,
        ),
        POINTS,
        INFERENCE,
    ),
    build=_build,
    returns={
        "x": "a value of the column x",
        "mean": "the mean of y over the cell that it is in",
        "x_from": "where the cell starts, which was released too",
        "x_to": "where the cell ends",
    },
    example="SELECT * FROM knn_regression(people, y => salary, x => age)",
    known_as={"R": "FNN::knn.reg, caret::knnreg", "scikit-learn": "KNeighborsRegressor"},
)
