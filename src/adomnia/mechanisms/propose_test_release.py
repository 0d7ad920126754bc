"""Propose-test-release: a statistic with noise for a proposed bound, if the data is far from breaking that bound."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self, TypeAlias, final

import numpy as np

from adomnia.mechanisms.contract import PriceKind, least
from adomnia.mechanisms.envelopes import MOST_ROWS, LogRange, OrderStatistic, ValueCounts
from adomnia.mechanisms.histograms import Buckets, Flow, Known, Rows, SecretHistogram, count_buckets, run_cells
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.mechanisms.quantiles import MOST_VALUES
from adomnia.noise import Bits, Integers, add, discrete_laplace
from adomnia.noise.discrete import NotDrawableError
from adomnia.privacy.amounts import DELTA_UNIT, whole
from adomnia.privacy.enclosures import exp_down, exp_up, sqrt_down
from adomnia.privacy.events import Approximate, Concentrated
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Form
from adomnia.privacy.sensitivity import Sensitivity

_DIGITS = 100  # rounding in this place never moves a threshold: no delta is below 1e-30
_MOST_STEPS = 2**20  # people who may come or go: as long as the envelopes are that are kept
_EVENLY = 1000  # values that stand for rows which lie evenly over the grid

ProposalPrice: TypeAlias = Approximate | Concentrated


@final
@dataclass(frozen=True)
class ProposeTestRelease:
    """A statistic of a histogram, with noise for people who move it by at most `bound`, or no reply; in every cell.

    Guarantee   (epsilon, delta)-differential privacy, half of epsilon for the test and half for the release.
    Conditions  a person has at most `rows` rows, and only one where there are several cells; the statistic, its grid
                and the bound are public.
    Noise       Laplace of scale 2 / epsilon on how many people have to come or go until one could move the statistic
                by more than the bound, which must be above `threshold`; then of scale 2 * bound / epsilon on it.
    Proof       Dwork & Lei 2009 (the idea); docs/proofs/propose_test_release.md.

    >>> median = OrderStatistic(Fraction(1, 2), 101)
    >>> ProposeTestRelease(median, 3, 1, Approximate(1, 1e-6)).event(Sensitivity(l1=1))
    Approximate(epsilon=Fraction(1, 1), delta=Fraction(1, 1000000))
    """

    tag: ClassVar[str] = "ProposeTestRelease"
    prices: ClassVar[tuple[PriceKind, ...]] = (Approximate, Concentrated)
    reads: ClassVar[Form] = "histogram"

    statistic: OrderStatistic | LogRange
    bound: int
    rows: int
    price: ProposalPrice

    def __post_init__(self) -> None:
        if whole(self.rows, "ProposeTestRelease", "rows") > MOST_ROWS:
            raise NotDrawableError(f"ProposeTestRelease rows must be at most {MOST_ROWS:,}, got {self.rows:,}.")
        if not 1 <= self.bound <= max(1, self.statistic.top) or self.statistic.size > MOST_VALUES:
            raise ValueError(f"ProposeTestRelease bound must be from 1 to {self.statistic.top}, got {self.bound}.")
        if not isinstance(self.price, Approximate | Concentrated):
            raise TypeError(f"ProposeTestRelease is bought with Approximate or Concentrated, got {self.price}.")
        if self.price.delta < DELTA_UNIT:  # less is not counted, and no enclosure of a tail is that narrow
            raise NotDrawableError(f"ProposeTestRelease delta must be >= 1e-30, got {float(self.price.delta):g}.")
        _ = self.adding  # what cannot be drawn is refused here, before anything is read
        if self.farthest > _MOST_STEPS:
            most = f"must buy a test of at most {_MOST_STEPS:,} people"
            raise NotDrawableError(f"ProposeTestRelease price {most}, got {self.price}.")

    @classmethod
    def for_query(cls, query: Query, price: ProposalPrice) -> Self:
        proposal, rows = query.proposal, query.sensitivity().l1
        if query.keys and rows > 1:
            raise ValueError(f"ProposeTestRelease rows must be 1 where there are several cells, got {rows}.")
        statistic: OrderStatistic | LogRange
        if proposal.ratio is None:
            (share,) = proposal.shares
            statistic = OrderStatistic(share, proposal.values)
        else:
            low, high = proposal.shares
            statistic = LogRange(low, high, proposal.values, proposal.ratio)
        return cls(statistic, proposal.bound, whole(rows, "ProposeTestRelease", "rows"), price)

    def event(self, sensitivity: Sensitivity) -> ProposalPrice:
        """The price, for people of so many rows as it was built for; it says nothing about those who have more."""
        if sensitivity.l1 > self.rows:
            raise ValueError(f"ProposeTestRelease sensitivity must be at most {self.rows} rows, got {sensitivity.l1}.")
        return self.price

    def shape(self, query: Query) -> tuple[int, ...]:
        return (*query.shape, 2)

    @property
    def _half(self) -> Fraction:
        """Of epsilon: what the test costs, and what the release costs."""
        return (self.price.epsilon if isinstance(self.price, Approximate) else sqrt_down(2 * self.price.rho)) / 2

    @cached_property
    def testing(self) -> DiscreteLaplace:
        """The noise on the number of people."""
        return DiscreteLaplace(1 / self._half)

    @cached_property
    def adding(self) -> DiscreteLaplace:
        """The noise on the statistic."""
        return DiscreteLaplace(self.bound / self._half)

    @cached_property
    def threshold(self) -> int:
        """The least number that the noise of the test alone is above with a probability of at most delta."""
        scale, delta = self.testing.scale, self.price.delta
        # P[noise > k] = a**(k + 1) / (1 + a) with a = exp(-1 / scale), rounded up.
        below = 1 + exp_down(-1 / scale, _DIGITS)
        return least(lambda k: exp_up(-(k + 1) / scale, _DIGITS) / below <= delta)

    @property
    def farthest(self) -> int:
        """As far as people are counted: from there, no reply is as rare as a reply is at zero."""
        return 2 * self.threshold + 1

    def release(self, secret: SecretHistogram, bits: Bits) -> Integers:
        """Of every cell whether there is a reply, and the statistic with noise, or 0."""
        if self.rows > 1 < secret.cells:
            raise ValueError(f"ProposeTestRelease cells must be 1 for {self.rows} rows a person, got {secret.cells}.")
        # Both noises are drawn before, and in any case: nothing can fail, or take longer, once the secret is open.
        tested, added = (discrete_laplace(each.scale, (secret.cells,), bits) for each in (self.testing, self.adding))
        exact = self._read(secret)
        replied = add(exact[:, 0], tested) > self.threshold
        return np.stack([replied.astype(np.int64), np.where(replied, add(exact[:, 1], added), 0)], axis=1)

    def _read(self, secret: SecretHistogram) -> Rows:
        """Of every cell the distance and the statistic."""
        read, size = secret.opened_by(self), self.statistic.size
        coarse = count_buckets(read, secret.cells, size)
        found = run_cells(
            read,
            size,
            coarse,
            lambda cell: self._near(Known(size, coarse[cell])),
            lambda _, known: self._run(known),
        )
        return np.array(found, dtype=np.int64).reshape(secret.cells, 2)

    def _run(self, known: Known) -> Flow:
        yield from ()
        counts = _count(known)
        return [self.distance(counts), self.statistic.envelopes(counts, self.rows, 0).exact]

    def distance(self, counts: ValueCounts) -> int:
        """How many people have to come or go until one more could move the statistic by more than the bound."""
        beyond = self.statistic.envelopes(counts, self.rows, self.farthest).local > self.bound
        return int(np.argmax(beyond)) if beyond.any() else self.farthest

    def _near(self, known: Known) -> Buckets:
        """The buckets that hold any rank which the envelopes look up; others may lie anywhere within theirs."""
        if not known.shift:
            return []
        counts, wanted = _count(known), np.zeros(len(known.coarse), dtype=bool)
        for share in _shares(self.statistic):
            found = OrderStatistic(share, self.statistic.size).envelopes(counts, self.rows, self.farthest)
            wanted[int(found.lower[-1]) >> known.shift : (int(found.upper[-1]) >> known.shift) + 1] = True
        buckets: Buckets = np.flatnonzero(wanted & (known.coarse > 0)).tolist()
        return buckets

    def spread_evenly(self, rows: int) -> Integers:  # noqa: ARG002 - the same of any number of them
        """What would be released without noise of rows that lie evenly over the grid, if there is a reply."""
        values = np.unique(np.arange(_EVENLY) * (self.statistic.size - 1) // (_EVENLY - 1))
        counts = ValueCounts.of(self.statistic.size, values, np.ones_like(values))
        return np.array([1, self.statistic.envelopes(counts, 1, 0).exact])


def _shares(statistic: OrderStatistic | LogRange) -> tuple[Fraction, ...]:
    return (statistic.share,) if isinstance(statistic, OrderStatistic) else (statistic.low, statistic.high)


def _count(known: Known) -> ValueCounts:
    """The histogram as far as it was read: the rows of a bucket that was not are at its first value."""
    buckets = np.flatnonzero(known.open & (known.coarse > 0))
    values = np.concatenate([buckets << known.shift, known.found[0]])
    return ValueCounts.of(known.values, values, np.concatenate([known.coarse[buckets], known.found[1]]))
