"""Trimmed means."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np

from adomnia.methods.contract import INFERENCE, Arguments, Frame, Method, Parameter
from adomnia.methods.parts.describe.clamped_means import TRIM, find_clamped, has_few_steps, read_trim
from adomnia.methods.parts.describe.cut_quantiles import Robust, read_robust
from adomnia.privacy.events import Price
from adomnia.privacy.kinds import LATER
from adomnia.statistics.contract import Bounds, Estimate, Steps


@dataclass(frozen=True)
class TrimmedMean(Robust):
    """The mean of the rows between two quantiles.

    Method      both quantiles as `quantiles` finds them; then the mean of the values clamped between them, whose
                sensitivity is that of the released bounds; what clamping added at the ends is taken off again.
    Guarantee   four rounds composed.
    Bias        of second order in the ranks that the choice misses by; clamping to the declared bounds.
    Cite        Tukey & McLaughlin 1963; Dwork & Lei 2009; Kaplan, Schnapp & Stemmer 2022 (the choice).
    """

    tag: ClassVar[str] = "TrimmedMean"
    name: ClassVar[str] = "trimmed_mean"
    trim: Fraction
    by_steps: bool = field(default=False, metadata={LATER: True})  # answers from before it were a step off

    def steps(self, price: Price) -> Steps:
        clamped = yield from find_clamped(self, self.trim, price, by_steps=self.by_steps)
        mean, trim = clamped.mean(), clamped.trim
        ends, kept = trim * float(sum(clamped.bounds)), 1 - 2 * trim
        limits = float(self.column.domain.lower), float(self.column.domain.upper)

        def interval(confidence: float, cells: int) -> Bounds:
            lower, upper = mean.interval(confidence, cells)
            missed = clamped.missed(confidence, cells)
            below, above = (lower - ends - missed) / kept, (upper - ends + missed) / kept
            return np.clip(below, *limits), np.clip(above, *limits)

        values = np.clip((mean.values - ends) / kept, *limits)
        return self.tabulate(Estimate(values, interval, mean.method, limits=limits), clamped.note)


def _build(frame: Frame, arguments: Arguments) -> TrimmedMean:
    read = read_robust(frame, arguments, "trimmed_mean")
    return TrimmedMean(*read, read_trim(arguments), has_few_steps(arguments["column"]))


METHOD = Method(
    "trimmed_mean",
    "describe",
    "The mean of a column without the smallest and the greatest values.",
    (Parameter("column", "column", "the numbers", required=True), TRIM, INFERENCE),
    _build,
    {"column": "which column", "estimate": "the trimmed mean"},
    "SELECT * FROM trimmed_mean(people, column => salary, trim => 0.1)",
    {"R": "mean(x, trim = 0.1)", "SAS": "PROC UNIVARIATE TRIMMED=", "SciPy": "stats.trim_mean"},
)
