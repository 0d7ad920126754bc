"""The median absolute deviation."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from adomnia.methods.contract import INFERENCE, Arguments, Frame, Method, Parameter
from adomnia.methods.describe.iqr import add_sides
from adomnia.methods.describe.quantiles import BOUNDS_NOTE
from adomnia.methods.parts.describe.cut_quantiles import CutQuantile, Robust, find_cuts, read_cuts, read_robust
from adomnia.methods.parts.describe.cuts import Cutting
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Price
from adomnia.privacy.expressions import Expression, call, number
from adomnia.privacy.keys import Bucket
from adomnia.statistics.contract import Bounds, Estimate, Floats, Measure, Steps

_MEDIAN = (Fraction(1, 2),)
# Of the price: the number of rows; of the median, and then of the deviations from it: the choice, and the counts.
_ROWS = Fraction(4, 100)
_FIRST = Fraction(14, 100), Fraction(22, 100)
_SECOND = Fraction(22, 100), Fraction(38, 100)
_TOLD = 3.0  # deviations: fewer rows near the deviation tell nothing of the sides


@dataclass(frozen=True)
class Mad(Robust):
    """The median of the distances from the median, times a constant.

    Method      the median as a quantile; then that of the distances from it, counted on both sides apart. By how much
                the median's error moves the answer follows from how many more rows lie on one side than on the other.
    Guarantee   five rounds composed.
    Bias        clamping, and half a step of rounding.
    Cite        Hampel 1974; Dwork & Lei 2009 (private robust statistics).
    """

    tag: ClassVar[str] = "Mad"
    name: ClassVar[str] = "mad"
    constant: Fraction

    def steps(self, price: Price) -> Steps:
        ((query, _),) = self.shares
        (rows,) = yield (Measure(query, price * _ROWS),)
        many = np.asarray(rows.values, dtype=np.float64)
        ((median,),) = yield from find_cuts(self._cut(self.column.value, self.column.domain, price, _FIRST), many)
        distance, sides = self._distances(median)
        widest = Numbers(0, self.column.domain.upper - self.column.domain.lower, self.column.domain.step)
        cutting = self._cut(distance, widest, price, _SECOND)
        (chosen,) = yield (cutting.choose(many),)
        edges = cutting.lay(chosen, many)
        counted = cutting.count(edges)
        (counts,) = yield (Measure(cutting.beside(counted.query, sides), counted.price),)
        both = np.asarray(counts.values, dtype=np.float64)
        ((found,),) = read_cuts(cutting, chosen, edges, counts)
        return self.tabulate(self._estimate(median, found, both), BOUNDS_NOTE)

    def _cut(self, value: Expression, domain: Numbers, price: Price, parts: tuple[Fraction, Fraction]) -> Cutting:
        prices = price * parts[0], price * parts[1]
        return Cutting(self.present, (), value, domain, _MEDIAN, self.population, self.confidence, *prices)

    def _distances(self, median: CutQuantile) -> tuple[Expression, Bucket]:
        """How far values are from the median, and on which side."""
        domain = self.column.domain
        middle = number((int(median.found) + domain.grid_lower) * domain.step)
        above = call(">=", self.column.value, middle)
        return call("abs", call("-", self.column.value, middle)), Bucket(above, None, above)

    def _estimate(self, median: CutQuantile, found: CutQuantile, sides: Floats) -> Estimate:
        constant, widest = float(self.constant), float(found.cutting.domain.upper)
        slope, correlation = _slope(found, sides) if median.even and found.even else (1.0, 1.0)
        if not self.population:
            correlation = max(correlation, 0.0)

        def interval(confidence: float, cells: int) -> Bounds:
            (low, high), (left, right) = found.bounds(confidence, cells), median.bounds(confidence, cells)
            moved = abs(slope) * max(right - median.value, median.value - left)
            less, more = (add_sides(side, moved, correlation) for side in (found.value - low, high - found.value))
            ends = constant * np.clip([found.value - less, found.value + more], 0.0, widest)
            return ends[:1], ends[1:]

        method, limits = "noisy median of distances from a noisy median", (0.0, constant * widest)
        return Estimate(np.array([constant * found.value]), interval, method, limits=limits)


def _slope(found: CutQuantile, sides: Floats) -> tuple[float, float]:
    """How far the median's error moves the answer, and how its sampling is correlated with the answer's own.

    If the median is off by e, the answer is by e * (left - right) / (left + right), of the rows on each side that lie
    near the answer; both errors share the rows that are below the median and no farther from it than the answer.
    """
    # Only between edges: half of all rows lie beyond them, and most are far from the answer.
    near = np.searchsorted(found.edges, [found.found * 0.75, found.found * 1.25])
    low, high = np.clip(near, 1, len(found.edges) - 1)
    left, right = (float(side[low : high + 1].sum()) for side in sides)
    noise = np.sqrt(found.cumulants[0] * (high - low + 1))
    inside = np.searchsorted(found.edges, found.found, side="right")
    shared = float(np.clip(sides[0][:inside].sum() / max(found.rows, 1.0), 0.0, 0.5))
    if left + right < _TOLD * noise:
        return 1.0, 1.0
    slope = float(np.clip((right - left) / (left + right), -1.0, 1.0))
    return slope, float(np.clip(-np.sign(slope) * (4 * shared - 1), -1.0, 1.0))


def _build(frame: Frame, arguments: Arguments) -> Mad:
    return Mad(*read_robust(frame, arguments, "mad"), arguments["constant"])


METHOD = Method(
    "mad",
    "describe",
    "The median absolute deviation of a column.",
    (
        Parameter("column", "column", "the numbers", required=True),
        Parameter(
            "constant",
            "number",
            "what the median distance is multiplied by; 1.4826 makes it the standard deviation of normal values",
            default=Fraction(14826, 10000),
            lower=0.001,
            upper=1000,
        ),
        INFERENCE,
    ),
    _build,
    {"column": "which column", "estimate": "the median absolute deviation, times the constant"},
    "SELECT * FROM mad(people, column => salary)",
    {"R": "mad", "SciPy": "stats.median_abs_deviation"},
)
