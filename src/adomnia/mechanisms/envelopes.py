"""How far an integer statistic of a histogram can be moved by so many people: what adapts noise to the data is made of.

A statistic F has envelopes: lower(k) <= F(y) <= upper(k) for every database y that is k people away, and what is k
people away from a neighbour is k + 1 away from here. Then local(k) bounds how far one person moves F anywhere within k
people of the data, and local(k) here is at most local(k + 1) at every neighbour. Proof: docs/proofs/envelopes.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Protocol, Self

import numpy as np

from adomnia.mechanisms.histograms import Rows

MOST_ROWS = 2**31  # of a person: times all steps and the finest share, ranks stay within 64 bits


@dataclass(frozen=True)
class ValueCounts:
    """The exact histogram of one cell: the values that rows hold, rising, and how many rows are at or below each."""

    size: int  # of the grid 0, 1, ..., size - 1
    values: Rows
    below: Rows

    @classmethod
    def of(cls, size: int, values: Rows, counts: Rows) -> Self:
        """From the values that occur, in any order, and how often."""
        order = np.argsort(values, kind="stable")
        return cls(size, values[order], np.cumsum(counts[order]))

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.below[-1]) if len(self.below) else 0


@dataclass(frozen=True)
class Envelopes:
    """lower(k) and upper(k) of one statistic for k = 0, 1, ..., as far as they were asked for; both start at its value.

    `top`: what the statistic can be at most; at least 0.
    """

    lower: Rows
    upper: Rows
    top: int

    @property
    def exact(self) -> int:
        """The statistic itself."""
        return int(self.lower[0])

    @property
    def local(self) -> Rows:
        """How far one person can move the statistic within k people of the data, for all k but the last one."""
        found: Rows = np.maximum(self.upper[1:] - self.lower[:-1], self.upper[:-1] - self.lower[1:])
        return found


class LocalStatistic(Protocol):
    """An integer statistic of a histogram whose envelopes are known."""

    @property
    def top(self) -> int:
        """What it can be at most, from public facts."""
        ...

    def envelopes(self, counts: ValueCounts, rows_per_person: int, steps: int) -> Envelopes:
        """The envelopes for k = 0, ..., steps, where a person has so many rows at most."""
        ...


@dataclass(frozen=True)
class OrderStatistic:
    """The least value v of the grid that at least `share` of all rows are at or below; of no rows the least value.

    With share = a / b let g(v) = b * (rows at or below v) - a * rows. One row that comes or goes moves g by at most
    c = max(a, b - a) anywhere, k people of R rows by at most k * R * c. So lower(k) is the least v of g(v) >= -k R c,
    and upper(k) the greatest v of g(v - 1) < k R c.
    """

    tag: ClassVar[str] = "OrderStatistic"
    share: Fraction
    size: int

    def __post_init__(self) -> None:
        if not 0 < self.share < 1 or self.size < 1:
            raise ValueError(f"OrderStatistic share must be between 0 and 1, of a grid of values, got {self.share}.")

    @property
    def top(self) -> int:
        return self.size - 1

    def envelopes(self, counts: ValueCounts, rows_per_person: int, steps: int) -> Envelopes:
        least, most = self.ranks(counts.rows, rows_per_person, steps)
        return Envelopes(self._first(counts, least), self._first(counts, most), self.top)

    def ranks(self, rows: int, rows_per_person: int, steps: int) -> tuple[Rows, Rows]:
        """The ranks of lower(k) and upper(k) among so many rows: 0 is the least value, beyond all rows the last one."""
        a, b = self.share.numerator, self.share.denominator
        moved = np.arange(steps + 1, dtype=np.int64) * (rows_per_person * max(a, b - a))
        wanted = a * rows
        # Ranks as whole rows: g(v) >= -m if and only if the rows at or below v number (a * rows - m) / b, rounded up.
        least = np.maximum(0, -((moved - wanted) // b))
        # g(v - 1) < m if and only if they number less than (a * rows + m) / b, rounded up.
        return least, -((-wanted - moved) // b)

    def _first(self, counts: ValueCounts, ranks: Rows) -> Rows:
        """The least value that so many rows are at or below; the last of the grid where there are not so many."""
        places = np.searchsorted(counts.below, ranks)
        padded = np.append(counts.values, self.top)
        return np.where(ranks > 0, padded[np.minimum(places, len(counts.values))], 0)


@dataclass(frozen=True)
class LogRange:
    """The distance between two order statistics as an exponent of `ratio`: 1 + the greatest j of ratio**j <= distance.

    It is 0 where the distance is less than one step of the grid.
    """

    tag: ClassVar[str] = "LogRange"
    low: Fraction
    high: Fraction
    size: int
    ratio: Fraction

    def __post_init__(self) -> None:
        if not self.low < self.high or not 1 < self.ratio <= 2:
            raise ValueError(f"LogRange shares must rise, and its ratio be above 1 up to 2, got {self.ratio}.")

    @property
    def top(self) -> int:
        return int(self._levels(np.array([self.size - 1]))[0])

    @cached_property
    def least_distances(self) -> list[int]:
        """The least whole distance of every level from 1 on."""
        found, above, below = [], 1, 1  # whole numbers: to shorten a fraction at every level would take long
        while above <= max(1, self.size - 1) * below:
            found.append(-(-above // below))
            above, below = above * self.ratio.numerator, below * self.ratio.denominator
        return found

    def envelopes(self, counts: ValueCounts, rows_per_person: int, steps: int) -> Envelopes:
        low, high = (
            OrderStatistic(share, self.size).envelopes(counts, rows_per_person, steps)
            for share in (self.low, self.high)
        )
        least = np.maximum(0, high.lower - low.upper)
        return Envelopes(self._levels(least), self._levels(high.upper - low.lower), self.top)

    def _levels(self, distances: Rows) -> Rows:
        return np.searchsorted(np.array(self.least_distances, dtype=np.int64), distances, side="right")
