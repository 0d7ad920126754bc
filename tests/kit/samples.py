"""Many samples of one population, and the noisy sums that would be measured of each: for coverage by simulation."""

from __future__ import annotations

from fractions import Fraction
from math import comb, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.privacy.aggregates import Total
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.statistics.contract import Measured

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    from adomnia.statistics.contract import Estimate

    Draw = Callable[[Generator, tuple[int, ...]], NDArray[np.float64]]

WIDTH = 1000  # values are whole numbers from 0 to this
PAY = Column("pay", Quantity(Fraction(0), Fraction(WIDTH), whole=True), Numbers.integers(0, WIDTH))
PEOPLE = Query(Private("people", 1, (PAY,)), (), Total(PAY, PAY.domain))


def _scaled(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.rint(np.clip(shares, 0, 1) * WIDTH)


def _mostly_zero(random: Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    return _scaled(np.where(random.random(shape) < 0.1, random.random(shape), 0))


def _clusters(random: Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    return _scaled(np.where(random.random(shape) < 0.3, 0.1, 0.9) + random.uniform(-0.02, 0.02, shape))


POPULATIONS: dict[str, Draw] = {
    "normal": lambda random, shape: _scaled(random.normal(0.5, 0.125, shape)),
    "lognormal": lambda random, shape: _scaled(random.lognormal(0, 1, shape) / 20),
    "rounded": lambda random, shape: _scaled(np.round(random.normal(0.5, 0.2, shape), 1)),
    "mostly zero": _mostly_zero,
    "constant": lambda _, shape: np.full(shape, 300.0),
    "clusters": _clusters,
}


def noise_of(mechanism: Any, shape: tuple[int, ...], random: Generator) -> NDArray[np.float64]:
    """Draws of the noise that a mechanism adds, in doubles: it is wide beside a whole number."""
    if isinstance(mechanism, DiscreteLaplace):
        return random.laplace(0, float(mechanism.scale), shape)
    return random.normal(0, sqrt(mechanism.variance), shape)


def estimate_samples(statistic: Any, price: Any, samples: NDArray[np.float64], random: Generator) -> Estimate:
    """The estimates of many samples, one in each row, as cells of one answer."""
    flow = statistic.steps(price)
    (measure,) = next(flow)
    degree = len(measure.query.aggregate.entries) - 1
    (variable,) = measure.query.aggregate.variables
    width = variable.domain.width
    above = samples - float(variable.domain.grid_lower)
    sums = [comb(degree, k) * (above**k * (width - above) ** (degree - k)).sum(axis=-1) for k in range(degree + 1)]
    exact = np.stack(sums, axis=-1)
    released: Any = exact + noise_of(measure.mechanism, exact.shape, random)
    try:
        flow.send((Measured(released, measure.mechanism),))
    except StopIteration as end:
        return end.value
    raise AssertionError("The statistic has more than one round.")
