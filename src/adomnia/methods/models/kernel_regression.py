"""Kernel regression: the mean of one column around each value of another.

How far the kernel reaches follows from the noisy sums that it will smooth, at no further price. Of each candidate, the
squared error over all rows but for a constant: sum n m**2 - 2 s m, of the smoothed means m at the bins' middles. Their
own rows and their own noise are in m too, so that the means follow them: what that makes the error look smaller, 2 K(0)
/ N times the variance of s - m n, is given back (Mallows 1973).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from adomnia.messages.texts import Note, NoteTemplate
from adomnia.methods.analysis import SingleRound, keys_of, with_values
from adomnia.methods.column_bins import ColumnBins, split_finely
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
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Floats, Measured, ResultTable, name_about
from adomnia.work import spend

_MOST_CELLS = 512
_PRODUCTS_OF_A_STEP = 100  # of cells with each other, for all bandwidths


_REACH = NoteTemplate(
    "kernel_reach",
    "The kernel reaches {bandwidth:.4g} to both sides of {column} ({chosen}): where the curve bends within that, the "
    "smoothed one is lower on peaks and higher in valleys, which no interval holds.",
)
LEAST = 0.75  # widths of a bin: so far a kernel reaches at least, and then every bin is by itself
_RATIO = 2**0.5
_SEEN = 2.5  # standard deviations of noise: with fewer rows around it a bin is not estimable
_CAUTION = 3.0  # times what is given back, where 2 is right in the mean: noise is not to be taken for a curve
_LEAST_SPREAD = 1e-4  # of a response of which nothing is seen to differ


@dataclass(frozen=True)
class KernelRegression(SingleRound):
    """The mean of a response around each point of a column.

    Method      noisy numbers of rows, sums and squares of the response in narrow cells of the column, smoothed after
                the noise: Nadaraya and Watson's estimator with the kernel of Epanechnikov. How far the kernel reaches
                is chosen from the same noisy sums, by Mallows' criterion with the noise in it.
    Guarantee   one measurement of sums that add up to one in every row, at the whole price.
    Bias        that of smoothing: peaks are lowered, and at the ends the curve is drawn inwards. Intervals are about
                the smoothed curve.
    Cite        Nadaraya 1964; Watson 1964; Mallows 1973 (the bandwidth); Fieller 1954 (the interval).
    """

    tag: ClassVar[str] = "KernelRegression"
    name: ClassVar[str] = "kernel_regression"
    relation: Relation
    by: tuple[Factor, ...]
    response: NumberColumn
    cells: ColumnBins
    points: tuple[Fraction, ...]
    bandwidth: Fraction | None
    population: bool

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((ask_means(self.relation, (*keys_of(*self.by), self.cells.key), self.response), Fraction(1)),)

    def tabulate(self, *measured: Measured) -> ResultTable:
        spend(len(self.cells) ** 2 // _PRODUCTS_OF_A_STEP)
        bins = BinnedMeans(self.response, measured[0], self.population)
        bandwidth = self._bandwidth(bins)
        points = np.array([float(each) for each in self.points])
        found = bins.smooth(weigh(points, self._middles, bandwidth))
        return ResultTable(
            labels={"x": tuple(points.tolist())},
            estimates={"mean": found.estimate()},
            notes=(
                describe_about(
                    "the smoothed curve: the mean of all rows within the bandwidth", population=self.population
                ),
                self._describe(bandwidth),
                *found.notes(self.cells.column.name),
            ),
            figure={"kind": "line", "x": "x", "y": "mean", "x_title": self.cells.column.name},
            about=name_about(population=self.population),
        )

    @cached_property
    def _middles(self) -> Floats:
        return np.asarray((np.array(self.cells.lower) + np.array(self.cells.upper)) / 2)

    def _bandwidth(self, bins: BinnedMeans) -> float:
        if self.bandwidth is not None:
            return float(self.bandwidth)
        return choose_bandwidth(bins, self._middles, float(self.cells.widths[0]))

    def _describe(self, bandwidth: float) -> Note:
        chosen = "as asked" if self.bandwidth is not None else "found from the noisy data"
        return _REACH(bandwidth=bandwidth, column=self.cells.column.name, chosen=chosen)


def _build(frame: Frame, arguments: Arguments) -> KernelRegression:
    response, column = check_columns(arguments)
    cells = split_finely(column, arguments["cells"])
    return KernelRegression(
        with_values(frame.relation, response.value, column.value),
        arguments["by"],
        response,
        cells,
        choose_points(cells, arguments["points"]),
        _check_bandwidth(arguments["bandwidth"], cells),
        is_about_population(frame, arguments, "kernel_regression"),
    )


def _check_bandwidth(bandwidth: Fraction | None, cells: ColumnBins) -> Fraction | None:
    if bandwidth is None:
        return None
    width = cells.edges[1] - cells.edges[0]
    if bandwidth < width:
        why = f"is below the width of a cell, {float(width):.4g}, in which rows are not told apart"
        raise BadArgument("bandwidth", why, "ask for a wider one, or for more cells")
    return bandwidth


METHOD = Method(
    name="kernel_regression",
    chapter="models",
    summary="The mean of one column around each value of another: a curve of any shape, with a band.",
    parameters=(
        RESPONSE,
        VALUE,
        Parameter("bandwidth", "number", "how far the kernel reaches, in units of x; otherwise it is found", lower=0),
        POINTS,
        Parameter(
            "cells",
            "integer",
            "how many cells of equal width x is divided into, which are smoothed",
            default=128,
            lower=2,
            upper=_MOST_CELLS,
        ),
        BY,
        INFERENCE,
    ),
    build=_build,
    returns={"x": "a value of the column x", "mean": "the mean of y around it"},
    example="SELECT * FROM kernel_regression(people, y => salary, x => age)",
    known_as={
        "R": "ksmooth, np::npreg",
        "SAS": "PROC LOESS",
        "statsmodels": "nonparametric.KernelReg",
    },
)


def weigh(points: Floats, middles: Floats, bandwidth: float) -> Floats:
    """The weights of bins at some points: the kernel of Epanechnikov, which ends at the bandwidth."""
    far = (points[:, None] - middles) / bandwidth
    return np.maximum(1 - far**2, 0.0)


def list_bandwidths(width: float, span: float) -> Iterator[float]:
    """Candidates from one bin to all of them."""
    bandwidth = LEAST * width
    while bandwidth < span:
        yield bandwidth
        bandwidth *= _RATIO
    yield bandwidth


def choose_bandwidth(bins: BinnedMeans, middles: Floats, width: float) -> float:
    """The candidate of the least estimated error; the widest where hardly any rows are seen."""
    candidates = list(list_bandwidths(width, width * len(middles)))
    if bins.counts.sum() <= _SEEN * bins.count_deviation * len(middles) ** 0.5:
        return candidates[-1]
    return min(candidates, key=lambda each: estimate_error(bins, weigh(middles, middles, each)))


def estimate_error(bins: BinnedMeans, weights: Floats) -> float:
    """The squared error of the means at all bins, without what is the same for all candidates.

    Where no rows are seen, nothing is estimable: an error as large as the spread of the response, of as many rows as
    may be there unseen.
    """
    rows, overall = weights @ bins.counts, bins.sums.sum() / max(bins.counts.sum(), 1.0)
    floor = np.maximum(_SEEN * bins.count_deviation * np.sqrt((weights**2).sum(axis=1)), 1.0)
    seen = rows > floor
    means = np.clip(np.where(seen, weights @ bins.sums / np.maximum(rows, floor), overall), 0.0, 1.0)
    own = np.where(seen, np.diagonal(weights) / np.maximum(rows, floor), 0.0)
    followed = np.maximum(bins.spread_at(means), 0.0) + bins.noise_at(means)
    spread = np.clip(bins.spread_at(overall).sum() / max(bins.counts.sum(), 1.0), _LEAST_SPREAD, 0.25)
    silent = np.where(seen, 0.0, np.maximum(bins.counts, bins.count_deviation) * spread)
    return float((bins.counts * means**2 - 2 * bins.sums * means + _CAUTION * own * followed + silent).sum())
