"""Least squares from noisy sums of products, with the covariance that noise and sampling make together.

With A the noisy products of the columns with each other and b those with the response, the coefficients are A^-1 b. To
first order they are off by A^-1 g, where g is the noise of the products of the columns with the residuals. Its
covariance C is known, because every noise is. So their covariance is s^2 A^-1 + A^-1 C A^-1 about the population, and
the second part alone about the data. With sampling weights the first part is s^2 A^-1 B A^-1 instead, where B has the
squares of the weights in the place of the weights. Where residuals have no one spread s, the first part is larger: how
much, is measured in one more round (influence.py).

Directions in which A is not above its noise carry nothing. Coefficients that depend on them are not estimable.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adomnia.distributions.fieller import fieller
from adomnia.methods.parts.models.influence import Influences, widen
from adomnia.methods.parts.models.sums import NoisyProducts
from adomnia.statistics.contract import Bounds, Floats

_NOISE_FLOOR = 2.0  # times the length of the noise of a direction
_LOADING = 0.01  # of the square of a coefficient's length: what may lie in directions that carry nothing
_LEAST = 1e-100
_LEAST_SEEN = 1e-3  # what is left of products at least, where noise may have made all of them
_SLOPE = 1.0  # in half widths of the bounds: how large a slope may be where nothing is known of it


@dataclass(frozen=True)
class LeastSquares:
    """The fit of some first columns of a design, or of all of them.

    `penalty` is that of ridge regression, on the squares of the coefficients of numbers in half widths of their bounds.
    `ratios`: how many times those for residuals of one spread the variances of coefficients about the population are.
    """

    products: NoisyProducts
    chosen: int  # so many columns, the first ones
    penalty: float = 0.0
    ratios: Floats | None = None

    @cached_property
    def _transformation(self) -> tuple[Floats, Floats]:
        """Orthonormal directions in the basis that span the columns, and how the columns follow from them."""
        plan = self.products.plan
        numbers = len(plan.design.numbers)
        shift = plan.design.transformation(plan.middles[:numbers], plan.halves[:numbers])
        full = np.zeros((len(plan.basis), shift.shape[1]))
        places = {each: place for place, each in enumerate(plan.basis)}
        for row, (levels, powers) in zip(shift, plan.design.basis, strict=True):
            full[places[levels, (*powers, 0)]] = row
        directions, triangle = np.linalg.qr(full[:, : self.chosen])
        return directions, triangle

    @property
    def directions(self) -> Floats:
        return self._transformation[0]

    @cached_property
    def response(self) -> Floats:
        """The response in the basis, in half widths of its bounds."""
        plan = self.products.plan
        found = np.zeros(len(plan.basis))
        found[0], found[-1] = plan.middles[-1] / plan.halves[-1], 1.0
        return found

    @cached_property
    def _eigen(self) -> tuple[Floats, Floats]:
        gram = self.directions.T @ self.products.matrix @ self.directions
        values, vectors = np.linalg.eigh((gram + gram.T) / 2 + self.penalty * self._penalised)
        return values, vectors

    @cached_property
    def _penalised(self) -> Floats:
        """The squares of the coefficients in the basis, but for the constant."""
        slopes = self.directions[1:]
        return np.asarray(slopes.T @ slopes)

    @cached_property
    def identified(self) -> Floats:
        """Of each direction, whether its products are above their noise."""
        values, vectors = self._eigen
        floors = [self._noise_length(self.directions @ vector) for vector in vectors.T]
        return np.asarray(values > _NOISE_FLOOR * np.array(floors), dtype=np.float64)

    @property
    def missing_signal(self) -> float:
        """How much is missing to twice the noise in the direction that is carried least."""
        values, vectors = self._eigen
        longest = max(self._noise_length(self.directions @ vector) for vector in vectors.T)
        return max(0.0, 2 * _NOISE_FLOOR * longest - float(values[0]))

    def _noise_length(self, direction: Floats) -> float:
        return float(np.sqrt(np.trace(self.products.noise_of_products(self.directions, direction))))

    @cached_property
    def inverse(self) -> Floats:
        """Of the products of the directions with each other, where they are carried."""
        values, vectors = self._eigen
        weights = np.where(self.identified > 0, 1 / np.where(self.identified > 0, values, 1.0), 0.0)
        return np.asarray((vectors * weights) @ vectors.T)

    @cached_property
    def fitted(self) -> Floats:
        """The coefficients of the directions."""
        return np.asarray(self.inverse @ (self.directions.T @ self.products.matrix @ self.response))

    @cached_property
    def residual(self) -> Floats:
        """The residual as a combination of the basis."""
        return np.asarray(self.response - self.directions @ self.fitted)

    @cached_property
    def noise(self) -> Floats:
        """The covariance that noise makes in the coefficients of the directions."""
        between = self.products.noise_of_products(self.directions, self.residual)
        return np.asarray(self.inverse @ between @ self.inverse)

    @cached_property
    def _sampling(self) -> Floats:
        """The covariance that sampling makes in the coefficients of the directions, of residuals of variance 1."""
        if self.products.squares is None:
            return self.inverse
        return np.asarray(self.inverse @ self.products.spread_scores(self.directions) @ self.inverse)

    @cached_property
    def sum_of_squares(self) -> float:
        """Of the residuals: what noise makes a fit gain is given back."""
        found = float(self.residual @ self.products.matrix @ self.residual)
        gained = self.products.noise_of_products(self.directions, self.residual)
        return found + float(np.trace(self.inverse @ gained))

    @cached_property
    def noise_of_squares(self) -> float:
        """The standard deviation of the noise in that."""
        return float(np.sqrt(self.products.noise_of_products(self.residual[:, None], self.residual)[0, 0]))

    @cached_property
    def degrees_of_freedom(self) -> float:
        """The noisy number of rows, effective ones where they have weights, less that of columns; at least 1."""
        return max(1.0, self.products.effective_rows - self.chosen)

    @cached_property
    def _divisor(self) -> float:
        """What the sum of squares of the residuals is divided by: with weights, their sum with the same correction."""
        if self.products.squares is None:
            return self.degrees_of_freedom
        return (
            max(self.products.rows, 1e-6)
            * self.degrees_of_freedom
            / max(self.products.effective_rows, self.degrees_of_freedom)
        )

    @cached_property
    def variance(self) -> float:
        """Of the residuals, in half widths of the bounds; they leave at most one."""
        return min(1.0, max(self.sum_of_squares, self.noise_of_squares, 0.0) / self._divisor)

    # In the units of the columns and the response.

    @cached_property
    def _units(self) -> Floats:
        """How coefficients of columns follow from those of directions."""
        triangle = self._transformation[1]
        return np.asarray(np.linalg.inv(triangle) * self.products.plan.halves[-1])

    @cached_property
    def known(self) -> Floats:
        """Of each coefficient, whether it depends on directions that are carried alone."""
        loadings = (self._units @ self._eigen[1]) ** 2
        return np.asarray(loadings @ (1 - self.identified) <= _LOADING * loadings.sum(axis=1))

    @cached_property
    def coefficients(self) -> Floats:
        """NaN where they are not estimable."""
        return np.where(self.known, self._units @ self.fitted, np.nan)

    def covariance(self, *, population: bool) -> Floats:
        """Of the coefficients."""
        found = self.noise + (self.variance * self._sampling if population else 0.0)
        lost = self._eigen[1] * (1 - self.identified) * _SLOPE
        alike = np.asarray(self._units @ (found + lost @ lost.T) @ self._units.T)
        return alike + self._wider if population else alike

    @cached_property
    def _sampled(self) -> Floats:
        """The covariance that sampling makes in the coefficients, for residuals of one spread."""
        return np.asarray(self._units @ (self.variance * self._sampling) @ self._units.T)

    @cached_property
    def _wider(self) -> Floats:
        """What residuals of other spreads add to it."""
        if self.ratios is None:
            return np.zeros_like(self._sampled)
        return widen(self._sampled, self.ratios, intercept=self.products.plan.design.intercept) - self._sampled

    def widen_scores(self, own: Floats) -> Floats:
        """What they add to the covariance of the products of some combinations of the directions with the residuals."""
        gram = self.directions.T @ self.products.matrix @ self.directions
        ways = own.T @ self.directions @ gram @ np.linalg.inv(self._units)
        return np.asarray(ways @ self._wider @ ways.T)

    @property
    def _places(self) -> list[int]:
        """Where the basis of the design is in that of the sums."""
        plan = self.products.plan
        return [plan.basis.index((levels, (*powers, 0))) for levels, powers in plan.design.basis]

    def find_influences(self, unit: float) -> Influences:
        """Of the rows on the coefficients, for residuals in such a unit."""
        combinations = self._units @ self.inverse @ self.directions[self._places].T
        noise = np.diagonal(self._units @ self.noise @ self._units.T)
        return Influences(
            combinations * (unit / self.products.plan.halves[-1]), np.diagonal(self._sampled), noise, self.products.rows
        )

    def predict(self, unit: float, middle: float) -> Floats:
        """The coefficients of the design's basis, of a response that is counted from a middle in such a unit."""
        plan = self.products.plan
        found = self.directions @ self.fitted * (plan.halves[-1] / unit)
        found[0] -= middle / unit
        return np.asarray(found[self._places])

    @property
    def correction(self) -> float:
        """What the mean square of the residuals of a fit is multiplied with."""
        return max(self.products.rows, self._divisor) / self._divisor

    def scores(self, *, population: bool) -> "Scores":
        """What decides which coefficients go with the sums."""
        lengths = np.sqrt((self._units**2).sum(axis=1))  # units are taken out: they may be as large as anybody likes
        units = self._units / lengths[:, None]
        slopes = self.inverse @ units.T
        sizes = np.maximum(np.einsum("ij,ji->i", units, slopes), _LEAST)  # the inverse of what is seen of each
        ways = self.directions @ (slopes / sizes)  # along which one coefficient moves by 1, and the fit least
        covariance, products = self.products.maps.covariance, self.products
        at_fit = products.weigh_products(ways, self.residual)
        moved = np.stack([products.weigh_products(way[:, None], way)[0] for way in ways.T])
        variances = np.diagonal(self.covariance(population=population)) / lengths**2 / sizes**2
        return Scores(
            lengths,
            sizes,
            np.asarray(variances),
            np.einsum("ij,jk,ik->i", at_fit, covariance, moved),
            np.einsum("ij,jk,ik->i", moved, covariance, moved),
        )

    @property
    def explained(self) -> float | None:
        """The share of the squares of the response that the columns explain, about its mean if they have a constant."""
        plan, matrix = self.products.plan, self.products.matrix
        about = np.zeros(len(plan.basis))
        about[-1] = 1.0
        about[0] = -matrix[0, -1] / max(1.0, matrix[0, 0]) if plan.design.intercept else self.response[0]
        total = float(about @ matrix @ about)
        noise = float(np.sqrt(self.products.noise_of_products(about[:, None], about)[0, 0]))
        return min(1.0, max(0.0, 1 - self.sum_of_squares / total)) if total > _NOISE_FLOOR * noise else None

    @property
    def deviation(self) -> float:
        """The standard deviation of the residuals."""
        return float(np.sqrt(self.variance)) * self.products.plan.halves[-1]


@dataclass(frozen=True)
class Scores:
    """The scores of coefficients that are off by d lengths: d / size, with a variance that is quadratic in d.

    The products of the columns with each other are noisy, too. Where they are hardly above their noise, this makes
    intervals wider, and further to one side, than a standard error does (Fieller 1954).
    """

    lengths: Floats
    sizes: Floats
    at_fit: Floats
    slopes: Floats
    curvatures: Floats

    def interval(self, deviations: float) -> Bounds:
        """Which distances have scores within so many of their standard deviations."""
        variance = (self.at_fit, self.slopes * self.sizes, self.curvatures * self.sizes**2)  # of d in sizes
        zero, one = np.zeros_like(self.sizes), np.ones_like(self.sizes)
        lower, upper = fieller(zero, one, variance, deviations, floor=_LEAST_SEEN)
        return lower * self.sizes * self.lengths, upper * self.sizes * self.lengths

    def statistics(self, distances: Floats) -> Floats:
        """The scores of such distances, in their standard deviations."""
        apart = distances / self.lengths
        variances = self.at_fit - 2 * apart * self.slopes + apart**2 * self.curvatures
        return apart / self.sizes / np.sqrt(np.maximum(variances, _LEAST))
