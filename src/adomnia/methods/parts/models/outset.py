"""What the first round of a generalised linear model tells: how many rows there are, where their columns lie, a start.

In that round all weights are equal, so that the information is the matrix of the products of columns. Later rounds are
measured where the columns lie, which may be a small part of their bounds: their noise is that much smaller.

With an offset a row weighs as much as its exposure, in parts of the largest one: rows, means and products are then
those of units of exposure, and the level that is found is that of a row with the largest.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import Protocol

import numpy as np

from adomnia.methods.parts.models.evidence import Coordinates, Evidence, Span, predictor_length, shorten
from adomnia.statistics.contract import Floats

_LARGEST_VARIANCE = 4.0  # of linear predictors at the start
_LEAST_WEIGHT = 0.01  # of the largest: what a mean of weights is supposed to be at least
_FEWEST_ROWS = 4.0
_BALANCING = 30  # rounds in which slopes and mean weight come to agree
REACH = 3.5  # standard deviations of a column, at least
_NARROWER = 0.8  # of the bounds: what is wider is not worth cutting off
_CERTAIN = 2.0  # standard deviations of noise that a column may spread further than is seen
_PREDICTORS = 3.0  # standard deviations of linear predictors on both sides of their mean
_MOST_LOPSIDED = 4.0  # beyond it nothing more is allowed for
_CERTAIN_WEIGHT = 0.2  # of what was expected: the least that the noisy weight of all rows is supposed to be
_TOO_FAR = 0.5  # of the score before, with its sign turned, after a step


class ResponseFamily(Protocol):
    """A family of responses. The weight of a row is the derivative of its mean response."""

    @property
    def start(self) -> Fraction:
        """The linear predictor where weights are largest."""
        ...

    @property
    def highest_offset(self) -> Fraction:
        """The largest number that an offset adds to a linear predictor; 0 without one."""
        ...

    @property
    def largest_weight(self) -> Fraction:
        """The weight there."""
        ...

    @property
    def mean_at_start(self) -> float:
        """The mean of the response there."""
        ...

    @property
    def doubt(self) -> float:
        """How many times the square of their noise slopes at the start must have."""
        ...

    def start_mean(self, mean: float, noise: float) -> float:
        """The mean response to start from, where a noisy one has noise of such a standard deviation."""
        ...

    def mean_weight(self, level: float, variance: float) -> float:
        """The mean of the weights where linear predictors are normal."""
        ...

    def find_level(self, mean: float, variance: float) -> float:
        """The mean of normal linear predictors for which the mean of the response is this one."""
        ...


@dataclass(frozen=True)
class Scene:
    """What is known of the rows after the first round, in the coordinates of the later ones."""

    coordinates: Coordinates
    squares: Floats  # the mean products of the columns
    means: Floats
    constant: Floats  # the coefficients by which the columns add up to 1, or nearly so
    start: Floats  # the coefficients of the first round
    score: Floats  # there
    point: Floats  # those of the second
    rows: float
    mean_weight: float
    lopsided: float  # how many times further the numbers reach on one side of their mean than on the other, at most

    def length(self, step: Floats) -> float:
        """By how much a step moves the linear predictors, in root mean square."""
        return predictor_length(step, self.squares)

    def locate(self, point: Floats) -> tuple[float, float]:
        """Between which ends nearly all linear predictors are."""
        level = float(point @ self.means)
        reach = _PREDICTORS * sqrt(max(0.0, self.length(point) ** 2 - level**2)) + 0.5
        return level - reach, level + reach

    def predict_noise(self, score_spread: Floats) -> float:
        """How far noise moves linear predictors in Newton's step, if a score has noise of this spread in the basis."""
        spread = _solve(self.squares, self.coordinates.of_basis.T @ score_spread)
        moved = float(np.einsum("ik,ij,jk->", spread, self.squares, spread))
        return sqrt(max(0.0, moved)) / (self.rows * self.mean_weight)

    def curve(self, found: Evidence, step: Floats, bend: float) -> Floats:
        """How much further the score is zero because weights change on the way, by `bend` times them for each 1.

        That is Chebyshev's correction of Newton's step, where the changes of linear predictors are symmetric.
        """
        mean = self.rise(found, step)
        square = float(step @ found.steady @ step) / self._weight(found)
        return -bend / 2 * (square * self.constant + 2 * mean * (step - mean * self.constant))

    def rise(self, found: Evidence, step: Floats) -> float:
        """By how much linear predictors rise in a step, in their weighted mean."""
        return float(found.ones @ step) / self._weight(found)

    def _weight(self, found: Evidence) -> float:
        return max(found.weight, _CERTAIN_WEIGHT * self.rows * self.mean_weight)

    def step(self, found: Evidence, last_step: Floats, last_score: Floats) -> Floats:
        """Newton's step; back along the last one where that went much too far, which Newton's would make worse."""
        before, now = float(last_step @ last_score), float(last_step @ found.score)
        if now < -_TOO_FAR * before < 0:
            return last_step * (before / (before - now) - 1)
        return shorten(found.newton(), self.squares)


