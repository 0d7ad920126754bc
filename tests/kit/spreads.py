"""Statistics of two made-up columns: exact answers to what they measure, noise, and what plain arithmetic says."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt, prod
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import beta

from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.noise import discrete_gaussian, discrete_laplace
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Call, Column, Expression, Literal
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.privacy.scans import NonNull, Total
from adomnia.privacy.vectors import Vector
from adomnia.statistics.contract import Estimate, Measure, Measured, Statistic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from adomnia.mechanisms.contract import Noise
    from adomnia.noise import Bits
    from adomnia.privacy.events import Price

    Columns = Mapping[str, NDArray[np.float64]]

X = Column("x", Quantity(Fraction(0), Fraction(100)), Numbers.bounded(0, 100))
Y = Column("y", Quantity(Fraction(-50), Fraction(450)), Numbers.bounded(-50, 450))
W = Column("w", Quantity(Fraction(0), Fraction(60), whole=True), Numbers.integers(0, 60))
ROWS = Private("rows", 1, (X, Y, W))
OF_X = Query(ROWS, (), Total(X, X.domain))  # type: ignore[arg-type]  # they have domains
OF_Y = Total(Y, Y.domain)  # type: ignore[arg-type]
OF_W = Query(ROWS, (), Total(W, W.domain))  # type: ignore[arg-type]

SIZES = (200, 1000, 10_000)
DRAWS = 10_000


def _normal(size: int, random: np.random.Generator) -> Columns:
    x = np.clip(random.normal(30, 12, size), 0, 100)
    return {"x": x, "y": np.clip(2 * x + random.normal(0, 20, size), -50, 450)}


SHAPES: dict[str, Callable[[int, np.random.Generator], Columns]] = {
    "even": lambda size, random: {"x": random.uniform(0, 100, size), "y": random.uniform(-50, 450, size)},
    "normal": _normal,
    "skewed": lambda size, random: {
        "x": np.clip(random.exponential(10, size), 0, 100),
        "y": np.clip(random.exponential(60, size) - 50, -50, 450),
    },
    "nearly constant": lambda size, random: {
        "x": 90 + random.uniform(0, 0.5, size),
        "y": 400 + random.uniform(0, 2, size),
    },
}


def columns(shape: str, size: int) -> Columns:
    """The same rows every time."""
    return SHAPES[shape](size, np.random.default_rng(size))


def evaluated(expression: Expression, rows: Columns) -> Any:
    """A value for every row, NaN for NULL."""
    match expression:
        case Column(name=name):
            return rows[name]
        case Literal(value=value):
            return np.nan if value is None else float(value)  # type: ignore[arg-type]
        case Call(function=function, arguments=arguments):
            return _FUNCTIONS[function](*(evaluated(argument, rows) for argument in arguments))


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "-": np.subtract,
    "*": np.multiply,
    "is null": np.isnan,
    "case": np.where,
}


def exact(query: Query, rows: Columns) -> Any:
    """What the query gives for those rows."""
    aggregate = query.aggregate
    if isinstance(aggregate, Vector):
        return _exact_vector(aggregate, rows)
    assert isinstance(aggregate, NonNull | Total)
    values = evaluated(aggregate.value, rows)
    there = values[~np.isnan(values)]
    if isinstance(aggregate, NonNull):
        return len(there)
    domain = aggregate.domain
    grid = np.clip(np.floor(there / float(domain.step) + 0.5), domain.grid_lower, domain.grid_upper)
    return int((grid - aggregate.centre).sum())


def _exact_vector(vector: Vector, rows: Columns) -> NDArray[np.object_]:
    """The sums of all entries, in Python's integers; then what the rows without the value add."""
    values = [evaluated(each.value, rows) for each in vector.variables]
    there = ~np.any(np.isnan(values), axis=0)
    grids = [
        np.clip(np.floor(value[there] / float(each.domain.step) + 0.5), each.domain.grid_lower, each.domain.grid_upper)
        for value, each in zip(values, vector.variables, strict=True)
    ]
    steps = [
        (grid - each.domain.grid_lower).astype(np.int64).astype(object)
        for grid, each in zip(grids, vector.variables, strict=True)
    ]
    sums = [
        sum(
            coefficient * int(np.sum(prod([step**power for step, power in zip(steps, exponents, strict=True)])))
            for coefficient, exponents in entry.terms
        )
        for entry in vector.entries
    ]
    return np.array([*sums, *[vector.absent * int((~there).sum())] * bool(vector.absent)], dtype=object)


def drawn(noise: Noise, draws: int | tuple[int, ...], bits: Bits, wider: int = 1) -> Any:
    """Noise as it is stated, or so many times as wide."""
    shape = draws if isinstance(draws, tuple) else (draws,)
    match noise:
        case DiscreteLaplace(scale=scale):
            step = _step(int(scale * wider))
            found = discrete_laplace(scale * wider / step, shape, bits)
        case DiscreteGaussian(variance=variance):
            step = _step(isqrt(int(variance * wider**2)))
            found = discrete_gaussian(variance * wider**2 / step**2, shape, bits)
        case _:
            raise AssertionError(noise)
    return found.astype(object) * step if step > 1 else found


def _step(width: int) -> int:
    """What noise is a multiple of: beyond 64 bits it is drawn one by one, and no interval shows a part in 2**40."""
    return 1 << width.bit_length() - 40 if width.bit_length() > 48 else 1


def answered(statistic: Statistic, price: Price, given: Callable[[Any], Any]) -> Estimate:
    """The estimate of a statistic of one round, whose measures are answered as given."""
    flow = statistic.steps(price)
    measured = tuple(Measured(np.asarray(given(measure)), measure.mechanism) for measure in next(flow))
    with pytest.raises(StopIteration) as end:
        flow.send(measured)
    found: Estimate = end.value.value
    return found


def estimated(  # noqa: PLR0913, PLR0917 - all that an answer depends on
    statistic: Statistic, price: Price, rows: Columns, bits: Bits, wider: int = 1, draws: int = DRAWS
) -> Estimate:
    """DRAWS answers to the same rows."""

    def given(measure: Measure) -> Any:
        truth = exact(measure.query, rows)
        return truth + drawn(measure.mechanism, (draws, *np.shape(truth)), bits, wider)

    return answered(statistic, price, given)


def at_most(hits: int, tries: int) -> float:
    """The upper end of the interval of Clopper and Pearson: a true share is above it once in a million."""
    return float(beta.ppf(1 - 1e-6, hits + 1, tries - hits)) if hits < tries else 1.0
