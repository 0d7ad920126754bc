"""The distribution function of a column, with a band that holds all of it at once."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from adomnia.messages.texts import define_note
from adomnia.methods.analysis import SingleRound, keys_of, with_values
from adomnia.methods.contract import BY, INFERENCE, Arguments, Factor, Frame, Method, NumberColumn, Parameter
from adomnia.methods.parts.describe.cuts import EqualBins
from adomnia.methods.parts.describe.noisy_ratios import describe_inference, read_inference
from adomnia.methods.simulation import count_simulations
from adomnia.noise.afterwards import follow
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Rows
from adomnia.statistics.brackets import isotonic
from adomnia.statistics.contract import Bounds, Estimate, Floats, Measured, ResultTable, name_about

_BAND = define_note(
    "curve_in_band",
    "All intervals of a curve hold at once, however many there are: they are its band, which is simulated.",
)
_DRAWS = 1000
_MOST_ROWS = 2**40  # that are drawn again


@dataclass(frozen=True)
class Ecdf(SingleRound):
    """The share of rows that hold a value up to each end of a bin, in every group.

    Method      noisy counts of bins, added up from the left, over their sum. The band is as wide as the farthest
                distance between the curve and curves drawn again from it, with sampling and noise.
    Guarantee   one measurement at the whole price: a row is in one bin.
    Bias        none at the ends of bins; values in between are not told apart.
    Cite        Kolmogorov 1933; Massart 1990 (the band without noise).
    """

    tag: ClassVar[str] = "Ecdf"
    name: ClassVar[str] = "ecdf"
    error_columns: ClassVar[tuple[str, ...]] = ("estimate",)
    relation: Relation
    by: tuple[Factor, ...]
    column: NumberColumn
    bins: int
    population: bool

    @property
    def _bins(self) -> EqualBins:
        return EqualBins(self.column, self.bins)

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((Query(self.relation, (*keys_of(*self.by), self._bins.key), Rows()), Fraction(1)),)

    def tabulate(self, *measured: Measured) -> ResultTable:
        curve = Curve(measured[0], self.population)
        return ResultTable(
            {"x": tuple(float(edge) for edge in self._bins.edges[1:])},
            {"estimate": curve.estimate()},
            (
                describe_inference(population=self.population),
                _BAND,
            ),
            {"kind": "steps", "x": "x", "y": "estimate"},
            about=name_about(population=self.population),
        )


@dataclass(frozen=True)
class Curve:
    """A distribution function from noisy counts of bins."""

    measured: Measured
    population: bool

    @property
    def _counts(self) -> Floats:
        return np.asarray(self.measured.values, dtype=np.float64)

    def _raw(self, counts: Floats) -> Floats:
        """Counts added up over their sum; it rises only up to noise."""
        return np.asarray(np.cumsum(counts, axis=-1) / np.maximum(counts.sum(axis=-1, keepdims=True), 1.0))

    def estimate(self) -> Estimate:
        """The curve, which rises from 0 to 1, with its band."""
        raw = self._raw(self._counts)
        values = np.clip(isotonic(raw), 0.0, 1.0)
        farthest = lru_cache(maxsize=1)(self._farthest)

        def interval(confidence: float, _cells: int) -> Bounds:
            half = float(np.quantile(farthest(), confidence))
            # A rising curve within the band is within these ends, too.
            lower = np.maximum.accumulate(np.clip(raw - half, 0.0, 1.0))
            upper = np.minimum.accumulate(np.clip(raw + half, 0.0, 1.0)[::-1])[::-1]
            return np.minimum(lower, values), np.maximum(upper, values)

        return Estimate(values, interval, "noisy counts added up")

    def _farthest(self) -> Floats:
        """How far curves that are drawn again lie from the one that they are drawn from."""
        variance, fourth = self.measured.noise.continuous.cumulants
        counts, random = self._counts, follow([self.measured.values], "ecdf")
        rows = int(np.clip(counts.sum(), 1, _MOST_ROWS))
        rises = np.diff(np.clip(isotonic(self._raw(counts)), 0.0, 1.0), prepend=0.0)
        shares = np.maximum(rises, 1e-12) / np.maximum(rises, 1e-12).sum()
        size = (count_simulations(_DRAWS), len(counts))
        drawn = random.multinomial(rows, shares, size[0]) if self.population else np.broadcast_to(rows * shares, size)
        scale = np.sqrt(variance)
        noise = random.laplace(0.0, scale / np.sqrt(2), size) if fourth else random.normal(0.0, scale, size)
        return np.asarray(np.max(np.abs(self._raw(drawn + noise) - np.cumsum(shares)), axis=1))


def _build(frame: Frame, arguments: Arguments) -> Ecdf:
    column = arguments["column"]
    population = read_inference(frame, arguments, "ecdf")
    relation = with_values(frame.relation, column.value)
    return Ecdf(relation, arguments["by"], column, arguments["bins"], population)


METHOD = Method(
    "ecdf",
    "describe",
    "The distribution function of a column, with a band that holds all of it at once.",
    (
        Parameter("column", "column", "the numbers", required=True),
        Parameter("bins", "integer", "into how many parts the range is divided", default=50, lower=2, upper=1000),
        BY,
        INFERENCE,
    ),
    _build,
    {"x": "a value", "estimate": "the share of rows that hold it or less"},
    "SELECT * FROM ecdf(people, column => age, bins => 24)",
    {"R": "ecdf", "SAS": "PROC UNIVARIATE CDFPLOT", "SciPy": "stats.ecdf"},
)