@dataclass(frozen=True)
class Outset:
    """The evidence of the first round, and what follows from it."""

    family: ResponseFamily
    first: Evidence
    reach: float = REACH  # standard deviations of a column on both sides of its mean, where later rounds look

    @cached_property
    def counted(self) -> float:
        """The noisy number of rows."""
        return self.first.weight / float(self.family.largest_weight)

    @cached_property
    def rows(self) -> float:
        """The same, where something is divided by it."""
        return max(self.counted, _FEWEST_ROWS)

    @cached_property
    def _total_weight(self) -> float:
        return self.rows * float(self.family.largest_weight)

    @cached_property
    def scene(self) -> Scene:
        """What is known, in coordinates of the ranges in which the numbers lie."""
        wide = self.first.coordinates
        near = Coordinates(wide.design, self._ranges)
        change = wide.from_columns @ near.to_columns
        slopes, level, weight = self._balanced
        back = near.from_columns @ wide.to_columns
        above = float(self.family.highest_offset)
        constant, point = back @ self._constant, back @ (slopes + (level - above) * self._constant)
        start = (float(self.family.start) - above) * constant
        squares, means = change.T @ self._squares @ change, change.T @ self._means
        score = change.T @ self.first.score
        return Scene(near, squares, means, constant, start, score, point, self.rows, weight, self._lopsided)

    @cached_property
    def _squares(self) -> Floats:
        return self.first.steady / self._total_weight

    @cached_property
    def _means(self) -> Floats:
        return self.first.ones / self._total_weight

    @cached_property
    def _constant(self) -> Floats:
        """The coefficients by which the columns add up to 1, or nearly so."""
        return _solve(self._squares, self._means)

    @cached_property
    def _balanced(self) -> tuple[Floats, float, float]:
        """The slopes, the level and the mean weight that agree with each other and with the linear regression.

        For normal columns the covariance of a column with the mean response is its covariance with the linear
        predictor times the mean weight (Stein 1981; Brillinger 1983).
        """
        family, at_start = self.family, self.family.mean_at_start
        noisy = at_start + float(self.first.sums.values[0]) / self.rows
        mean = family.start_mean(noisy, float(np.linalg.norm(self.first.sums.spread[0])) / self.rows)
        linear = _solve(self._squares, self.first.score / self.rows + at_start * self._means)
        centred = linear - float(linear @ self._means) * self._constant
        noise = float(np.trace(_solve(self._squares, self.first.score_noise))) / self.rows**2
        found = predictor_length(centred, self._squares)
        kept = max(0.0, 1 - family.doubt * noise / max(found**2, noise, 1e-300))  # James & Stein 1961
        deviation, centred = kept * found, kept * centred
        weight = level = float(family.largest_weight)
        for _ in range(_BALANCING):
            variance = min((deviation / weight) ** 2, _LARGEST_VARIANCE)
            level = family.find_level(mean, variance)
            least = _LEAST_WEIGHT * float(family.largest_weight)
            weight = (weight + max(least, family.mean_weight(level, variance))) / 2
        return centred / max(weight, deviation / sqrt(_LARGEST_VARIANCE)), level, weight

    @property
    def _ranges(self) -> tuple[Span, ...]:
        found = []
        for each, column in zip(self.first.coordinates.ranges, self._columns, strict=True):
            lower, _, upper = (-1.0, 0.0, 1.0) if column is None else self._locate(column)
            found.append(each.narrow(lower, upper) if upper - lower < _NARROWER * 2 else each)
        return tuple(found)

    @property
    def _lopsided(self) -> float:
        found = [1.0]
        for column in self._columns:
            if column is not None:
                noise, ends = _CERTAIN * self._average(0, column)[1], self._locate(column)
                nearer, further = np.sort(np.diff(ends)) + max(noise, 1e-9)
                found.append(float(min(further / nearer, _MOST_LOPSIDED)))
        return max(found)

    @property
    def _columns(self) -> tuple[int | None, ...]:
        """Where in the basis each number is by itself."""
        basis, numbers = self.first.coordinates.basis, range(len(self.first.coordinates.ranges))
        alone = [((), tuple(int(place == each) for place in numbers)) for each in numbers]
        return tuple(basis.index(each) if each in basis else None for each in alone)

    def _locate(self, column: int) -> tuple[float, float, float]:
        """The mean of a column of the basis, between the ends that its values may spread to."""
        mean, mean_noise = self._average(0, column)
        square, square_noise = self._average(column, column)
        middle = min(max(mean, -1.0), 1.0)
        variance = max(0.0, square - middle**2) + _CERTAIN * (square_noise + 2 * abs(middle) * mean_noise)
        reach = self.reach * sqrt(variance)
        return max(-1.0, middle - reach), middle, min(1.0, middle + reach)

    def _average(self, one: int, two: int) -> tuple[float, float]:
        """The mean product of two columns of the basis, and the standard deviation of its noise."""
        place = self.first.coordinates.places[one, two]
        pairs = self.first.pairs
        noise = float(np.linalg.norm(pairs.spread[place]))
        return float(pairs.values[place]) / self._total_weight, noise / self._total_weight


def _solve(matrix: Floats, right: Floats) -> Floats:
    return np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
