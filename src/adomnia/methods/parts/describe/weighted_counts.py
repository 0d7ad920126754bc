"""Sums of sampling weights and shares of them, in cells: what numbers of rows are where every row weighs the same."""

from dataclasses import dataclass

import numpy as np

from adomnia.distributions.margins import deviations
from adomnia.mechanisms.interval import find_alpha
from adomnia.messages.notes import define_note
from adomnia.methods.contract import NumberColumn
from adomnia.methods.parts.describe.noisy_ratios import NoisyRatio
from adomnia.methods.sampling_weights import SamplingWeights
from adomnia.privacy.polynomials import constant
from adomnia.privacy.vectors import Vector
from adomnia.statistics.contract import Bounds, Estimate, Floats, Measured

WEIGHTED_NOTE = define_note("counts_are_weights", "Counts are sums of weights.")
_FEW = (
    4.0  # rows of the usual weight that a cell is taken to have at least, where sampling is allowed for (Wilson 1927)
)


def weight_vector(weights: NumberColumn, *, population: bool) -> Vector:
    """What is measured in a cell: the sum of weights, for the population in two parts that tell the squares, too."""
    return SamplingWeights(weights).vector((), (constant(1, 0),), split=population)


@dataclass(frozen=True)
class WeightedCounts:
    """Noisy sums of weights, each of so many cells; `squares` are the sums of squared weights, where they are told."""

    values: Floats
    squares: Floats
    noises: Floats  # how many independent noises are in each
    cumulants: tuple[float, float]

    @classmethod
    def of(cls, measured: Measured, weights: NumberColumn, *, population: bool) -> "WeightedCounts":
        """The cells of what was measured."""
        weighting = SamplingWeights(weights)
        unit = weighting.upper / weighting.size(split=population)
        entries = np.atleast_2d(np.asarray(measured.values, dtype=np.float64)) * unit
        variance, fourth = measured.noise.continuous.cumulants
        squares = entries[..., 0] * weighting.upper if population else np.zeros(entries.shape[:-1])
        noises = np.full(entries.shape[:-1], float(entries.shape[-1]))
        return cls(entries.sum(axis=-1), squares, noises, (variance * unit**2, fourth * unit**4))

    @property
    def whole(self) -> "WeightedCounts":
        """The sum of all cells, beside each of them."""
        parts = (np.full(each.shape, each.sum()) for each in (self.values, self.squares, self.noises))
        values, squares, noises = parts
        return WeightedCounts(values, squares, noises, self.cumulants)

    def estimate(self) -> Estimate:
        """The sums of weights in the data."""
        variance, fourth = (self.noises * each for each in self.cumulants)

        def interval(confidence: float, cells: int) -> Bounds:
            far = deviations(variance, fourth, find_alpha(confidence, cells)) * np.sqrt(variance)
            return np.maximum(self.values - far, 0.0), np.maximum(self.values + far, 0.0)

        return Estimate(np.maximum(self.values, 0.0), interval, "noisy sum of weights")

    def share_of(self, whole: "WeightedCounts", *, population: bool) -> NoisyRatio:
        """The shares of others, of which these are parts.

        A part less r times the whole is the sum of w (1 - r) in the part and of -w r beside it: with the squares of
        weights Q and R there, sampling makes it vary by Q (1 - r)^2 + R r^2.
        """
        variance, fourth = self.cumulants
        usual = np.maximum(whole.squares, 0.0) / np.maximum(whole.values, 1e-9)
        few = _FEW * usual**2 * population
        beside = whole.noises > self.noises  # else it is the whole itself
        own, rest = np.maximum(self.squares, few), np.maximum(whole.squares - self.squares, few) * beside
        square = (variance * self.noises + own, variance * self.noises + own, variance * whole.noises + own + rest)
        plain = NoisyRatio(self.values, whole.values, square, np.zeros_like(self.values), (0.0, 1.0))
        share = plain.values
        law = fourth * (self.noises * (1 - share) ** 4 + (whole.noises - self.noises) * share**4)
        return NoisyRatio(self.values, whole.values, square, law, (0.0, 1.0))
