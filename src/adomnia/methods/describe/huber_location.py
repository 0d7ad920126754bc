"""Huber's location: a mean that gross outliers hardly move."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import ClassVar

import numpy as np

from adomnia.messages.texts import Note, NoteTemplate
from adomnia.methods.contract import INFERENCE, Arguments, Frame, Method, Parameter
from adomnia.methods.parts.describe.cut_quantiles import Flow, Robust, read_robust
from adomnia.methods.parts.describe.noisy_ratios import NoisyRatio
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Price
from adomnia.privacy.expressions import Expression, call, number
from adomnia.privacy.keys import Bucket
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Histogram, Total
from adomnia.statistics.bernstein import bernstein_vector
from adomnia.statistics.contract import Bounds, Estimate, Floats, Measure, Measured, Steps

TUNING = Parameter(
    "k",
    "number",
    "from how many scales on a value counts as an outlier",
    default=Fraction(1345, 1000),
    lower=0.1,
    upper=10,
)
NORMAL_SCALE = 1.4826  # of the median distance: the standard deviation of normal values
# Of the price: the median, the median distance from it, each of two early steps, the last one.
_MEDIAN, _SCALE, _EARLY, _LAST = (Fraction(part, 100) for part in (8, 9, 11, 61))
_EARLY_STEPS = 2
_GRID = Numbers(-1, 1, Fraction(1, 2**15))
_FINE = 2**12  # parts of a step of the column's grid: where released centres and reaches lie
_LEAST_REACH = 2  # steps of the grid, where the scale is zero or next to it
_LEAST_INSIDE = 0.15  # of all rows: what is supposed to lie near the centre at least
_MISSED = 0.3  # of the square of the last step, in reaches: rows that leave the window on the way, of normal values
_FARTHEST = 2.0**20  # reaches that a location may be away: more than any bounds are wide
_COEFFICIENTS = np.array([-1.0, 0.0, 1.0])  # of the residual, over polynomials of degree two of its place


@dataclass(frozen=True)
class Window:
    """The values from a centre less a reach to a centre and a reach: farther ones count as its ends."""

    centre: Fraction
    reach: Fraction

    def residual(self, value: Expression) -> Expression:
        """How far a value is from the centre, in reaches."""
        return call("*", call("-", value, _write(self.centre)), number(1 / self.reach))


_RELEASED = NoteTemplate(
    "released_scale",
    "The released scale is {scale:.6g}: values farther than {reach:.6g} from the location count as that far. The "
    "interval is about the location at this scale.",
)


@dataclass(frozen=True)
class HuberLocation(Robust):
    """The value from which the distances, cut at k scales, add up to zero.

    Method      the median and the median distance from it, chosen by rank; then Newton's steps from the median, on
                noisy sums of distances that are cut at the released reach, and of the rows within it.
    Guarantee   all rounds composed; what follows from them is post-processing.
    Bias        clamping to the declared bounds. The interval is about the location at the released scale.
    Cite        Huber 1964; Dwork & Lei 2009 (private robust statistics); Fieller 1954 (the interval).
    """

    tag: ClassVar[str] = "HuberLocation"
    name: ClassVar[str] = "huber_location"
    k: Fraction

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self._ask_median(self.column.value, self.column.domain), Fraction(1)),)

    def steps(self, price: Price) -> Steps:
        column = self.column
        median = yield from self._choose(column.value, column.domain, price * _MEDIAN)
        distance = call("abs", call("-", column.value, _write(median)))
        widest = Numbers(0, column.domain.upper - column.domain.lower, column.domain.step)
        found = yield from self._choose(distance, widest, price * _SCALE)
        window = Window(median, self._reach(found))
        for _ in range(_EARLY_STEPS):
            looked = yield from self._look(window, price * _EARLY)
            window = Window(self._round(float(window.centre) + float(window.reach) * looked.step), window.reach)
        last = yield from self._look(window, price * _LAST)
        return self.tabulate(self._estimate(window, last), self._describe(window))

    def _ask_median(self, value: Expression, domain: Numbers) -> Query:
        return Query(self.present, (), Histogram(value, domain, (Fraction(1, 2),), self.confidence))

    def _choose(self, value: Expression, domain: Numbers, price: Price) -> Flow[Fraction]:
        """The median of a value, chosen by rank."""
        (chosen,) = yield (Measure(self._ask_median(value, domain), price, "halving"),)
        return (int(chosen.values.ravel()[0]) + domain.grid_lower) * domain.step

    def _reach(self, distance: Fraction) -> Fraction:
        step = self.column.domain.step
        wanted = Fraction(round(float(self.k) * NORMAL_SCALE * float(distance / step) * _FINE), _FINE) * step
        return max(wanted, _LEAST_REACH * step)

    def _round(self, centre: float) -> Fraction:
        """A centre on a fine grid within the bounds."""
        domain = self.column.domain
        unit = domain.step / _FINE
        return min(max(Fraction(round(centre / float(unit))) * unit, domain.lower), domain.upper)

    def _look(self, window: Window, price: Price) -> "Flow[HuberResiduals]":
        residual = window.residual(self.column.value)
        side = call(
            "case", call("<", residual, number(-1)), number(0), call(">", residual, number(1)), number(2), number(1)
        )
        key = Bucket(side, Numbers.integers(0, 2), side)
        (sums,) = yield (
            Measure(Query(self.present, (key,), bernstein_vector((Total(residual, _GRID),), 2, False)), price),
        )
        return HuberResiduals(sums, self.population)

    def _estimate(self, window: Window, last: "HuberResiduals") -> Estimate:
        centre, reach = float(window.centre), float(window.reach)
        limits = float(self.column.domain.lower), float(self.column.domain.upper)
        found, missed = last.ratio, _MISSED * last.step**2

        def interval(confidence: float, cells: int) -> Bounds:
            lower, upper = found.bounds(confidence, cells)
            ends = centre + reach * (lower - missed), centre + reach * (upper + missed)
            return np.clip(ends[0], *limits), np.clip(ends[1], *limits)

        return Estimate(np.clip(centre + reach * found.values, *limits), interval, "Newton's steps on noisy sums")

    def _describe(self, window: Window) -> Note:
        return _RELEASED(scale=float(window.reach / self.k), reach=float(window.reach))


@dataclass(frozen=True)
class HuberResiduals:
    """Noisy sums of residuals in reaches, which are cut at -1 and 1: of the rows below, within and above.

    Of rows below the window one polynomial alone is not zero, of those above another: what else is measured of them is
    noise, and not used.
    """

    measured: Measured
    population: bool

    @property
    def _sums(self) -> Floats:
        return np.asarray(self.measured.values, dtype=np.float64) / float(_GRID.width) ** 2

    @property
    def below(self) -> float:
        """The rows below the window."""
        return float(self._sums[0, 0])

    @property
    def above(self) -> float:
        """Those above it."""
        return float(self._sums[2, 2])

    @property
    def inside(self) -> float:
        """Those within."""
        return float(self._sums[1].sum())

    @property
    def total(self) -> float:
        """The sum of all residuals."""
        return float(self._sums[1] @ _COEFFICIENTS) + self.above - self.below

    @property
    def squares(self) -> float:
        """The sum of their squares: 1, -1 and 1 are its coefficients within the window."""
        return float(self._sums[1] @ np.array([1.0, -1.0, 1.0])) + self.above + self.below

    @property
    def rows(self) -> float:
        """All rows."""
        return self.inside + self.above + self.below

    @property
    def step(self) -> float:
        """Newton's step in reaches, at most one."""
        noise = 3 * sqrt(3 * self.measured.noise.continuous.cumulants.variance) / float(_GRID.width) ** 2
        return float(np.clip(self.total / max(self.inside, _LEAST_INSIDE * self.rows, noise, 1.0), -1.0, 1.0))

    @property
    def ratio(self) -> NoisyRatio:
        """The last step: the sum of residuals over the rows within the window."""
        whole = float(_GRID.width) ** 2
        variance, fourth = self.measured.noise.continuous.cumulants
        variance, fourth = variance / whole**2, fourth / whole**4
        step = self.step
        within = float(self._sums[1] @ _COEFFICIENTS)
        sampling = max(self.squares - 2 * step * within + step**2 * self.inside, 0.0) if self.population else 0.0
        noise = (4 * variance, 0.0, 3 * variance)
        a, b, c = (np.array([each]) for each in (noise[0] + sampling, noise[1], noise[2]))
        fourths = fourth * (2 + ((_COEFFICIENTS - step) ** 4).sum())
        return NoisyRatio(
            np.array([self.total]), np.array([self.inside]), (a, b, c), np.array([fourths]), (-_FARTHEST, _FARTHEST)
        )


def _write(value: Fraction) -> Expression:
    """A constant as a difference of two that are not negative: the same expression whatever its sign."""
    return call("-", number(max(value, Fraction(0))), number(max(-value, Fraction(0))))


def _build(frame: Frame, arguments: Arguments) -> HuberLocation:
    return HuberLocation(*read_robust(frame, arguments, "huber_location"), arguments["k"])


METHOD = Method(
    "huber_location",
    "describe",
    "Huber's location of a column: a mean that outliers hardly move.",
    (Parameter("column", "column", "the numbers", required=True), TUNING, INFERENCE),
    _build,
    {"column": "which column", "estimate": "Huber's location"},
    "SELECT * FROM huber_location(people, column => salary)",
    {"R": "MASS::huber", "SAS": "PROC ROBUSTREG", "statsmodels": "robust.scale.Huber"},
)
