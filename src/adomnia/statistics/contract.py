"""What a statistic promises: it asks for noisy measurements, computes on arrays, and never holds data."""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.contract import Noise
from adomnia.mechanisms.registry import NOISES
from adomnia.noise import Integers
from adomnia.privacy.aggregates import Histogram
from adomnia.privacy.events import Event, Price
from adomnia.privacy.queries import Query
from adomnia.statistics.ranks import choice

Floats: TypeAlias = NDArray[np.float64]
Bounds: TypeAlias = tuple[Floats, Floats]


@dataclass(frozen=True)
class Measure:
    """One noisy measurement that a statistic asks for: what, and for how much."""

    query: Query
    price: Price

    def noise(self) -> Noise:
        """The least noise that the price buys: epsilon buys Laplace noise, rho buys Gaussian; values are chosen."""
        return self._noise

    @cached_property
    def _noise(self) -> Noise:
        if isinstance(self.query.aggregate, Histogram):
            # Chosen and not noisy: only who asked for it looks at it, and only to see what it asked for.
            return choice(self.query, self.price)  # type: ignore[return-value]
        (kind,) = (noise for noise in NOISES.values() if noise.price is type(self.price))
        return kind.calibrated(self.query.sensitivity(), self.price)


@dataclass(frozen=True)
class Measured:
    """The answer to a Measure: exact integers plus noise of a known law, in the shape of the query's cells."""

    values: Integers
    noise: Noise


Parts: TypeAlias = tuple[tuple[Measured, Fraction], ...]


@dataclass(frozen=True)
class Estimate:
    """The result over all cells: values, and intervals at any confidence, for one cell or for all of them at once."""

    values: Floats
    interval: Callable[[float, int], Bounds]  # (confidence, cells to cover at once) -> lower, upper
    method: str
    whole: bool = False  # every value is an integer
    parts: Parts = ()  # noisy integers times constants that add up to it; none where it is computed otherwise


Round: TypeAlias = tuple[Measure, ...]
Steps: TypeAlias = Generator[Round, tuple[Measured, ...], Estimate]


class Statistic(Protocol):
    """A generator of rounds. `event` states the whole cost before the first round."""

    def steps(self, price: Price) -> Steps:
        """Yield rounds of Measures, be sent one Measured for each, return the Estimate."""
        ...

    def event(self, price: Price) -> Event:
        """What all rounds together cost."""
        ...
