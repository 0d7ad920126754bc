"""Trimmed means."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from adomnia.mechanisms.quantiles import FINEST_SHARE
from adomnia.methods.contract import INFERENCE, Arguments, BadArgument, Frame, Method, Parameter
from adomnia.methods.describe.clamped_means import TRIM, measure_clamped, read_clamped, released_domain
from adomnia.methods.describe.robust import Robust, read_robust
from adomnia.privacy.aggregates import Histogram
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Price
from adomnia.privacy.queries import Query
from adomnia.statistics.contract import Bounds, Estimate, Measure, Steps

_CHOOSE = Fraction(35, 100)  # of the price


@dataclass(frozen=True)
class TrimmedMean(Robust):
    """The mean of the rows between two quantiles.

    Method      both quantiles chosen by rank; then the mean of the values clamped between them, whose sensitivity is
                that of the released bounds; what clamping added at the ends is taken off again.
    Guarantee   the choice and the sums, composed.
    Bias        of second order in the ranks that the choice misses by; clamping to the declared bounds.
    Cite        Tukey & McLaughlin 1963; Dwork & Lei 2009; Kaplan, Schnapp & Stemmer 2022 (the choice).
    """

    tag: ClassVar[str] = "TrimmedMean"
    name: ClassVar[str] = "trimmed_mean"
    trim: Fraction

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        histogram = Histogram(self.column.value, self.column.domain, (self.trim, 1 - self.trim), self.confidence)
        return ((Query(self.present, (), histogram), Fraction(1)),)

    def steps(self, price: Price) -> Steps:
        ((query, _),) = self.shares
        (chosen,) = yield (Measure(query, price * _CHOOSE, "halving"),)
        domain = released_domain(self.column, *map(int, chosen.values))
        (sums,) = yield (measure_clamped(self, domain, price * (1 - _CHOOSE)),)
        mean, trim = read_clamped(self, domain, sums).mean(), float(self.trim)
        ends = trim * float(domain.lower + domain.upper)
        limits = float(domain.lower), float(domain.upper)

        def interval(confidence: float, cells: int) -> Bounds:
            lower, upper = mean.interval(confidence, cells)
            return np.clip((lower - ends) / (1 - 2 * trim), *limits), np.clip((upper - ends) / (1 - 2 * trim), *limits)

        values = np.clip((mean.values - ends) / (1 - 2 * trim), *limits)
        return self.tabulate(Estimate(values, interval, mean.method), note_bounds(domain))


def note_bounds(domain: Numbers) -> str:
    """What the bounds are, which were bought too."""
    return f"The released bounds are {float(domain.lower):g} and {float(domain.upper):g}."


def read_trim(arguments: Arguments) -> Fraction:
    """The share at each end."""
    trim: Fraction = arguments["trim"]
    if FINEST_SHARE % trim.denominator:
        raise BadArgument("trim", "has more than three digits", "write trim => 0.1")
    return trim


def _build(frame: Frame, arguments: Arguments) -> TrimmedMean:
    return TrimmedMean(*read_robust(frame, arguments, "trimmed_mean"), read_trim(arguments))


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
