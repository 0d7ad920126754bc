"""Several quantiles by halving: the middle one first, then those below and above it, each from its own rows."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Self, TypeAlias, final

import numpy as np

from adomnia.mechanisms.contract import PriceKind
from adomnia.mechanisms.draws import Draw, Segment, choose
from adomnia.mechanisms.histograms import Buckets, Flow, Known, SecretHistogram, count_buckets, run_cells
from adomnia.mechanisms.quantiles import FINEST_SHARE, Quantiles
from adomnia.mechanisms.round_numbers import RoundNumbers, Target
from adomnia.noise import Bits, Integers
from adomnia.privacy.events import Concentrated, Price, Pure
from adomnia.privacy.kinds import LATER
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Form
from adomnia.privacy.sensitivity import Sensitivity

# The choice at a share of so many rows, on a level.
ChoiceAt: TypeAlias = Callable[[Fraction, Fraction, int], Quantiles]

PARTS = 8  # of a value that divides rows: those that hold it are shared out in eighths
MOST_ROWS = 2**36  # that a target's offset allows for


def event_of(price: Price, rows: Fraction, sensitivity: Sensitivity) -> Price:
    """What a release costs that was bought at a price for so many rows of a person, if they have others."""
    if isinstance(price, Pure):
        return Pure(price.epsilon * sensitivity.l1 / rows)
    return Concentrated(price.rho * (sensitivity.l1 / rows) ** 2)


def levels_of(shares: Sequence[Fraction]) -> int:
    """How many times rows are divided until each share has its value."""
    return len(shares).bit_length()


def rate_of(price: Price, rows: Fraction, levels: int) -> Fraction:
    """The rate of each choice, where so many of them look at the same rows."""
    return Quantiles.rate_for(Sensitivity(l1=rows), price / levels)


def halve(known: Known, shares: Sequence[Fraction], rows: int, choice_at: ChoiceAt, bits: Bits) -> Flow:
    """A value for each of increasing shares, of about so many rows.

    Rows that hold the value that divides them count in parts: those below its chosen part on one side, those above it
    on the other, so that ties do not move the shares that are left.
    """
    chosen = [0] * len(shares)
    open_ = [(0, 0, len(shares), Fraction(0), Fraction(1), Segment.whole(known.values, PARTS))]
    while open_:
        level, first, last, left, right, segment = open_.pop()
        if first == last:
            continue
        middle = (first + last) // 2
        share = shares[middle]
        inside = Segment(*_bounds(segment), PARTS, divides=last - first > 1)
        choice = choice_at((share - left) / (right - left), rows * (right - left), level)
        (part,) = yield from choose(choice, known, inside, bits)
        chosen[middle] = part // PARTS
        below = Segment(segment.first, part, segment.start, min(segment.stop, part), PARTS)
        above = Segment(part, segment.last, max(segment.start, part + 1), segment.stop, PARTS)
        deeper = level + 1
        open_ += [(deeper, first, middle, left, share, below), (deeper, middle + 1, last, share, right, above)]
    return chosen


def _bounds(segment: Segment) -> tuple[int, int, int, int]:
    return segment.first, segment.last, segment.start, segment.stop


def choice_of(
    values: int, share: Fraction, rows: Fraction | int, rate: Fraction, rounds: RoundNumbers | None = None
) -> Quantiles:
    """The choice at a share of about so many rows, counted in parts: what rounding the share leaves is an offset."""
    near = share
    if share.denominator > FINEST_SHARE:
        near = Fraction(min(max(round(share * FINEST_SHARE), 1), FINEST_SHARE - 1), FINEST_SHARE)
    return Quantiles((Target(near, Fraction(round((share - near) * rows * PARTS))),), values, rate / PARTS, rounds)


def near_shares(known: Known, choices: Iterable[Quantiles]) -> Buckets:
    """The buckets that any of these choices may well be drawn from."""
    whole = Segment.whole(known.values, PARTS)
    return sorted(set().union(*(Draw(choice, known, whole).near() for choice in choices)))


@final
@dataclass(frozen=True)
class Halving:
    """For each share a value of the grid 0, 1, ..., values - 1, in every cell of a histogram, and nothing beside it.

    Guarantee   the price for people of that many rows, over all shares and cells together.
    Conditions  the sensitivity is that of counting rows; grid, shares and the number of cells are public.
    Noise       each value is chosen by rank among the rows between those chosen before it: one share at the whole
                price, several at equal parts of it, one for each time that rows are divided.
    Proof       Kaplan, Schnapp & Stemmer 2022; docs/proofs/halving.md.

    >>> Halving((Fraction(1, 2),), 101, Fraction(1), Pure(1)).event(Sensitivity(l1=2)).epsilon
    Fraction(2, 1)
    """

    tag: ClassVar[str] = "Halving"
    prices: ClassVar[tuple[PriceKind, ...]] = (Pure, Concentrated)
    reads: ClassVar[Form] = "histogram"

    shares: tuple[Fraction, ...]
    values: int
    rows: Fraction
    price: Price
    rounds: RoundNumbers | None = field(default=None, metadata={LATER: True})

    def __post_init__(self) -> None:
        check_shares(self.shares, "Halving")
        _ = self._choice(Fraction(1, 2), MOST_ROWS)  # what cannot be drawn is refused here
        _ = self._alone

    @classmethod
    def for_query(cls, query: Query, price: Price) -> Self:
        asked, rounds = query.histogram, RoundNumbers.of(query.histogram.domain)
        return cls(asked.shares, asked.values, query.sensitivity().l1, price, rounds)

    @property
    def rate(self) -> Fraction:
        """Of each choice."""
        if not isinstance(self.price, Pure | Concentrated):
            raise TypeError(f"Halving is bought with Pure(epsilon) or Concentrated(rho), got {self.price}.")
        return rate_of(self.price, self.rows, levels_of(self.shares))

    @property
    def _alone(self) -> Quantiles:
        """The choice of a single share: nothing is divided by what is chosen, so that values need no parts."""
        return Quantiles((Target(self.shares[0], Fraction(0)),), self.values, self.rate, self.rounds)

    def _choice(self, share: Fraction, rows: Fraction | int, _level: int = 0) -> Quantiles:
        return choice_of(self.values, share, rows, self.rate, self.rounds)

    def event(self, sensitivity: Sensitivity) -> Price:
        return event_of(self.price, self.rows, sensitivity)

    def shape(self, query: Query) -> tuple[int, ...]:
        return (*query.shape, len(self.shares))

    def spread_evenly(self, rows: int) -> Integers:  # noqa: ARG002 - the same of any number of them
        """What would be chosen without chance from rows whose values lie evenly over the grid."""
        return np.array([round(share * (self.values - 1)) for share in self.shares])

    def release(self, secret: SecretHistogram, bits: Bits) -> Integers:
        """The chosen values of every cell, a column for each share."""
        read = secret.opened_by(self)
        coarse = count_buckets(read, secret.cells, self.values)
        chosen = run_cells(
            read,
            self.values,
            coarse,
            lambda cell: self.near(Known(self.values, coarse[cell])),
            lambda _, known: self.choose(known, bits),
        )
        return np.array(chosen, dtype=np.int64).reshape(secret.cells, len(self.shares))

    def near(self, known: Known) -> Buckets:
        """The buckets of a cell that may well be drawn from."""
        if len(self.shares) == 1:
            return Draw(self._alone, known, Segment.whole(self.values)).near()
        return near_shares(known, (self._choice(share, 0) for share in self.shares))

    def choose(self, known: Known, bits: Bits) -> Flow:
        """The values of one cell."""
        if len(self.shares) == 1:
            return choose(self._alone, known, Segment.whole(self.values), bits)
        return halve(known, self.shares, 0, self._choice, bits)


def check_shares(shares: Sequence[Fraction], owner: str) -> None:
    """Shares must increase between 0 and 1, in public steps."""
    inside = all(0 < share < 1 and FINEST_SHARE % share.denominator == 0 for share in shares)
    if not shares or not inside or list(shares) != sorted(set(shares)):
        raise ValueError(f"{owner} shares must be increasing multiples of 1/{FINEST_SHARE} between 0 and 1.")
