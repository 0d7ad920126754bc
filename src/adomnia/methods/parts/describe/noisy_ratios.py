"""Quotients and shares of noisy sums, with their intervals of noise and sampling; and whom intervals are about."""

from dataclasses import dataclass

import numpy as np

from adomnia.distributions.fieller import fieller
from adomnia.distributions.margins import deviations
from adomnia.errors import Refusal
from adomnia.mechanisms.contract import find_alpha
from adomnia.messages.texts import Note, define_note
from adomnia.methods.contract import Arguments, Frame
from adomnia.statistics.contract import Bounds, Estimate, Floats

POPULATION = define_note(
    "about_population",
    "Intervals are about the population that the people are a sample of: they allow for sampling and for noise.",
)
DATA = define_note("about_data", "Intervals are about the data: they allow for noise alone.")
BEYOND_BOUNDS = define_note("beyond_bounds", "Values beyond the declared bounds count as the bounds.")


@dataclass(frozen=True)
class NoisyRatio:
    """The quotient of two noisy numbers, in every row.

    If r is the true quotient, `top - r * bottom` is an error of mean zero, whose variance `a - 2 b r + c r**2` is made
    of noise and of sampling. All r that it allows for are the interval (Fieller 1954). Where the divisor may be zero,
    or below, the limits are.
    """

    top: Floats
    bottom: Floats
    variance: tuple[Floats, Floats, Floats]
    fourth: Floats  # the fourth cumulant of the error
    limits: tuple[float, float]

    @property
    def values(self) -> Floats:
        """The quotients, within their limits; in their middle where the divisor is not above zero."""
        seen = self.bottom > 0
        found = np.where(seen, self.top, sum(self.limits) / 2) / np.where(seen, self.bottom, 1.0)
        return np.clip(found, *self.limits)

    def bounds(self, confidence: float, cells: int) -> Bounds:
        """The interval of every row."""
        values, (a, b, c) = self.values, self.variance
        spread = np.maximum(a - 2 * b * values + c * values**2, 0.0)
        far = deviations(spread, self.fourth, find_alpha(confidence, cells))
        lower, upper = fieller(self.top, self.bottom, self.variance, far)
        return np.clip(np.minimum(lower, values), *self.limits), np.clip(np.maximum(upper, values), *self.limits)

    def estimate(self, method: str, scale: float = 1.0, offset: float = 0.0, rounding: float = 0.0) -> Estimate:
        """The same as an estimate in other units; `rounding` is how far values on their grid may be off."""
        low, high = (offset + scale * limit for limit in self.limits)

        def number(share: Floats, beside: float = 0.0) -> Floats:
            return np.clip(offset + scale * share + beside, low, high)

        def interval(confidence: float, cells: int) -> Bounds:
            lower, upper = self.bounds(confidence, cells)
            return number(lower, -rounding), number(upper, rounding)

        return Estimate(np.atleast_1d(number(self.values)), interval, method)


def less_one(rows: float) -> float:
    """What the mean of squares is multiplied by, so that it is divided by one row less, as the variance of a sample."""
    return max(rows, 2.0) / (max(rows, 2.0) - 1)


def read_inference(frame: Frame, arguments: Arguments, name: str) -> bool:
    """Whether intervals are about the population; refused where rows are not independent."""
    population = bool(arguments["inference"] == "population")
    if population and frame.relation.rows_per_person > 1:
        why = "takes each row for a person of its own, and one person may have several rows here"
        fix = "make one row of each person in the brackets (GROUP BY the person), or write inference => 'data'"
        raise Refusal(f"{name}()", why, fix, code="rows_per_person")
    return population


def describe_inference(*, population: bool) -> Note:
    """The note that says so."""
    return POPULATION if population else DATA


@dataclass(frozen=True)
class NoisyCounts:
    """Noisy numbers of rows, each the sum of so many cells whose noise is independent."""

    values: Floats
    cells: Floats
    cumulants: tuple[float, float]

    def estimate(self) -> Estimate:
        """The numbers of rows in the data."""
        variance, fourth = (self.cells * each for each in self.cumulants)

        def interval(confidence: float, cells: int) -> Bounds:
            far = deviations(variance, fourth, find_alpha(confidence, cells)) * np.sqrt(variance)
            # A number of rows is whole, and never below zero.
            ends = np.floor(self.values - far), np.ceil(self.values + far)
            return np.maximum(ends[0], 0.0), np.maximum(ends[1], 0.0)

        return Estimate(np.maximum(np.rint(self.values), 0.0), interval, "noisy count", whole=True)

    def share_of(self, all_rows: "NoisyCounts", *, population: bool) -> NoisyRatio:
        """The shares of others, of which these are parts; sampled ones vary as those of a binomial distribution."""
        variance, fourth = self.cumulants
        sampled = np.maximum(all_rows.values, 0.0) * population
        square = (
            variance * self.cells,
            variance * self.cells - sampled / 2,
            variance * all_rows.cells - sampled,
        )
        plain = NoisyRatio(self.values, all_rows.values, square, np.zeros_like(self.values), (0.0, 1.0))
        share, rest = plain.values, all_rows.cells - self.cells
        fourths = fourth * (self.cells * (1 - share) ** 4 + rest * share**4)
        return NoisyRatio(self.values, all_rows.values, square, fourths, (0.0, 1.0))
