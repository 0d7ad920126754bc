"""The distribution of a choice of quantiles, by enumeration and in doubles: what the mechanism is held against."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp
from typing import TYPE_CHECKING

import numpy as np

from adomnia.mechanisms.histograms import SecretHistogram
from adomnia.mechanisms.round_numbers import Target, scores
from adomnia.privacy.scans import bucket_bits
from adomnia.privacy.sensitivity import Sensitivity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from adomnia.mechanisms.quantiles import Quantiles
    from adomnia.noise import Bits

Place = int
ONE = Sensitivity(l1=1)


def candidates(mechanism: Quantiles, target: Target, rows: Sequence[int]) -> list[tuple[Place, int, Fraction]]:
    """Every value that may be chosen for a target, how often it counts, and its distance in moves of one row.

    Written from the definition, with counts of rows and fractions; those beyond the grid are one.
    """
    rank = target.share * len(rows) + target.offset
    if target.share in (0, 1):
        rank = min(max(rank, Fraction(0)), Fraction(len(rows)))
    shares = [each.share for each in mechanism.targets]
    whole, parts = scores(shares)
    move = Fraction(whole, parts[mechanism.targets.index(target)] * target.share.denominator)
    edges = np.arange(mechanism.values + 1)
    inside = edges if mechanism.rounds is None else mechanism.rounds.before(edges)
    values = list(enumerate(np.diff(inside).tolist()))
    values += [(-1, -target.beyond * mechanism.values)] if target.beyond < 0 else []
    values += [(mechanism.values, target.beyond * mechanism.values)] if target.beyond > 0 else []
    return [
        (
            value,
            copies,
            max(Fraction(0), sum(row < value for row in rows) - rank, rank - sum(row <= value for row in rows)) / move,
        )
        for value, copies in values
    ]


def exact_distribution(mechanism: Quantiles, rows: Sequence[int]) -> dict[tuple[Place, ...], float]:
    """The probability of every outcome, by enumeration."""
    weights: dict[tuple[Place, ...], float] = {}
    for box in product(*(candidates(mechanism, target, rows) for target in mechanism.targets)):
        copies = float(np.prod([each[1] for each in box]))
        weights[tuple(each[0] for each in box)] = copies * exp(-float(mechanism.rate * max(each[2] for each in box)))
    total = sum(weights.values())
    return {outcome: weight / total for outcome, weight in weights.items()}


def secret(
    mechanism: Quantiles, *cells: Sequence[int], reads: list[Sequence[int] | None] | None = None
) -> SecretHistogram:
    """The rows of cells as a histogram that is paid for, noting what is read of it."""

    shift = bucket_bits(mechanism.values)

    def read(buckets: Sequence[int] | None) -> NDArray[np.int64]:
        if reads is not None:
            reads.append(buckets)
        found = []
        for cell, rows in enumerate(cells):
            values = np.array(rows, dtype=np.int64)
            values = values >> shift if buckets is None else values[np.isin(values >> shift, buckets)]
            distinct, counts = np.unique(values, return_counts=True)
            found.append(np.stack([np.full(len(distinct), cell), distinct, counts]))
        return np.hstack(found)

    return SecretHistogram(read, len(cells), ONE, mechanism.event(ONE))


def drawn(mechanism: Quantiles, rows: Sequence[int], size: int, bits: Bits) -> NDArray[np.int64]:
    """Many draws of one cell in doubles: a level first, then each value evenly among those it reaches."""
    values, counts = np.unique(np.array(rows, dtype=np.int64), return_counts=True)
    per_value = np.zeros(mechanism.values + 2, dtype=np.int64)  # the first and the last stand for what lies beyond
    per_value[values + 1] = counts
    upper = np.cumsum(per_value)
    losses = mechanism.losses(upper - per_value, upper)
    sizes = [np.ones(mechanism.values + 2, dtype=np.int64) for _ in mechanism.targets]
    for size_of, target in zip(sizes, mechanism.targets, strict=True):
        size_of[0], size_of[-1] = max(0, -target.beyond) * mechanism.values, max(0, target.beyond) * mechanism.values
    levels = np.unique(np.concatenate([loss[of > 0] for loss, of in zip(losses, sizes, strict=True)]))
    orders = [np.argsort(loss, kind="stable") for loss in losses]
    ends = [np.cumsum(of[order]) for of, order in zip(sizes, orders, strict=True)]
    reached = [
        np.concatenate([[0], end])[np.searchsorted(loss[order], levels, side="right")]
        for end, loss, order in zip(ends, losses, orders, strict=True)
    ]
    scaled = levels * float(mechanism.part)
    with np.errstate(divide="ignore"):
        weights = np.sum([np.log(each.astype(np.float64)) for each in reached], axis=0) - scaled
        weights += np.log(-np.expm1(-np.append(np.diff(scaled), np.inf)))
    cumulative = np.cumsum(np.exp(weights - weights.max()))
    at = np.searchsorted(cumulative, uniform(size, bits) * cumulative[-1], side="right")
    chosen = [
        order[np.searchsorted(end, np.floor(uniform(size, bits) * each[at]), side="right")] - 1
        for order, end, each in zip(orders, ends, reached, strict=True)
    ]
    return np.stack(chosen, axis=-1)


def uniform(size: int, bits: Bits) -> NDArray[np.float64]:
    """Doubles of [0, 1)."""
    return (bits.words(size) >> np.uint64(11)) * 2.0**-53
