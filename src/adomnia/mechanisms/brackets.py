"""Quantiles with intervals that hold on all data: values are chosen near them, then rows are counted between these."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import ClassVar, TypeAlias, final

import numpy as np

from adomnia.mechanisms.contract import PriceKind
from adomnia.mechanisms.cuts import (
    ROWS,
    Pair,
    Several,
    Sharpness,
    cut_pair,
    cut_several,
    most_edges,
    plan_pair,
    plan_several,
)
from adomnia.mechanisms.draws import Draw, Segment, choose
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.halving import (
    MOST_ROWS,
    ChoiceAt,
    Halving,
    check_shares,
    choice_of,
    event_of,
    halve,
    near_shares,
    rate_of,
)
from adomnia.mechanisms.histograms import Buckets, Flow, Known, SecretHistogram, count_buckets, run_cells
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.mechanisms.quantiles import Quantiles
from adomnia.mechanisms.round_numbers import RoundNumbers, Target
from adomnia.noise import Bits, Integers, add, discrete_gaussian, discrete_laplace
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Concentrated, Price, Pure
from adomnia.privacy.kinds import LATER
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Form
from adomnia.privacy.sensitivity import Sensitivity

Counting: TypeAlias = DiscreteLaplace | DiscreteGaussian
Plan: TypeAlias = Pair | Several
_HALVED = 0.7  # rows by which a row moves a rank among those that halving left, about
_PARTS = (Fraction(1, 200), 1 - ROWS)  # no part of the price is smaller or larger


@final
@dataclass(frozen=True)
class Brackets:
    """Where quantiles are: values of the grid 0, 1, ..., values - 1, and noisy numbers of rows between them.

    Guarantee   the price for people of that many rows, over all stages, shares and cells together.
    Conditions  the sensitivity is that of counting rows; grid, shares and the number of cells are public.
    Noise       a noisy number of rows; then values chosen by rank, and Laplace or Gaussian noise on the counts between
                them; where there are few rows, values alone, for all that is left of the price.
    Proof       docs/proofs/brackets.md.

    >>> Brackets((Fraction(1, 2),), 101, Fraction(1), Pure(1)).event(Sensitivity(l1=2)).epsilon
    Fraction(2, 1)
    """

    tag: ClassVar[str] = "Brackets"
    rules: ClassVar[int] = 2  # the number of rows is told, and the plan divides the price by it
    prices: ClassVar[tuple[PriceKind, ...]] = (Pure, Concentrated)
    reads: ClassVar[Form] = "histogram"

    shares: tuple[Fraction, ...]
    values: int
    rows: Fraction
    price: Price
    rounds: RoundNumbers | None = field(default=None, metadata={LATER: True})

    def __post_init__(self) -> None:
        check_shares(self.shares, "Brackets")
        if not isinstance(self.price, Pure | Concentrated):
            raise TypeError(f"Brackets are bought with Pure(epsilon) or Concentrated(rho), got {self.price}.")
        # What cannot be drawn is refused here, before anything is read.
        _ = self._total, self._few, self._sharpness
        for part in _PARTS:
            _ = self._noise(part, 1), self._noise(part, self._moved)
            _ = choice_of(self.values, Fraction(1, 2), MOST_ROWS, self._rate(part), self.rounds)

    @classmethod
    def for_query(cls, query: Query, price: Price) -> "Brackets":
        return _find_brackets(query.histogram.shares, query.histogram.domain, query.sensitivity().l1, price)

    def event(self, sensitivity: Sensitivity) -> Price:
        return event_of(self.price, self.rows, sensitivity)

    def shape(self, query: Query) -> tuple[int, ...]:
        return (*query.shape, self.width)

    @property
    def width(self) -> int:
        """How many integers are released of a cell: see `lay_out`."""
        return 3 + 3 * len(self.shares) + 2 * most_edges(len(self.shares))

    def counting(self, plan: Plan) -> Counting:
        """The noise of each count between cuts."""
        return self._noise(plan.counting, 1)

    @property
    def room(self) -> int:
        """How many edges a cell has room for."""
        return most_edges(len(self.shares))

    def counting_of(self, numbers: Integers) -> Counting | None:
        """The noise of the counts of a cell, from its released numbers; None where nothing was counted."""
        plan = self.plan(int(numbers[-1]))
        return None if plan is None else self.counting(plan)

    def own_scale_of(self, numbers: Integers) -> float | None:
        """By how many rows the value of a cell is off, about, if it was chosen for the quantile itself."""
        plan = self.plan(int(numbers[-1]))
        return None if plan is None else self._own_scale(plan)

    @property
    def usual_counting(self) -> Counting:
        """The same of many rows: of few of them, more of the price goes into the values."""
        plan = self.plan(MOST_ROWS)
        assert plan is not None  # noqa: S101 - of so many rows there is one at any price that can be drawn
        return self.counting(plan)

    @property
    def _total(self) -> Counting:
        return self._noise(ROWS, 1)

    @property
    def _moved(self) -> int:
        """How much one row moves the rows below all cuts against those above them, in parts of a row."""
        return max(self.shares[0].numerator, (1 - self.shares[0]).numerator)

    @cached_property
    def _few(self) -> Halving:
        """The choice where there are few rows, for all that the number of rows has left."""
        return Halving(self.shares, self.values, self.rows, self.price * (1 - ROWS), self.rounds)

    def _noise(self, part: Fraction, moved: int) -> Counting:
        """The noise for a part of the price on a number that a row moves by at most so much."""
        return _calibrate(self.price, self.rows * moved, part)

    def _rate(self, part: Fraction) -> Fraction:
        return _find_rate(self.price, self.rows, part)

    def _choice_at(self, plan: Several) -> ChoiceAt:
        rates = [self._rate(part) for part in plan.choosing]
        return lambda share, rows, level: choice_of(self.values, share, rows, rates[level], self.rounds)

    @cached_property
    def _sharpness(self) -> Sharpness:
        power = 1.0 if isinstance(self.price, Pure) else 0.5
        return Sharpness(float(1 / self._rate(Fraction(1))), self._noise(Fraction(1), 1).continuous.deviation, power)

    def plan(self, rows: int) -> Plan | None:
        """What to choose where there are about so many rows."""
        if len(self.shares) == 1:
            return plan_pair(self.shares[0], rows, self._sharpness)
        return plan_several(self.shares, rows, self._sharpness)

    def _own_scale(self, plan: Plan) -> float | None:
        """By how many rows a value is off, about, that was chosen for a quantile itself; None where none was."""
        if isinstance(plan, Pair):
            larger = max(self.shares[0], 1 - self.shares[0])
            return float(larger / self._rate(plan.own)) if plan.own else None
        return _HALVED / float(self._rate(plan.choosing[0])) if plan.threes else None

    def release(self, secret: SecretHistogram, bits: Bits) -> Integers:
        """The integers of every cell, as `lay_out` puts them."""
        read = secret.opened_by(self)
        coarse = count_buckets(read, secret.cells, self.values)
        noisy = _add(coarse.sum(axis=1), self._total, bits)
        rows = [min(max(each, 1), MOST_ROWS) for each in noisy]
        plans = [self.plan(each) for each in rows]
        found = run_cells(
            read,
            self.values,
            coarse,
            lambda cell: self._near(plans[cell], rows[cell], Known(self.values, coarse[cell])),
            lambda cell, known: self._run(plans[cell], rows[cell], known, bits),
        )
        return np.array(found, dtype=np.int64).reshape(secret.cells, self.width)

    def _run(self, plan: Plan | None, rows: int, known: Known, bits: Bits) -> Flow:
        if plan is None:
            chosen = yield from self._few.choose(known, bits)
            return self.lay_out([number for value in chosen for number in (value,) * 3], [], [], rows)
        if isinstance(plan, Pair):
            chosen = []
            for choice in self._choices(plan):
                chosen += yield from choose(choice, known, Segment.whole(self.values), bits)
            threes = _order(chosen)
            edges = cut_pair(threes, plan, self.values)
        else:
            chosen = yield from halve(known, plan.shares, rows, self._choice_at(plan), bits)
            edges = cut_several(chosen, self.values, threes=plan.threes)
            threes = chosen if plan.threes else self._nearest(plan, chosen)
        counts = yield from self._count(plan, edges, known, bits)
        return self.lay_out(threes, edges, counts, rows)

    def _nearest(self, plan: Several, chosen: Sequence[int]) -> list[int]:
        """For each share the value chosen nearest to it, where none was chosen for itself, and nothing beside it."""
        near = [min(range(len(chosen)), key=lambda at: abs(plan.shares[at] - share)) for share in self.shares]
        return [number for place in near for number in (-1, chosen[place], -1)]

    def _choices(self, pair: Pair) -> list[Quantiles]:
        """The choice of the value itself, where it has a part of the price; then that of both values around it."""
        (share,), at = self.shares, (self._rate(part) for part in (pair.own, *pair.choosing) if part)
        own = [(Target(share, Fraction(0)),)] if pair.own else []
        both = (Target(share, -pair.below), Target(share, pair.above))
        return [
            Quantiles(targets, self.values, rate, self.rounds) for targets, rate in zip([*own, both], at, strict=True)
        ]

    def _near(self, plan: Plan | None, rows: int, known: Known) -> Buckets:
        if plan is None:
            return self._few.near(known)
        if isinstance(plan, Pair):
            whole = Segment.whole(self.values)
            return sorted(set().union(*(Draw(choice, known, whole).near() for choice in self._choices(plan))))
        choice_at = self._choice_at(plan)
        return near_shares(known, (choice_at(share, Fraction(rows), 0) for share in plan.shares))

    def _count(self, plan: Plan, edges: Sequence[int], known: Known, bits: Bits) -> Generator[Buckets, None, list[int]]:
        """Noisy numbers of rows: before the first edge, between edges, and after the last.

        Of one quantile, the first and the last count as one number: where it would be zero if the share lay there.
        """
        if unread := known.unread(edges):
            yield unread
        below = known.count_below(edges)
        rows = int(known.coarse.sum())
        counts = [after - before for before, after in pairwise([0, *below, rows])]
        if len(self.shares) > 1:
            return _add(counts, self.counting(plan), bits)
        across = _add([self._across(counts)], self._noise(plan.counting, self._moved), bits)
        return across + _add(counts[1:-1], self.counting(plan), bits)

    def _across(self, counts: Sequence[int]) -> int:
        (share,) = self.shares
        return (1 - share).numerator * counts[0] - share.numerator * counts[-1] if len(counts) > 1 else 0

    def lay_out(self, threes: Sequence[int], edges: Sequence[int], counts: Sequence[int], rows: int) -> list[int]:
        """All numbers of a cell in their places: how many edges; three values of each share; edges; counts; rows.

        The three are low, value and high. Where cuts lie evenly, low and high are -1.
        """
        room = most_edges(len(self.shares))
        return [
            len(edges),
            *threes,
            *edges,
            *[0] * (room - len(edges)),
            *counts,
            *[0] * (room + 1 - len(counts)),
            rows,
        ]

    def spread_evenly(self, rows: int) -> Integers:
        """What would be released without noise of rows whose values lie evenly over the grid."""
        rows, last = max(rows, 1), self.values - 1
        plan = self.plan(rows)
        if plan is None:
            alone = [round(share * last) for share in self.shares for _ in range(3)]
            return np.array(self.lay_out(alone, [], [], rows))
        if isinstance(plan, Pair):
            (share,) = self.shares
            asides = (-plan.below, Fraction(0), plan.above)
            threes = [min(max(round((share + aside / rows) * last), 0), last) for aside in asides]
            edges = cut_pair(threes, plan, self.values)
        else:
            chosen = [round(share * last) for share in plan.shares]
            edges = cut_several(chosen, self.values, threes=plan.threes)
            threes = chosen if plan.threes else self._nearest(plan, chosen)
        below = [0, *(rows * edge // self.values for edge in edges), rows]
        counts = [after - before for before, after in pairwise(below)]
        if isinstance(plan, Pair):
            counts = [self._across(counts), *counts[1:-1]]
        return np.array(self.lay_out(threes, edges, counts, rows))


def _order(chosen: Sequence[int]) -> list[int]:
    """The lower value, that of the quantile and the higher one: its own if that was chosen, or the middle."""
    low, high = min(chosen), max(chosen)
    middle = chosen[0] if len(chosen) > 2 else (low + high + 1) // 2
    return [low, middle, high]


@lru_cache(maxsize=1024)  # a plan has a few parts, of hundredths of a price, and all cells have the same
def _calibrate(price: Price, moved: Fraction, part: Fraction) -> Counting:
    kind = DiscreteLaplace if isinstance(price, Pure) else DiscreteGaussian
    return kind.calibrated(Sensitivity(l1=moved), price * part)


@lru_cache(maxsize=1024)
def _find_rate(price: Price, rows: Fraction, part: Fraction) -> Fraction:
    return rate_of(price * part, rows, 1)


@lru_cache(maxsize=64)  # the same for every question about quantiles of one column at one price
def _find_brackets(shares: tuple[Fraction, ...], domain: Numbers, rows: Fraction, price: Price) -> Brackets:
    return Brackets(shares, domain.width + 1, rows, price, RoundNumbers.of(domain))


def _add(exact: Sequence[int] | Integers, noise: Counting, bits: Bits) -> list[int]:
    """Numbers with noise: where a rate suits ranks of 64 bits, a noise of its price does."""
    shape = (len(exact),)
    if isinstance(noise, DiscreteLaplace):
        drawn = discrete_laplace(noise.scale, shape, bits)
    else:
        drawn = discrete_gaussian(noise.variance, shape, bits)
    return [int(each) for each in add(np.asarray(exact, dtype=np.int64), drawn)]
