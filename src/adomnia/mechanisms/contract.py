"""What every mechanism promises: joining the registry claims it, and the contract tests hold the class to it.

Its intervals are read off a noise's own tail: exact for integers, with the coverage they really have.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, expm1, log, log1p, pi, sqrt
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.secret import Secret
from adomnia.noise import Bits, Integers
from adomnia.privacy.events import Approximate, Event, Price
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Form
from adomnia.privacy.sensitivity import Sensitivity

Dependence: TypeAlias = Literal["independent", "any"]


@dataclass(frozen=True)
class Interval:
    """All the exact values lie within `half_width` of the noisy ones with probability `coverage`."""

    half_width: int
    coverage: float


def find_alpha(confidence: float, cells: int = 1, dependence: Dependence = "independent") -> float:
    """How often each of so many intervals may miss, if all are to hold at once with that confidence.

    Sidak's where they are independent, or where Sidak 1967 shows that they hold together at least as often: linear
    functions of normal noises, and of Laplace ones, which are normal given their scales. Bonferroni's otherwise.

    >>> [round(find_alpha(0.95, 10, dependence), 6) for dependence in ("independent", "any")]
    [0.005116, 0.005]
    """
    if not 0 < confidence < 1:
        raise ValueError(f"Interval confidence must be above 0 and below 1, got {confidence}.")
    if cells < 1:
        raise ValueError(f"Interval cells must be at least 1, got {cells}.")
    return (1 - confidence) / cells if dependence == "any" else -expm1(log(confidence) / cells)


def narrowest(tail: Callable[[int], float], confidence: float, cells: int) -> Interval:
    """The narrowest interval of at least that confidence, from tail(k) = P[|noise| > k].

    The noise of different cells is independent, so all of them are covered with the product of their coverages.
    """
    alpha = find_alpha(confidence, cells)
    half_width = least(lambda k: tail(k) <= alpha)
    missed = tail(half_width)
    return Interval(half_width, exp(cells * log1p(-missed)) if missed < 1 else 0.0)


def least(holds: Callable[[int], bool]) -> int:
    """The least k >= 0 from which a monotone property holds."""
    above = 0
    while not holds(above):
        above = 2 * above + 1
    below = above // 2 - 1
    while above - below > 1:
        middle = (above + below) // 2
        below, above = (below, middle) if holds(middle) else (middle, above)
    return above


PriceKind: TypeAlias = type[Price] | type[Approximate]
Tails: TypeAlias = Literal["gaussian", "laplace"]
Floats: TypeAlias = NDArray[np.float64]
Bounds: TypeAlias = tuple[Floats, Floats]


class Mechanism(Protocol):
    """One release: what it reads, what it costs, and what comes out."""

    prices: ClassVar[tuple[PriceKind, ...]]  # what it can be bought with
    reads: ClassVar[Form]  # the form of the exact answers that it opens

    @classmethod
    def for_query(cls, query: Query, price: Any) -> Self:  # noqa: ANN401 - one of its prices
        """The most exact release of a query whose event costs at most the price."""
        ...

    def event(self, sensitivity: Sensitivity) -> Event:
        """What one release costs when one person moves the exact answer by at most that much."""
        ...

    def release(self, secret: Any, bits: Bits) -> Any:  # noqa: ANN401 - the secret of what it reads
        """What comes out: all that anybody ever sees of the exact answer."""
        ...


class Numeric(Mechanism, Protocol):
    """A release of integers in a public shape: what one measurement is made by."""

    def shape(self, query: Query) -> tuple[int, ...]:
        """The shape of what comes out for a query."""
        ...


@runtime_checkable
class OfHistogram(Numeric, Protocol):
    """A release about the values of a grid that rows hold."""

    def spread_evenly(self, rows: int) -> Integers:
        """What would be released without noise of so many rows whose values lie evenly over the grid."""
        ...


class Cumulants(NamedTuple):
    """The variance and the fourth cumulant: of independent noises they add up."""

    variance: float
    fourth: float


class Continuous(NamedTuple):
    """The Laplace or normal distribution that noise has once every integer is spread evenly over a unit, about.

    It is never narrower than the noise: intervals of sums are read off it. They would miss too often by the variance of
    the integers, which of small Laplace noise is less while its tails fall no faster. Its `scale` is Laplace's, or the
    standard deviation of the normal one. Of a sum of noises it is what each of so many has.

    >>> Continuous("laplace", 3.0).cumulants
    Cumulants(variance=18.0, fourth=972.0)
    """

    tails: Tails
    scale: float
    times: int = 1

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return sqrt(2 * self.times if self.tails == "laplace" else self.times) * self.scale

    @property
    def mean_size(self) -> float:
        """The mean of the absolute value of one."""
        return self.scale if self.tails == "laplace" else self.scale * sqrt(2 / pi)

    @property
    def cumulants(self) -> Cumulants:
        """Those of this distribution: a little more than those of the noise."""
        square, times = self.scale**2, self.times
        if self.tails == "gaussian":
            return Cumulants(times * square, 0.0)
        return Cumulants(2 * times * square, 12 * times * square**2)


class Noise(Numeric, Protocol):
    """Additive integer noise, symmetric, and independent on each coordinate.

    All that is known of a noise is said here: nobody outside of `mechanisms` and `distributions` asks for its class.
    """

    family: ClassVar[str]  # what it is called: Laplace

    @classmethod
    def calibrated(cls, sensitivity: Sensitivity, price: Price) -> Self:
        """The least noise whose event costs at most the price."""
        ...

    def release(self, secret: Secret, bits: Bits) -> Integers:
        """The exact vector plus noise."""
        ...

    def probability(self, k: int) -> float:
        """P[noise = k]; what the sampler and the guarantee are tested against."""
        ...

    def log_probability(self, k: Floats) -> Floats:
        """The logarithm of P[noise = k], and of a smooth function in between."""
        ...

    def tail(self, k: int) -> float:
        """P[|noise| > k] for k >= 0."""
        ...

    def interval(self, confidence: float, cells: int = 1) -> Interval:
        """The narrowest interval around a noisy value that holds the exact one; around all of `cells` at once."""
        ...

    @property
    def size(self) -> str:
        """Its parameter in words, rounded up: scale 20."""
        ...

    @property
    def cumulants(self) -> Cumulants:
        """The exact ones of the integers."""
        ...

    @property
    def continuous(self) -> Continuous:
        """What stands for it in sums of many noises."""
        ...


class Selection(Numeric, Protocol):
    """Choosing one of several candidates by their exact integer scores."""

    @classmethod
    def calibrated(cls, sensitivity: Sensitivity, price: Price) -> Self:
        """The sharpest choice whose event costs at most the price."""
        ...

    def release(self, secret: Secret, bits: Bits) -> int:
        """The index of the chosen candidate."""
        ...

    def probabilities(self, scores: Integers) -> Floats:
        """The distribution of the choice; what the sampler and the guarantee are tested against."""
        ...
