"""Ranks that values are chosen at, how their distances are scored, and which one tells an extreme.

An extreme is beyond the value of a rank some rows from the end. How many rows follows from the law of the choice:
docs/proofs/quantiles.md, 6.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, lcm, log
from typing import ClassVar

from adomnia.privacy.scans import Histogram

MOST_BEYOND = 2**20  # times as many values beyond a grid as it has: 2**60 of them at most
_FINEST_SCORE = 2**13  # 2**48 rows in such parts stay below 2**62
_EXTREMES = ((Fraction(0),), (Fraction(1),))


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
