"""How far each coefficient may be off where residuals do not have one spread: sums of squared influences tell it.

To first order a row moves a coefficient by its residual times a known combination of its columns. The squares of these
influences add up to the variance of the coefficient about the population, whatever the spread of each residual is
(White 1980). They are added up in one more round. A square counts for no more than a ceiling, which follows from noisy
numbers: as high as noise allows, because influences are largest where a few rows have much of the variance.

The larger of that variance and the one for residuals of one spread is used (Angrist & Pischke 2009, section 8.1).
Argument: docs/proofs/influence.md.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, frexp
from typing import TYPE_CHECKING, Self, cast

import numpy as np

from adomnia.methods.parts.models.design import Design
from adomnia.methods.parts.models.predictor import round_coefficient, write_predictor
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Price
from adomnia.privacy.expressions import Expression, call
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.vectors import Variable, Vector, variable
from adomnia.statistics.contract import Floats, Measure, Measured

if TYPE_CHECKING:
    from adomnia.mechanisms.contract import Noise

MOST_INFLUENCES = 10  # in a round: to derive the sensitivity of more takes twice as long for each
_STEPS = 2**24  # of the grid of a square
_STEPS_OF_INTERCEPT = 2**22  # fewer steps are a smaller part of the price
_NOISE = 0.7  # the most noise of a sum: this part of the variance for residuals of one spread,
_BESIDE = 0.15  # and this part of the variance that other noise makes
_FINE = 0.02  # the same where noise is small; between both:
_HEAVY = 1024  # times the mean square for one spread: of incomes larger ones are an eighth of the variance
_CUT_OFF = 0.5  # of what is clearly beyond the variance for one spread: as much may have been cut off by a ceiling
_LITTLE = 0.25  # of that variance: less beyond it is no sign of influences that a ceiling cuts
_DIGITS = 16  # of a ceiling, between two powers of two
_LOWEST, _HIGHEST = Fraction(1, 2**40), Fraction(2**40)  # ceiling
_LONG = Fraction(12345677, 2**20)
_LEAST = 1e-300


@dataclass(frozen=True)
class InfluenceSums:
    """The sums of squares of residuals times combinations of the columns; no square counts for more than its ceiling.

    `ways` are the coefficients of these combinations in the basis of the design.
    """

    relation: Relation
    design: Design
    numbers: tuple[Expression, ...]  # between -1 and 1
    residual: Expression
    ways: tuple[tuple[Fraction, ...], ...]
    ceilings: tuple[Fraction, ...]

    @classmethod
    def extreme(cls, relation: Relation, design: Design, numbers: tuple[Expression, ...], residual: Expression) -> Self:
        """Sums whose constants are long and extreme."""
        ends = [round_coefficient((-0.987654321) ** place) for place in range(1, 3)]
        way, many = tuple(ends[place % 2] for place in range(len(design.basis))), len(design.columns)
        return cls(relation, design, numbers, residual, (way,) * many, (_LONG,) * many)

    @property
    def query(self) -> Query:
        """A vector of all squares."""
        ceilings = zip(self.ceilings, self._steps, strict=True)
        domains = [Numbers(0, ceiling, ceiling / steps) for ceiling, steps in ceilings]
        squares = tuple(Variable(self._square(way), each) for way, each in zip(self.ways, domains, strict=True))
        return Query(
            self.relation, (), Vector(squares, tuple(variable(at, len(squares)) for at in range(len(squares))))
        )

    def measure(self, price: Price) -> Measure:
        """All sums, of which a person moves the same number of steps whatever the constants are."""
        return Measure(self.query, price)

    def estimate(self, measured: Measured) -> Floats:
        """The noisy sums."""
        return np.asarray(measured.values, dtype=np.float64).ravel() * self._units

    def find_heights(self) -> Floats:
        """The ceilings."""
        return np.array([float(each) for each in self.ceilings])

    def find_deviations(self, measured: Measured) -> Floats:
        """The standard deviations of their noise."""
        return self._units * measured.noise.continuous.deviation

    def predict_noise(self, price: Price) -> Floats:
        """The standard deviations of the noise in the sums."""
        return self._units * cast("Noise", self.measure(price).mechanism).continuous.deviation

    @property
    def _steps(self) -> tuple[int, ...]:
        """The width of each grid: what a row moves a sum by at most."""
        first = _STEPS_OF_INTERCEPT if self.design.intercept and len(self.ways) > 1 else _STEPS
        return (first, *(_STEPS for _ in self.ways[1:]))

    @property
    def _units(self) -> Floats:
        return np.array([float(each / steps) for each, steps in zip(self.ceilings, self._steps, strict=True)])

    def _square(self, way: tuple[Fraction, ...]) -> Expression:
        influence = call("*", self.residual, write_predictor(self.design, self.numbers, Fraction(0), way))
        return call("*", influence, influence)


@dataclass(frozen=True)
class Influences:
    """The influences of rows on coefficients: `combinations` of the basis, each a row, times the residual.

    `supposed` are the variances of the coefficients for residuals of one spread, and `noise` those that noise
    makes; there are about so many `rows`.
    """

    combinations: Floats
    supposed: Floats
    noise: Floats
    rows: float

    @property
    def _scales(self) -> Floats:
        """What combinations are divided by, so that their largest coefficients are 1."""
        return np.asarray(np.maximum(np.abs(self.combinations).max(axis=1), _LEAST**0.25))

    @property
    def _mean(self) -> Floats:
        """The mean squares, for residuals of one spread."""
        return self.supposed / max(self.rows, 1.0)

    def choose(self, sums: InfluenceSums, price: Price, largest: float) -> InfluenceSums:
        """The sums of their squares, with ceilings as high as noise allows.

        `largest` is the largest residual.
        """
        scaled = self.combinations / self._scales[:, None]
        ways = tuple(tuple(map(round_coefficient, row.tolist())) for row in scaled)
        unit = replace(sums, ways=ways, ceilings=(Fraction(1),) * len(ways)).predict_noise(price)
        coarse = (_NOISE * self.supposed + _BESIDE * self.noise) / unit
        heavy = _HEAVY * self._mean * (unit.min() / unit)  # of an intercept, with the same noise
        allowed = np.maximum(np.minimum(coarse, heavy), _FINE * self.supposed / unit)
        allowed = allowed / self._scales**2
        highest = map(_find_highest, ways, (largest,) * len(ways))
        ceilings = tuple(min(_round_down(float(each)), most) for each, most in zip(allowed, highest, strict=True))
        return replace(sums, ways=ways, ceilings=ceilings)

    def compare(self, sums: InfluenceSums, measured: Measured, correction: float, largest: float) -> Floats:
        """How many times the variances for residuals of one spread they are, at least 1.

        `correction`: what squares of residuals of a fit lack.
        """
        found = sums.estimate(measured) * self._scales**2 * correction
        noise = sums.find_deviations(measured) * self._scales**2 * correction
        beyond, noise = found / np.maximum(self.supposed, _LEAST) - 1, noise / np.maximum(self.supposed, _LEAST)
        highest = map(_find_highest, sums.ways, (largest,) * len(sums.ways))
        cut = np.array([each < most for each, most in zip(sums.ceilings, highest, strict=True)])
        heights = sums.find_heights() * self._scales**2 / np.maximum(self._mean, _LEAST)
        missing = _CUT_OFF * cut * np.minimum(1.0, _HEAVY / np.maximum(heights, 1.0))
        return np.asarray(1 + np.maximum(beyond, 0.0) + missing * np.maximum(beyond - noise - _LITTLE, 0.0))


def widen(covariance: Floats, ratios: Floats, *, intercept: bool) -> Floats:
    """The covariance of coefficients whose variances are so many times those of residuals of one spread.

    Coefficients of columns are as correlated as before. The intercept, which comes first, is the level at the means of
    the columns, less what these are times their coefficients. The variance of that level is the same whatever the
    spreads are; how it goes with the coefficients follows from the intercept's variance, as far as there is such a one.
    """
    roots = np.sqrt(ratios)
    found = covariance * np.outer(roots, roots)
    if not intercept or len(ratios) == 1:
        return np.asarray(found)
    means = -np.linalg.pinv(covariance[1:, 1:], hermitian=True) @ covariance[1:, 0]
    level, moved = max(0.0, float(covariance[0, 0] + means @ covariance[1:, 0])), found[1:, 1:] @ means
    across = max(float(means @ moved), _LEAST)
    most = np.sqrt(level / across)
    share = float(np.clip((level + across - found[0, 0]) / (2 * across), -most, most))
    found[0, 0] = level + across - 2 * share * across
    found[0, 1:] = found[1:, 0] = (share - 1) * moved
    return np.asarray(found)


def _find_highest(way: tuple[Fraction, ...], largest: float) -> Fraction:
    """A ceiling that no square exceeds."""
    return max(_LOWEST, (Fraction(largest) * sum(map(abs, way))) ** 2)


def _round_down(size: float) -> Fraction:
    """A ceiling of few digits."""
    mantissa, exponent = frexp(min(max(size, float(_LOWEST)), float(_HIGHEST)))
    return Fraction(floor(mantissa * _DIGITS), _DIGITS) * Fraction(2) ** exponent
