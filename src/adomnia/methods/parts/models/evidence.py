"""What a noisy score and noisy information tell about the coefficients of a model.

The score is the derivative of the log-likelihood, the information its negative second derivative. Which noise is in
them is known, so that the covariance of all that follows from them is, too.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement
from math import sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from adomnia.messages.texts import Note, NoteTemplate
from adomnia.methods.contract import NumberColumn
from adomnia.methods.parts.models.design import Design, Levels, Powers
from adomnia.methods.parts.models.predictor import scale
from adomnia.methods.parts.models.weighted_sums import NoisySums, Product
from adomnia.privacy.domains import Numbers
from adomnia.privacy.vectors import Variable
from adomnia.statistics.contract import Floats

_GRID = Numbers(-1, 1, Fraction(1, 128))  # six such numbers and a weight are multiplied in 64 bits
_STEADY = 2.0  # the least that steps suppose it to have
_ROUNDED = 1e-12  # of the largest information: less than that is lost where doubles are rounded
_LOST = 0.02  # of the square of a coefficient's direction that may lie where there is no information
_SLOPE = 2.0  # how far linear predictors may rise over half of a range of which nothing is known
_DAMPED = 3.0  # the longest step of a linear predictor, in its root mean square


_CUT = NoteTemplate(
    "range_cut",
    "Values of `{column}` {ends} pull at the coefficients no more than {counted}: the range was found in the first "
    "round, with noise.",
)


@dataclass(frozen=True)
class Span:
    """Where a number lies: between its middle less half its width and its middle and half its width."""

    middle: Fraction
    half: Fraction

    @classmethod
    def of(cls, column: NumberColumn) -> "Span":
        """All that the bounds of a column allow."""
        lower, upper = column.domain.lower, column.domain.upper
        return cls((lower + upper) / 2, (upper - lower) / 2)

    @classmethod
    def of_response(cls, design: Design) -> "Span":
        """Where the response lies; around zero, if there is no intercept that takes up its middle."""
        if design.intercept:
            return cls.of(design.response)
        bounds = design.response.domain
        return cls(Fraction(0), max(abs(bounds.lower), abs(bounds.upper)))

    def narrow(self, lower: float, upper: float) -> "Span":
        """The part between two numbers that are counted from the middle in half widths, and not beyond its ends."""
        low, high = (Fraction(min(max(each, -1.0), 1.0)) for each in (lower, upper))
        return Span(self.middle + self.half * (low + high) / 2, self.half * (high - low) / 2)


@dataclass(frozen=True)
class Coordinates:
    """Orthogonal directions in which the columns of a design are expressed, on numbers between -1 and 1.

    Those are the ends of their ranges. Beyond them numbers are clamped where they are multiplied with residuals and
    weights, and are themselves in linear predictors: residuals are zero in the mean times any function of the columns.
    """

    design: Design
    ranges: tuple[Span, ...]

    @cached_property
    def numbers(self) -> tuple[Variable, ...]:
        """The numbers of the design, all on the same coarse grid."""
        columns = zip(self.design.numbers, self.ranges, strict=True)
        return tuple(Variable(scale(column, each.middle, each.half), _GRID) for column, each in columns)

    def describe_cuts(self) -> tuple[Note, ...]:
        """A sentence for each number that may lie beyond its range."""
        found = []
        for column, each in zip(self.design.numbers, self.ranges, strict=True):
            ends = []
            if each.middle - each.half > column.domain.lower:
                ends.append(f"below {_write(each.middle - each.half)}")
            if each.middle + each.half < column.domain.upper:
                ends.append(f"above {_write(each.middle + each.half)}")
            if ends:
                counted = "these" if len(ends) > 1 else "this"
                found.append(_CUT(column=column.name, ends=" or ".join(ends), counted=counted))
        return tuple(found)

    @cached_property
    def basis(self) -> tuple[Product, ...]:
        """The columns that are added up: that of ones first, and the basis of the design."""
        ones = ((), (0,) * len(self.numbers))
        return tuple(dict.fromkeys([ones, *self.design.basis]))

    @cached_property
    def _rotation(self) -> tuple[Floats, Floats]:
        middles, halves = ([float(getattr(each, name)) for each in self.ranges] for name in ("middle", "half"))
        directions, triangle = np.linalg.qr(self.design.transformation(middles, halves))
        return directions, triangle

    @property
    def of_design(self) -> Floats:
        """The directions in the basis of the design."""
        return self._rotation[0]

    @cached_property
    def of_basis(self) -> Floats:
        """The directions in the basis, which has a column of ones in any case."""
        missing = len(self.basis) - len(self.design.basis)
        return self.of_design if not missing else np.vstack([np.zeros((1, self.size)), self.of_design])

    @property
    def from_columns(self) -> Floats:
        """From the coefficients of the design's own columns to these coordinates."""
        return self._rotation[1]

    @cached_property
    def to_columns(self) -> Floats:
        """From these coordinates to the coefficients of the design's own columns."""
        return np.asarray(np.linalg.inv(self.from_columns), dtype=np.float64)

    @property
    def size(self) -> int:
        """How many coefficients there are."""
        return len(self.design.columns)

    @cached_property
    def pairs(self) -> tuple[Product, ...]:
        """The different products of two columns of the basis."""
        found = (_multiply(one, two) for one, two in combinations_with_replacement(self.basis, 2))
        return tuple(dict.fromkeys(each for each in found if each is not None))

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Where the product of two columns is among them; the place behind the last where it is always 0."""
        known = {each: place for place, each in enumerate(self.pairs)}
        rows = [[_multiply(one, two) for two in self.basis] for one in self.basis]
        return np.array([[len(known) if each is None else known[each] for each in row] for row in rows])

    def square(self, sums: Floats) -> Floats:
        """The sums of pairs as a symmetric matrix in these coordinates, with the axes behind the first as they are."""
        padded = np.concatenate([sums, np.zeros((1, *sums.shape[1:]))])
        found: Floats = np.einsum(
            "ai,ab...,bj->ij...", self.of_basis, padded[self.places], self.of_basis, optimize=True
        )
        return found


@dataclass(frozen=True)
class Evidence:
    """The noisy score and information of one round.

    `clear`: how many standard deviations of its noise the information in a direction must have, or nothing is told.
    """

    clear: ClassVar[float] = 3.0
    coordinates: Coordinates
    sums: NoisySums  # of the score, for each column of the basis
    pairs: NoisySums  # of the information
    squared: NoisySums | None = field(default=None, kw_only=True)  # the same with squared sampling weights, if any
    dispersion: float = field(default=1.0, kw_only=True)  # how many times farther responses scatter, as a variance

    @cached_property
    def score(self) -> Floats:
        return self.coordinates.of_basis.T @ self.sums.values

    @cached_property
    def score_noise(self) -> Floats:
        """The covariance of the noise in the score."""
        spread = self.coordinates.of_basis.T @ self.sums.spread
        return np.asarray(spread @ spread.T)

    @cached_property
    def information(self) -> Floats:
        return self.coordinates.square(self.pairs.values)

    @cached_property
    def spread(self) -> Floats:
        """How far each noise moves the information."""
        return self.coordinates.square(self.pairs.spread)

    @cached_property
    def weight(self) -> float:
        """The sum of the weights of all rows."""
        return float(self.pairs.values[0])

    @property
    def expected_squares(self) -> float:
        """What squared residuals add up to in the model: their variances."""
        return self.weight if self.squared is None else float(self.squared.values[0])

    @cached_property
    def ones(self) -> Floats:
        """The weighted sums of the columns."""
        found = np.append(self.pairs.values, 0.0)[self.coordinates.places[0]]
        return np.asarray(found @ self.coordinates.of_basis)

    def information_noise(self, step: Floats) -> Floats:
        """The covariance of the noise in the information times a step."""
        spread = np.einsum("ijk,j->ik", self.spread, step)
        return np.asarray(spread @ spread.T)

    @cached_property
    def _directions(self) -> tuple[Floats, Floats, Floats]:
        """Of the information its eigenvalues, its eigenvectors, and the standard deviations of the noise there."""
        values, vectors = np.linalg.eigh(self.information)
        spread = np.einsum("iq,ijk,jq->qk", vectors, self.spread, vectors, optimize=True)
        return values, vectors, np.sqrt((spread**2).sum(axis=1))

    @cached_property
    def steady(self) -> Floats:
        """The information, at least as much in each direction as its noise lets one hope for."""
        values, vectors, deviations = self._directions
        least = max(1e-9, _ROUNDED * float(np.abs(values).max()))
        kept = np.maximum(values, np.maximum(_STEADY * deviations, least))
        return np.asarray((vectors * kept) @ vectors.T)

    @cached_property
    def inverse(self) -> Floats:
        return np.asarray(np.linalg.inv(self.steady), dtype=np.float64)

    @cached_property
    def sampling(self) -> Floats:
        """The covariance that sampling makes in the coefficients, if variances are the model's times the dispersion."""
        if self.squared is None:
            return self.dispersion * self.inverse
        values, vectors = np.linalg.eigh(self.coordinates.square(self.squared.values))
        scattered = (vectors * np.maximum(values, 0.0)) @ vectors.T
        return np.asarray(self.dispersion * self.inverse @ scattered @ self.inverse)

    @cached_property
    def identified(self) -> NDArray[np.bool_]:
        """Which coefficients of the design's columns do not depend on directions without information."""
        values, vectors, deviations = self._directions
        own = self.coordinates.to_columns @ vectors
        parts = own**2 / np.maximum((own**2).sum(axis=1, keepdims=True), 1e-300)
        lost = (values < self.clear * deviations).astype(np.float64)
        return np.asarray(parts @ lost < _LOST)

    @cached_property
    def unknown(self) -> Floats:
        """What may be there where there is no information, as a covariance: it does not leave a coefficient alone."""
        values, vectors, deviations = self._directions
        lost = vectors * (values < self.clear * deviations) * _SLOPE
        return np.asarray(lost @ lost.T)

    def newton(self) -> Floats:
        """The step to where the score would be zero."""
        return self.inverse @ self.score


class SteadyEvidence(Evidence):
    """Evidence at a point that was chosen with care, where less information is enough."""

    clear: ClassVar[float] = 2.0


def shorten(step: Floats, spread: Floats) -> Floats:
    """A step by which no linear predictor moves too far to believe the information; `spread`: their mean squares."""
    length = predictor_length(step, spread)
    return step if length <= _DAMPED else step * (_DAMPED / length)


def predictor_length(step: Floats, spread: Floats) -> float:
    """By how much a step moves the linear predictors of all rows, in root mean square."""
    return sqrt(max(0.0, float(step @ spread @ step)))


def _write(end: Fraction) -> str:
    """A number to four digits."""
    return f"{float(f'{float(end):.4g}'):,.12g}"


def _multiply(one: Product, two: Product) -> Product | None:
    """The product of two columns; None where it is always 0, because a row has one level of a factor."""
    levels = dict(one[0])
    if any(levels.setdefault(factor, level) != level for factor, level in two[0]):
        return None
    found: Levels = tuple(sorted(levels.items()))
    powers: Powers = tuple(map(sum, zip(one[1], two[1], strict=True)))
    return found, powers
