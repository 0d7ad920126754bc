"""Winsorised means."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np

from adomnia.methods.contract import INFERENCE, Arguments, Frame, Method, Parameter
from adomnia.methods.parts.describe.clamped_means import TRIM, ClampedMean, find_clamped, has_few_steps, read_trim
from adomnia.methods.parts.describe.column_sums import ColumnSums
from adomnia.methods.parts.describe.cut_quantiles import Robust, read_robust
from adomnia.privacy.events import Price
from adomnia.privacy.kinds import LATER
from adomnia.statistics.contract import Bounds, Estimate, Floats, Steps


@dataclass(frozen=True)
class WinsorizedMean(Robust):
    """The mean where values beyond two quantiles count as these.

    Method      both quantiles as `quantiles` finds them; then the mean of the values clamped between them, whose
                sensitivity is that of the released bounds.
    Guarantee   four rounds composed.
    Bias        clamping to the declared bounds.
    Cite        Tukey & McLaughlin 1963; Dwork & Lei 2009; Kaplan, Schnapp & Stemmer 2022 (the choice).
    """

    tag: ClassVar[str] = "WinsorizedMean"
    name: ClassVar[str] = "winsorized_mean"
    trim: Fraction
    by_steps: bool = field(default=False, metadata={LATER: True})  # answers from before it were a step off

    def steps(self, price: Price) -> Steps:
        clamped = yield from find_clamped(self, self.trim, price, by_steps=self.by_steps)
        return self.tabulate(self._estimate(clamped), clamped.note)

    def _estimate(self, clamped: ClampedMean) -> Estimate:
        """W, whose error has parts that belong together: its own, and t times that of each quantile."""
        mean, trim = clamped.mean(), clamped.trim
        centre, limits = float(mean.values[0]), (float(self.column.domain.lower), float(self.column.domain.upper))
        together = _correlations(clamped.sums, centre, trim) if self.population else np.eye(3)
        for place, end in enumerate((clamped.low, clamped.high), start=1):
            if self.by_steps and not end.even:  # a whole step off or none: no part of a normal error
                together[place] = together[:, place] = 1.0

        def interval(confidence: float, cells: int) -> Bounds:
            below, above = (float(end[0]) for end in mean.interval(confidence, cells))
            less, more = [centre - below], [above - centre]
            for end in (clamped.low, clamped.high):
                left, right = end.bounds(confidence, cells)
                less.append(trim * (end.value - left))
                more.append(trim * (right - end.value))
            missed = clamped.missed(confidence, cells)
            lower, upper = (missed + _add(np.array(side), together) for side in (less, more))
            return np.clip([centre - lower], *limits), np.clip([centre + upper], *limits)

        return Estimate(np.clip([centre], *limits), interval, "noisy mean between noisy quantiles", limits=limits)


def _add(parts: Floats, correlations: Floats) -> float:
    """How far a sum goes where its parts go so far, and are so correlated."""
    return float(np.sqrt(max(float(parts @ correlations @ parts), 0.0)))


def _correlations(sums: ColumnSums, mean: float, trim: float) -> Floats:
    """Of the clamped mean and both quantiles of a sample."""
    spread = sums.scale * np.sqrt(sums.central(2)) * np.sqrt(trim * (1 - trim))
    low, high = float(sums.domain.lower), float(sums.domain.upper)
    first, second = (np.clip(trim * side / max(spread, 1e-300), 0.0, 1.0) for side in (mean - low, high - mean))
    both = trim / (1 - trim)
    return np.array([[1, first, second], [first, 1, both], [second, both, 1]], dtype=np.float64)


def _build(frame: Frame, arguments: Arguments) -> WinsorizedMean:
    read = read_robust(frame, arguments, "winsorized_mean")
    return WinsorizedMean(*read, read_trim(arguments), has_few_steps(arguments["column"]))


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
