"""What a choice by rank has to know: round numbers, and ranks that values are chosen at.

Round numbers are values of a grid that people write down more often than others, whatever the data. Choices by rank
have one candidate for each value of a grid. A column of half hours on a fine grid has thousands of values between two
that occur, and one of these was chosen wherever the quantile was near such a gap. So a round number is many candidates.
How many is public, and that is all that a choice has to know: docs/proofs/quantiles.md, 1.

An extreme is beyond the value of a rank some rows from the end. How many rows follows from the distribution of the
choice: docs/proofs/quantiles.md, 6.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, lcm, log
from typing import ClassVar

import numpy as np

from adomnia.mechanisms.histograms import Rows
from adomnia.privacy.domains import Numbers
from adomnia.privacy.scans import Histogram

_OF_TEN = (1, 5)  # units: ..., 0.1, 0.5, 1, 5, 10, 50, ...
_FEWEST = 20  # multiples of a unit in the grid
_COPIES = Fraction(1, 16)  # candidates of a multiple for each step of its unit
_LARGEST = 2**20  # numerator of a step in units: beyond it, products would come near the end of 64 bits
MOST_BEYOND = 2**20  # times as many values beyond a grid as it has: 2**60 of them at most
_FINEST_SCORE = 2**13  # 2**48 rows in such parts stay below 2**62
_EXTREMES = ((Fraction(0),), (Fraction(1),))


@dataclass(frozen=True)
class RoundNumbers:
    """How many candidates each value 0, 1, ..., values - 1 is, if value v stands for the number (first + v) * step.

    Each is one, and more for every unit that it is a multiple of: about as many as a sixteenth of the unit has steps.

    >>> halves = RoundNumbers(0, Fraction(1, 64), 64 * 20)
    >>> [halves.find(candidate, 0, 1280) for candidate in (0, 6, 7)]
    [0, 0, 1]
    """

    tag: ClassVar[str] = "RoundNumbers"
    first: int
    step: Fraction
    values: int

    @classmethod
    def of(cls, domain: Numbers) -> "RoundNumbers | None":
        """Those of a column; None where no unit is worth more candidates than one."""
        return _find_round_numbers(domain.grid_lower, domain.step, domain.width + 1)

    @cached_property
    def _units(self) -> Rows:
        """Columns of copies, numerators, twice the denominators, and what the first value leaves.

        Multiples k of a unit u are at floor(k u / step + 1/2) - first, below v iff k < (v + first - 1/2) step / u.
        """
        found, unit = [], Fraction(1)
        while unit > self.step:
            unit /= 10
        while unit * _FEWEST <= self.step * self.values:
            for many in _OF_TEN:
                copies, ratio = int(_COPIES * many * unit / self.step), self.step / (many * unit)
                fits = many * unit * _FEWEST <= self.step * self.values and ratio.numerator < _LARGEST
                if copies and fits:
                    twice = 2 * ratio.denominator
                    found.append((copies, 2 * ratio.numerator, twice, (2 * self.first - 1) * ratio.numerator % twice))
            unit *= 10
        return np.array(found, dtype=np.int64).reshape(-1, 4)

    @property
    def any(self) -> bool:
        """Whether any value is more than one candidate."""
        return len(self._units) > 0

    @cached_property
    def total(self) -> int:
        """How many candidates there are."""
        return int(self.before(np.array([self.values]))[0])

    def before(self, values: Rows) -> Rows:
        """How many candidates lie below each of these values."""
        copies, numerator, twice, left = self._units.T
        upto = -(-(values[..., None] * numerator + left) // twice) + (-left // twice)
        found: Rows = values + upto @ copies
        return found

    def find(self, candidate: int, low: int, high: int) -> int:
        """The value, of those from `low` up to `high`, that a candidate belongs to."""
        return low + bisect_right(range(low + 1, high), candidate, key=self._before_one)

    def _before_one(self, value: int) -> int:
        return int(self.before(np.array([value]))[0])


@lru_cache(maxsize=256)
def _find_round_numbers(first: int, step: Fraction, values: int) -> RoundNumbers | None:
    found = RoundNumbers(first, step, values)
    return found if found.any else None


@dataclass(frozen=True)
class Target:
    """The rank share * rows + offset of one quantile.

    Values beyond the end of the grid may be chosen too, and stand for its end: `beyond` times as many as the grid has,
    above it, or below it where `beyond` is negative. They keep a rank that few rows can reach from looking reached.
    """

    tag: ClassVar[str] = "Target"
    share: Fraction
    offset: Fraction
    beyond: int = 0


def scores(shares: Sequence[Fraction]) -> tuple[int, tuple[int, ...]]:
    """How many parts one row's worth of score has, and the parts of each share's distances in 1 / denominator rows."""
    moves = [max(share.numerator, share.denominator - share.numerator) for share in shares]
    common = lcm(*moves)
    unit = common if common <= _FINEST_SCORE else max(moves)
    whole = _FINEST_SCORE // unit * unit
    return whole, tuple(whole // move for move in moves)


def find_targets(aggregate: Histogram, rate: Fraction) -> tuple[Target, ...]:
    """The rank to ask for near an extreme."""
    if aggregate.shares not in _EXTREMES:
        raise ValueError("Quantiles of a query must be one extreme: others are told by Brackets or Halving.")
    # Alone, whatever the data: a value past the extreme has exp(-distance) of the weight of one that is right.
    alpha = 1 - aggregate.confidence
    far = Fraction(ceil(-log(alpha / aggregate.values) / float(rate)))
    beyond = min(ceil(1 / alpha), MOST_BEYOND)  # where there are no rows at all, these are as sure
    return (Target(Fraction(1), -far, -beyond) if aggregate.shares[0] else Target(Fraction(0), far, beyond),)
