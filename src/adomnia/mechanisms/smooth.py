"""One quantile with noise of its smooth sensitivity: little where values lie close around it, much where they do not.

Rows of a person are taken in steps: all at once where there is one cell, else in whichever way has less noise. How many
steps a person makes at most, over all cells, is public, and each pays its part of the price. docs/proofs/smooth.md.

A smooth bound is how far one person moves a statistic here, or moves it near here, the less the farther away. With
local(k), how far one person moves it within k people of the data, S = max_k weight(k) * local(k) is at least
local(0), and no neighbour has one that is exp(beta) times smaller or larger. It is private: noise may follow from it,
and nobody is told. Proof: docs/proofs/smooth.md, 1.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, prod
from typing import ClassVar, NamedTuple, Self, final

import numpy as np

from adomnia.mechanisms.admissible import Rates, cauchy_rates, laplace_rates, student_rates
from adomnia.mechanisms.contract import PriceKind
from adomnia.mechanisms.envelopes import MOST_ROWS, OrderStatistic, ValueCounts
from adomnia.mechanisms.histograms import Buckets, Flow, Known, Rows, SecretHistogram, count_buckets, run_cells
from adomnia.mechanisms.quantiles import FINEST_SHARE, check_values
from adomnia.noise import Bits, Integers, round_cauchy, round_laplace, round_student
from adomnia.noise.discrete import NotDrawableError
from adomnia.privacy.amounts import DELTA_UNIT
from adomnia.privacy.enclosures import exp_bounds, exp_up, sqrt_down
from adomnia.privacy.events import AnyPrice, Approximate, Concentrated, Event, Pure
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Form
from adomnia.privacy.sensitivity import Sensitivity

LEAST = Fraction(1, 2**24)  # of a bound, in steps of the grid: noise of its scale is rounded to nothing
MOST_STEPS = 2**20  # people away; from there on weights must be next to nothing
_BITS = 128  # of weights: their rounding never shows
_KEPT = 16


class Stride(NamedTuple):
    """How many rows of one cell a step adds or removes at most, and how many steps a person makes at most."""

    rows: int
    many: int


@dataclass(frozen=True)
class SmoothNoise(ABC):
    """What all of them share: a quantile plus noise of its smooth bound / alpha, back on the grid, in every cell.

    `rows` is how many a person has at most, and `cells` how many there are.
    """

    noise_name: ClassVar[str]
    prices: ClassVar[tuple[PriceKind, ...]]
    reads: ClassVar[Form] = "histogram"

    share: Fraction
    values: int
    rows: int
    cells: int
    price: AnyPrice

    def __post_init__(self) -> None:
        name = type(self).__name__
        if not isinstance(self.price, self.prices):
            raise TypeError(f"{name} is bought with {' or '.join(k.__name__ for k in self.prices)}, got {self.price}.")
        if not 0 < self.share < 1 or self.share.denominator > FINEST_SHARE:
            raise ValueError(f"{name} share must be between 0 and 1, of a denominator up to {FINEST_SHARE}.")
        check_values(self.values, name)
        if not 1 <= self.rows <= MOST_ROWS or self.cells < 1:
            raise ValueError(f"{name} rows must number between 1 and {MOST_ROWS:,}, got {self.rows:,}.")
        check_beta(self.rates.beta, self.values - 1, name)

    @classmethod
    def for_query(cls, query: Query, price: AnyPrice) -> Self:
        if len(query.histogram.shares) != 1:
            raise TypeError(f"{cls.__name__} is for a Histogram with one share, got {query.aggregate}.")
        (share,), values = query.histogram.shares, query.histogram.values
        return cls(share, values, ceil(query.sensitivity().l1), prod(query.shape), price)

    @property
    @abstractmethod
    def rates(self) -> Rates:
        """What the noise of one step allows for."""

    @abstractmethod
    def _draw(self, scale: Fraction, bits: Bits) -> int:
        """Noise of that scale, rounded."""

    @property
    def epsilon(self) -> Fraction:
        """Of all steps of a person together."""
        return sqrt_down(2 * self.price.rho) if isinstance(self.price, Concentrated) else self.price.epsilon

    @property
    def stride(self) -> Stride:
        """All rows of a person in each cell at once, or one by one: noise grows like rows * many**2."""
        touched = min(self.rows, self.cells)
        return Stride(self.rows, touched) if touched**2 <= self.rows else Stride(1, self.rows)

    def event(self, sensitivity: Sensitivity) -> Event:
        """What it costs; people of more rows than it was made for are several of those that it was made for."""
        return self._group_event(ceil(sensitivity.l1 / self.rows))

    def _group_event(self, people: int) -> Event:
        return Pure(self.epsilon * people)

    def shape(self, query: Query) -> tuple[int, ...]:
        return query.shape

    def spread_evenly(self, rows: int) -> Integers:  # noqa: ARG002 - the same of any number of them
        """What would be released without noise of rows whose values lie evenly over the grid."""
        return np.array(round(self.share * (self.values - 1)))

    def release(self, secret: SecretHistogram, bits: Bits) -> Integers:
        """A value of the grid for every cell. Neither the bound nor the scale of the noise leaves this class."""
        if secret.cells > self.cells:
            raise ValueError(f"{type(self).__name__} was made for {self.cells} cells, got {secret.cells}.")
        read = secret.opened_by(self)
        coarse = count_buckets(read, secret.cells, self.values)
        found = run_cells(
            read,
            self.values,
            coarse,
            lambda cell: self._near(Known(self.values, coarse[cell])),
            lambda _, known: self._run(known, bits),
        )
        return np.array(found, dtype=np.int64).reshape(secret.cells)

    @property
    def _statistic(self) -> OrderStatistic:
        return OrderStatistic(self.share, self.values)

    @property
    def _steps(self) -> int:
        """So many steps away from the data, nothing changes the bound any more."""
        return len(list_weights(self.rates.beta, self._statistic.top))

    def _near(self, known: Known) -> Buckets:
        """The buckets of all values that the quantile could be moved to in as many steps as matter."""
        rows = int(known.coarse.sum())
        if rows == 0 or known.shift == 0:
            return []
        least, most = self._statistic.ranks(rows, self.stride.rows, self._steps)
        ends = [max(int(least[-1]), 1), min(int(most[-1]), rows)]
        first, last = np.searchsorted(np.cumsum(known.coarse), ends).tolist()
        return [bucket for bucket in range(first, last + 1) if known.coarse[bucket]]

    def _run(self, known: Known, bits: Bits) -> Flow:
        yield from ()  # all that matters was read before
        heads = np.flatnonzero(known.open & (known.coarse > 0))
        values = np.concatenate([known.found[0], heads << known.shift])
        counts = ValueCounts.of(self.values, values, np.concatenate([known.found[1], known.coarse[heads]]))
        envelopes = self._statistic.envelopes(counts, self.stride.rows, self._steps)
        alpha, beta = self.rates
        bound = find_smooth_bound(envelopes.local, beta, envelopes.top)
        noisy = envelopes.exact + self._draw(bound / alpha, bits)
        return [min(max(noisy, 0), envelopes.top)]


@final
@dataclass(frozen=True)
class SmoothCauchy(SmoothNoise):
    """A quantile with Cauchy noise of its smooth sensitivity, in every cell of a histogram.

    Guarantee   epsilon-differential privacy, pure, for people of up to `rows` rows in all cells together.
    Conditions  the sensitivity is that of counting rows; grid, share and the number of cells are public.
    Noise       S / alpha times a Cauchy variable, rounded; S is private. It has no mean: far values are not rare.
    Proof       Nissim, Raskhodnikova & Smith 2007; docs/proofs/smooth.md.

    >>> SmoothCauchy(Fraction(1, 2), 101, 1, 1, Pure(1)).event(Sensitivity(l1=2))
    Pure(epsilon=Fraction(2, 1))
    """

    tag: ClassVar[str] = "SmoothCauchy"
    noise_name: ClassVar[str] = "Cauchy noise"
    prices: ClassVar[tuple[PriceKind, ...]] = (Pure, Concentrated)

    @property
    def rates(self) -> Rates:
        return cauchy_rates(self.epsilon / self.stride.many)

    def _draw(self, scale: Fraction, bits: Bits) -> int:
        return round_cauchy(scale, bits)


@final
@dataclass(frozen=True)
class SmoothStudent(SmoothNoise):
    """A quantile with Student's noise of its smooth sensitivity, in every cell of a histogram.

    Guarantee   epsilon-differential privacy, pure, for people of up to `rows` rows in all cells together.
    Conditions  the sensitivity is that of counting rows; grid, share and the number of cells are public.
    Noise       2 S / (sqrt(3) alpha) times a Student's t variable with 3 degrees of freedom, rounded; S is private.
    Proof       Bun & Steinke 2019; docs/proofs/smooth.md.

    >>> SmoothStudent(Fraction(1, 2), 101, 1, 1, Pure(1)).rates.beta
    Fraction(23, 100)
    """

    tag: ClassVar[str] = "SmoothStudent"
    noise_name: ClassVar[str] = "Student's noise of 3 degrees of freedom"
    prices: ClassVar[tuple[PriceKind, ...]] = (Pure, Concentrated)

    @property
    def rates(self) -> Rates:
        return student_rates(self.epsilon / self.stride.many)

    def _draw(self, scale: Fraction, bits: Bits) -> int:
        return round_student(scale, bits)


@final
@dataclass(frozen=True)
class SmoothLaplace(SmoothNoise):
    """A quantile with Laplace noise of its smooth sensitivity, in every cell of a histogram.

    Guarantee   (epsilon, delta)-differential privacy for people of up to `rows` rows in all cells together.
    Conditions  the sensitivity is that of counting rows; grid, share and the number of cells are public.
    Noise       S / alpha times a variable of the density exp(-|z|) / 2, rounded; S is private.
    Proof       Nissim, Raskhodnikova & Smith 2007; docs/proofs/smooth.md.

    >>> SmoothLaplace(Fraction(1, 2), 101, 1, 1, Approximate(1, 1e-6)).event(Sensitivity(l1=1)).epsilon
    Fraction(1, 1)
    """

    tag: ClassVar[str] = "SmoothLaplace"
    noise_name: ClassVar[str] = "Laplace noise"
    prices: ClassVar[tuple[PriceKind, ...]] = (Approximate, Concentrated)

    def __post_init__(self) -> None:
        if isinstance(self.price, self.prices) and self._delta < DELTA_UNIT:
            raise ValueError(f"SmoothLaplace delta must be >= 1e-30, got {float(self._delta):g}.")
        super().__post_init__()

    @property
    def rates(self) -> Rates:
        many = self.stride.many
        epsilon = self.epsilon / many
        return laplace_rates(epsilon, self._delta / _chain_deltas(epsilon, many))

    @property
    def _delta(self) -> Fraction:
        return Fraction(0) if isinstance(self.price, Pure) else self.price.delta

    def _group_event(self, people: int) -> Event:
        return Approximate(self.epsilon * people, self._delta * _chain_deltas(self.epsilon, people))

    def _draw(self, scale: Fraction, bits: Bits) -> int:
        return round_laplace(scale, bits)


def _chain_deltas(epsilon: Fraction, many: int) -> Fraction:
    """How often a delta counts in so many steps of epsilon: sum of exp(i epsilon), i < many, and not less."""
    return many * exp_up(epsilon * (many - 1))


def check_beta(beta: Fraction, top: int, owner: str) -> None:
    """Refuse weights that fall so slowly that too many of them would be needed."""
    needed = top.bit_length() + LEAST.denominator.bit_length()  # more than ln(top / LEAST)
    if beta * MOST_STEPS < needed:
        raise NotDrawableError(f"{owner} beta must be at least {needed} / {MOST_STEPS:,}, got {float(beta):g}.")


@lru_cache(maxsize=_KEPT)
def list_weights(beta: Fraction, top: int) -> tuple[int, ...]:
    """Integers that start at 2**128, each at least exp(-beta) times the one before, as long as they matter.

    From the end on, weight(k) * top is at most LEAST: they follow from public numbers, and so does how many there are.
    """
    _, ratio = exp_bounds(-beta, _BITS)
    weights = [1 << _BITS]
    while weights[-1] * max(top, 1) * LEAST.denominator > LEAST.numerator << _BITS:
        weights.append(-(-weights[-1] * ratio >> _BITS))  # rounded up: smoothness is what must not be lost
    return tuple(weights)


def find_smooth_bound(local: Rows, beta: Fraction, top: int) -> Fraction:
    """The bound from local(0), local(1), ...: at least as many of them as there are weights."""
    weights = np.array(list_weights(beta, top), dtype=object)
    largest = int(np.max(weights * local[: len(weights)].astype(object)))
    return max(Fraction(largest, 1 << _BITS), LEAST)
