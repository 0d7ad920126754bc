"""How much farther responses scatter than the model says: the sum of their squared residuals, which one more sum tells.

If the variance of a response is its mean times a dispersion, squared residuals add up to the means times that. Visits,
days and claims scatter several times farther than Poisson counts do.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import floor, log2
from typing import TYPE_CHECKING, cast

from adomnia.messages.texts import Note, NoteTemplate, define_note
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Price
from adomnia.privacy.expressions import Expression, call, number
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Total
from adomnia.statistics.contract import Measure, Measured

if TYPE_CHECKING:
    from adomnia.mechanisms.contract import Noise

PART = Fraction(2, 25)  # of what the last round costs
_STEPS = 2**16  # of the grid of a square
_NOISE = 0.5  # the most that noise may add to a dispersion of 1: larger squares are cut
_BESIDE = 0.3  # the same, as a part of the variance of the noise in scores
_AMOUNT = 0.08  # the same, as a part of the squared means
_FEWEST = 16  # times the mean response: no square below is cut
_LEAST, _MOST = 0.1, 1e12  # of a dispersion: amounts of money may have a large one


@dataclass(frozen=True)
class ScatterSum:
    """The sum of the squares of residuals over all rows; none counts for more than the ceiling."""

    relation: Relation
    residual: Expression
    ceiling: Fraction

    def measure(self, price: Price) -> Measure:
        """One sum, of which a person moves the same number of steps whatever the ceiling is."""
        square = call("*", self.residual, self.residual)
        return Measure(Query(self.relation, (), Total(square, Numbers(0, self.ceiling, self.ceiling / _STEPS))), price)

    def estimate(self, measured: Measured, expected: float) -> float:
        """The dispersion, with one standard deviation of its noise: `expected` is the sum of the model's variances."""
        most = (max(0.0, float(measured.values)) + measured.noise.continuous.deviation) * float(self.ceiling / _STEPS)
        return min(max(most / max(expected, 1e-300), _LEAST), _MOST)


_SCATTER_LOST = define_note("scatter_lost", "How far the response scatters is lost in the noise.")
_DISPERSION = NoteTemplate(
    "dispersion",
    "The variance of the response is at most about {dispersion:.3g} times that of a Poisson count (noisy). Standard "
    "errors allow for it.",
)


def describe_dispersion(dispersion: float) -> Note:
    """What standard errors allow for."""
    return _SCATTER_LOST if dispersion >= _MOST else _DISPERSION(dispersion=dispersion)


def find_highest(largest_residual: Fraction) -> Fraction:
    """A ceiling above all squares."""
    return _power_of_two(float(largest_residual) ** 2, up=1)


def choose_ceiling(noise: float, expected: float, mean: float, score_noise: float) -> Fraction:
    """The largest square that counts, if such a part of it is the noise of the sum.

    That noise is to be small beside what squares add up to in the model, whose variances are `mean` each and add up to
    `expected`, or beside the variance of the noise of scores: all of them move the coefficients alike. Amounts scatter
    as far as their mean is from zero, or nearly so: then more noise is small enough.
    """
    most = max(_NOISE * expected, _BESIDE * score_noise**2, _AMOUNT * expected * mean)
    return _power_of_two(max(most / noise, _FEWEST * mean))


def predict_noise(rows: Relation, price: Price) -> float:
    """The noise of a sum of numbers of one sign at a price, in parts of the largest."""
    noise = cast("Noise", ScatterSum(rows, number(0), Fraction(1)).measure(price).mechanism)
    return noise.continuous.deviation / _STEPS


def _power_of_two(size: float, up: int = 0) -> Fraction:
    return Fraction(2) ** (floor(log2(max(size, 1e-12))) + up)
