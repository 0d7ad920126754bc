"""Many samples of one population, and the noisy sums that would be measured of each: for coverage by simulation.

A population is the probability of each value of a grid, so that what is true of it is known exactly and samples of any
size are drawn as numbers of rows with each value.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import comb, erf, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.losses import rho_of
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.privacy.scans import Total
from adomnia.statistics.contract import Measured

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from adomnia.statistics.contract import Estimate

DRAWS = 3500
SIZES = (100, 1000, 10_000)
PRICES = (Pure(1), Concentrated(rho_of(1, 1e-6)))
WIDTH = 200  # values are whole numbers from 0 to this
VALUES = np.arange(WIDTH + 1.0)
PAY = Column("pay", Quantity(Fraction(0), Fraction(WIDTH), whole=True), Numbers.integers(0, WIDTH))
BIT = Column("bit", Quantity(Fraction(0), Fraction(1), whole=True), Numbers.integers(0, 1))


def query_of(column: Column) -> Query:
    """The sum of a column over a table with one row a person."""
    return Query(Private("people", 1, (column,)), (), Total(column, column.domain))


def _weigh(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return weights / weights.sum()


def _lognormal() -> NDArray[np.float64]:
    """Skewed, with a heavy tail that is clamped at the upper bound."""
    below = np.array([0.5 * (1 + erf(np.log((value + 0.5) / 10) / sqrt(2))) for value in VALUES[:-1]])
    return np.diff(np.concatenate([[0.0], below, [1.0]]))


POPULATIONS: dict[str, NDArray[np.float64]] = {
    "normal": _weigh(np.exp(-0.5 * np.square((VALUES - 100) / 25))),
    "lognormal": _lognormal(),
    "rounded": _weigh(np.exp(-0.5 * np.square((VALUES - 100) / 40)) * (VALUES % 20 == 0)),
    "mostly zero": _weigh(np.where(VALUES == 0, 0.9 * WIDTH, 0.1)),
    "constant": _weigh(np.where(VALUES == 60, 1.0, 0.0)),
    "clusters": _weigh(np.where(np.abs(VALUES - 20) <= 4, 0.3, np.where(np.abs(VALUES - 180) <= 4, 0.7, 0.0))),
}


class Truth(NamedTuple):
    mean: float
    deviation: float
    fourth: float  # the mean of the fourth power of distances from the mean


def truth_of(population: NDArray[np.float64]) -> Truth:
    """What is true of a population."""
    mean = float(population @ VALUES)
    return Truth(mean, sqrt(population @ (VALUES - mean) ** 2), float(population @ (VALUES - mean) ** 4))


@cache
def draw_samples(name: str, size: int, draws: int = DRAWS) -> NDArray[np.float64]:
    """In each line, how many rows of a sample have each value."""
    random = np.random.default_rng([len(name), size])
    return random.multinomial(size, POPULATIONS[name], draws).astype(np.float64)


def noise_of(mechanism: Any, shape: tuple[int, ...], random: Generator) -> NDArray[np.float64]:
    """Draws of the noise that a mechanism adds, in doubles: it is wide beside a whole number."""
    if isinstance(mechanism, DiscreteLaplace):
        return random.laplace(0, float(mechanism.scale), shape)
    return random.normal(0, sqrt(mechanism.variance), shape)


def estimate_samples(statistic: Any, price: Any, samples: NDArray[np.float64], random: Generator) -> Estimate:
    """The estimates of many samples, one in each line, as cells of one answer."""
    flow = statistic.steps(price)
    (measure,) = next(flow)
    degree, width = len(measure.query.aggregate.entries) - 1, samples.shape[1] - 1
    above = np.arange(width + 1.0)
    powers = [comb(degree, k) * above**k * (width - above) ** (degree - k) for k in range(degree + 1)]
    exact = samples @ np.stack(powers, axis=-1)
    released: Any = np.rint(exact + noise_of(measure.mechanism, exact.shape, random))
    try:
        flow.send((Measured(released, measure.mechanism),))
    except StopIteration as end:
        return end.value
    raise AssertionError("The statistic has more than one round.")


def cover(estimate: Estimate, true: float, confidence: float = 0.95) -> float:
    """How often the interval holds what is true; the last bit of it is computed in doubles here."""
    lower, upper = estimate.interval(confidence, 1)
    return float(((lower <= true + 1e-9) & (true - 1e-9 <= upper)).mean())
