"""Which ranks to ask for, so that the values chosen there hold a quantile, or an extreme, between them.

A quantile is between the values of two ranks, some rows below its own and as many above; an extreme is beyond the value
of one rank, some rows from the end. How many rows follows from the law of the choice: docs/proofs/quantiles.md, 6.
"""

from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import ceil, exp, log, sqrt

import numpy as np

from adomnia.mechanisms.quantiles import MOST_BEYOND, Quantiles, Target, scores
from adomnia.noise import Integers
from adomnia.privacy.aggregates import Histogram
from adomnia.privacy.events import Price
from adomnia.privacy.queries import Query

_EXTREMES = ((Fraction(0),), (Fraction(1),))
_HALF = Fraction(1, 2)
_HALVINGS = 60


def choice(query: Query, price: Price) -> Quantiles:
    """The choice that a price buys for a histogram."""
    aggregate = query.aggregate
    assert isinstance(aggregate, Histogram)  # noqa: S101 - nothing else is chosen from
    rate = Quantiles.rate_for(query.sensitivity(), price)
    return Quantiles(_targets(aggregate, rate), aggregate.values, rate)


def spread_evenly(choice: Quantiles, rows: int) -> Integers:
    """What would be chosen without chance from rows whose values lie evenly over the grid."""
    ranks = [float(target.share * rows + target.offset) / max(rows, 1) for target in choice.targets]
    found: Integers = np.clip(np.rint(np.array(ranks) * (choice.values - 1)), -1, choice.values).astype(np.int64)
    return found


def _targets(aggregate: Histogram, rate: Fraction) -> tuple[Target, ...]:
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
