"""Winsorised means."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from adomnia.methods.contract import INFERENCE, Arguments, Frame, Method, Parameter
from adomnia.methods.describe.clamped_means import TRIM, measure_clamped, read_clamped, released_domain
from adomnia.methods.describe.column_sums import ColumnSums
from adomnia.methods.describe.cuts import CutQuantile, Cutting
from adomnia.methods.describe.robust import Robust, read_robust
from adomnia.methods.describe.trimmed_mean import note_bounds, read_trim
from adomnia.privacy.events import Price
from adomnia.statistics.contract import Bounds, Estimate, Floats, Measure, Steps

# Of the price: the number of rows, values chosen by rank, counts between cuts, sums of the clamped values.
_ROWS, _CHOOSE, _COUNT, _SUMS = (Fraction(part, 100) for part in (4, 26, 30, 40))


@dataclass(frozen=True)
class WinsorizedMean(Robust):
    """The mean where values beyond two quantiles count as these.

    Method      both quantiles as `quantiles` finds them; the mean of the values clamped between the chosen ones, whose
                sensitivity is that of the released bounds; by how much these miss the quantiles is put right.
    Guarantee   three rounds composed.
    Bias        of second order in the ranks that the choice misses by; clamping to the declared bounds.
    Cite        Tukey & McLaughlin 1963; Dwork & Lei 2009; Kaplan, Schnapp & Stemmer 2022 (the choice).
    """

    tag: ClassVar[str] = "WinsorizedMean"
    name: ClassVar[str] = "winsorized_mean"
    trim: Fraction

    def steps(self, price: Price) -> Steps:
        ((query, _),) = self.shares
        (rows,) = yield (Measure(query, price * _ROWS),)
        many = np.asarray(rows.values, dtype=np.float64)
        cutting = Cutting(
            self.present,
            (),
            self.column.value,
            self.column.domain,
            (self.trim, 1 - self.trim),
            self.population,
            self.confidence,
            price * _CHOOSE,
            price * _COUNT,
        )
        (chosen,) = yield (cutting.choose(many),)
        edges, domain = (
            cutting.lay(chosen, many),
            released_domain(self.column, int(chosen.values[1]), int(chosen.values[4])),
        )
        counts, sums = yield (cutting.count(edges), measure_clamped(self, domain, price * _SUMS))
        ((low, high),) = cutting.read(chosen, edges, counts)
        return self.tabulate(self._estimate(read_clamped(self, domain, sums), low, high), note_bounds(domain))

    def _estimate(self, sums: ColumnSums, low: CutQuantile, high: CutQuantile) -> Estimate:
        """W - t (a + b), and t times both quantiles, whose errors belong together."""
        mean, trim = sums.mean(), float(self.trim)
        centre, limits = float(mean.values[0]), (float(self.column.domain.lower), float(self.column.domain.upper))
        ends = trim * float(sums.domain.lower + sums.domain.upper)
        value = np.clip(centre - ends + trim * (low.value + high.value), *limits)
        together = _correlations(sums, centre, trim) if self.population else np.eye(3)

        def interval(confidence: float, cells: int) -> Bounds:
            (below, above), (left, right), (under, over) = (
                mean.interval(confidence, cells),
                low.bounds(confidence, cells),
                high.bounds(confidence, cells),
            )
            less = np.array([centre - float(below[0]), trim * (low.value - left), trim * (high.value - under)])
            more = np.array([float(above[0]) - centre, trim * (right - low.value), trim * (over - high.value)])
            lower, upper = (np.sqrt(max(side @ together @ side, 0.0)) for side in (less, more))
            return np.clip([value - lower], *limits), np.clip([value + upper], *limits)

        return Estimate(np.array([value]), interval, "noisy mean between noisy quantiles")


def _correlations(sums: ColumnSums, mean: float, trim: float) -> Floats:
    """Of the clamped mean and both quantiles of a sample."""
    spread = sums.scale * np.sqrt(sums.central(2)) * np.sqrt(trim * (1 - trim))
    low, high = float(sums.domain.lower), float(sums.domain.upper)
    first, second = (np.clip(trim * side / max(spread, 1e-300), 0.0, 1.0) for side in (mean - low, high - mean))
    both = trim / (1 - trim)
    return np.array([[1, first, second], [first, 1, both], [second, both, 1]], dtype=np.float64)


def _build(frame: Frame, arguments: Arguments) -> WinsorizedMean:
    return WinsorizedMean(*read_robust(frame, arguments, "winsorized_mean"), read_trim(arguments))


METHOD = Method(
    "winsorized_mean",
    "describe",
    "The mean of a column where the smallest and the greatest values count as the quantiles next to them.",
    (Parameter("column", "column", "the numbers", required=True), TRIM, INFERENCE),
    _build,
    {"column": "which column", "estimate": "the winsorised mean"},
    "SELECT * FROM winsorized_mean(people, column => salary, trim => 0.1)",
    {"R": "DescTools::Winsorize", "SAS": "PROC UNIVARIATE WINSORIZED=", "SciPy": "stats.mstats.winsorize"},
)
