"""Which ranks to ask for, so that the values chosen there hold a quantile, or an extreme, between them.

A quantile is between the values of two ranks, some rows below its own and as many above; an extreme is beyond the value
of one rank, some rows from the end. How many rows follows from the law of the choice: docs/proofs/quantiles.md, 6.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import ceil, exp, lcm, log, sqrt

from adomnia.privacy.aggregates import Histogram

MOST_BEYOND = 2**12  # times as many values beyond a grid as it has: far from the end of 64 bits
_FINEST_SCORE = 2**13  # 2**48 rows in such parts stay below 2**62
_EXTREMES = ((Fraction(0),), (Fraction(1),))
_HALF = Fraction(1, 2)
_HALVINGS = 60


@dataclass(frozen=True)
class Target:
    """The rank share * rows + offset of one quantile.

    Values beyond the end of the grid may be chosen too, and stand for its end: `beyond` times as many as the grid has,
    above it, or below it where `beyond` is negative. They keep a rank that few rows can reach from looking reached.
    """

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
    """The ranks to ask for: two around each quantile, or one near an extreme."""
    left_open = 1 - aggregate.confidence
    if aggregate.shares in _EXTREMES:
        # Alone, whatever the data: a value past the extreme has exp(-distance) of the weight of one that is right.
        far = Fraction(ceil(-log(left_open / aggregate.values) / float(rate)))
        beyond = min(ceil(1 / left_open), MOST_BEYOND)  # where there are no rows at all, these are as sure
        return (Target(Fraction(1), -far, -beyond) if aggregate.shares[0] else Target(Fraction(0), far, beyond),)
    aside = Fraction(_aside(2 * len(aggregate.shares), float(left_open) / 2))
    whole, parts = scores(aggregate.shares)
    beyond = min(ceil(1 / sqrt(left_open)), MOST_BEYOND)  # of both ends, one there is enough
    targets: list[Target] = []
    for share, part in zip(aggregate.shares, parts, strict=True):
        # Half a row more, because the ranks of values are whole numbers.
        far = aside * whole / (rate * part * share.denominator) + _HALF
        targets += [Target(share, -far, -beyond), Target(share, far, beyond)]
    return tuple(targets)


@lru_cache(maxsize=256)
def _aside(count: int, left_open: float) -> float:
    """How far from its own a rank must be asked for, so that what is chosen passes it with that probability at most.

    Of `count` ranks the farthest one is off by less than a gamma variable k of shape count + 1, each of them evenly up
    to k to both sides where rows lie evenly: P[off by more than t] = E[max(0, 1 - t / k)] / 2.
    """
    below, above = 0.0, 1.0
    while _passed(count, above) > left_open:
        below, above = above, 2 * above
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        below, above = (middle, above) if _passed(count, middle) > left_open else (below, middle)
    return above


def _passed(count: int, t: float) -> float:
    return (_tail(count + 1, t) - t / count * _tail(count, t)) / 2


def _tail(shape: int, t: float) -> float:
    """P[K > t] for a gamma variable K."""
    return sum(accumulate(range(1, shape), lambda term, k: term * t / k, initial=exp(-t)))
