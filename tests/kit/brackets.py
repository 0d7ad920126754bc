"""Brackets and halving: their distributions by enumeration, stage by stage, and many quick draws in doubles.

The quick draws run the mechanism's own code, from the noisy number of rows to the last count; only the exact samplers
are replaced by doubles, and all of a histogram is read at once.
"""

from __future__ import annotations

from contextlib import contextmanager
from fractions import Fraction
from itertools import pairwise
from math import exp, expm1, sqrt
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from adomnia.mechanisms import brackets, halving
from adomnia.mechanisms.draws import Pieces, Segment
from adomnia.mechanisms.halving import PARTS, Halving
from adomnia.mechanisms.histograms import Known, SecretHistogram
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.privacy.scans import bucket_bits
from adomnia.privacy.sensitivity import Sensitivity
from kit.bits import SeededBits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from adomnia.mechanisms.brackets import Brackets
    from adomnia.mechanisms.quantiles import Quantiles
    from adomnia.mechanisms.round_numbers import RoundNumbers


def secret(mechanism: Any, rows: Sequence[int], cells: int = 1) -> SecretHistogram:
    """Cells that all hold the same rows, paid for."""
    shift, values = bucket_bits(mechanism.values), np.asarray(rows, dtype=np.int64)
    fine, coarse = (np.unique(each, return_counts=True) for each in (values, values >> shift))

    def read(buckets: Sequence[int] | None) -> NDArray[np.int64]:
        found, counts = coarse if buckets is None else fine
        kept = np.ones(len(found), dtype=bool) if buckets is None else np.isin(found >> shift, buckets)
        found, counts = found[kept], counts[kept]
        return np.stack([np.repeat(np.arange(cells), len(found)), np.tile(found, cells), np.tile(counts, cells)])

    moved = Sensitivity(l1=mechanism.rows)
    return SecretHistogram(read, cells, moved, mechanism.event(moved))


def drawn(
    mechanism: Brackets | Halving, rows: Sequence[int], size: int, seed: object, wider: float = 1
) -> NDArray[np.int64]:
    """Many draws of one cell in doubles, with noise so many times as wide as the distribution says."""
    with in_doubles(np.random.default_rng(abs(hash(str(seed))) if not isinstance(seed, int) else seed), wider):
        return mechanism.release(secret(mechanism, rows, size), SeededBits("unused"))


@contextmanager
def in_doubles(random: np.random.Generator, wider: float = 1) -> Iterator[None]:
    """All samplers of brackets and halving replaced by doubles."""
    known_pieces: dict[Any, Pieces] = {}

    def choose(mechanism: Quantiles, known: Known, segment: Segment, _: object) -> Any:
        whole = segment.start == 0 and segment.stop == known.values * segment.parts
        pieces = known_pieces.get(segment) or Pieces.of(segment, known, mechanism.rounds)
        if whole:
            known_pieces[segment] = pieces  # all cells hold the same rows
        return _choose(mechanism, pieces, random, wider)
        yield  # a generator, like the one that it stands for

    def add(exact: Sequence[int], noise: Any, _: object) -> list[int]:
        return (np.asarray(exact) + _noise(noise, len(exact), random, wider)).tolist()

    def run_cells(read: Any, values: int, coarse: Any, _: object, start: Any) -> list[list[int]]:
        """Cells that all hold the same rows are read once, all of it."""
        known, buckets = Known(values, coarse[0]), np.flatnonzero(coarse[0]).tolist()
        found = read(buckets)
        known.refine(found[1:, found[0] == 0], buckets)
        return [_end_of(start(cell, known)) for cell in range(len(coarse))]

    with (
        patch.object(brackets, "choose", choose),
        patch.object(halving, "choose", choose),
        patch.object(brackets, "_add", add),
        patch.object(brackets, "run_cells", run_cells),
        patch.object(halving, "run_cells", run_cells),
    ):
        yield


def _end_of(flow: Iterator[Any]) -> list[int]:
    """What a flow returns that has nothing to ask for."""
    try:
        next(flow)
    except StopIteration as end:
        return end.value
    raise AssertionError("It asks for something.")


def _noise(noise: Any, size: int, random: np.random.Generator, wider: float) -> NDArray[np.int64]:
    if isinstance(noise, DiscreteLaplace):
        stop = -expm1(-1 / (float(noise.scale) * wider))
        return random.geometric(stop, size) - random.geometric(stop, size)
    return np.rint(random.normal(0, sqrt(noise.variance) * wider, size)).astype(np.int64)


def _choose(mechanism: Quantiles, pieces: Pieces, random: np.random.Generator, wider: float) -> list[int]:
    losses = [each[1:-1] for each in mechanism.losses(pieces.lower, pieces.upper)]
    sizes, part = pieces.sizes[1:-1], float(mechanism.part) / wider
    if len(losses) == 1:
        with np.errstate(divide="ignore"):
            picked = [np.argmax(np.log(sizes) - part * losses[0] + random.gumbel(size=len(sizes)))]
    else:
        level = _level(losses, sizes, part, random)
        picked = []
        for loss in losses:
            inside = np.cumsum(np.where(loss <= level, sizes, 0))
            picked.append(np.searchsorted(inside, random.integers(inside[-1]), side="right"))
    return [pieces.find(int(piece) + 1, int(random.integers(sizes[piece]))) for piece in picked]


def _level(losses: list[Any], sizes: Any, part: float, random: np.random.Generator) -> float:
    """The level of a box: exp(-part * level) for each, times how many boxes it reaches."""
    base = max(loss.min() for loss in losses)
    levels = np.unique(np.concatenate(losses))
    levels = levels[(levels >= base) & (levels <= base + 60 / part)]
    logs = -part * (levels - base) + np.log(-np.expm1(-part * np.append(np.diff(levels), np.inf)))
    for loss in losses:
        order = np.argsort(loss)
        reached = np.concatenate([[0], np.cumsum(sizes[order])])[np.searchsorted(loss[order], levels, side="right")]
        logs += np.log(reached)
    return float(levels[np.argmax(logs + random.gumbel(size=len(levels)))])


def halving_distribution(  # noqa: PLR0913, PLR0917 - what its definition names
    shares: Sequence[Fraction],
    rows: Sequence[int],
    values: int,
    total: int,
    rate: Fraction,
    rounds: RoundNumbers | None = None,
) -> dict[tuple[int, ...], float]:
    """The probability of every outcome of halving, by enumeration from its definition: rows are spread over parts."""
    copies = [1] * values if rounds is None else np.diff(rounds.before(np.arange(values + 1))).tolist()
    masses = [Fraction(rows.count(part // PARTS), PARTS) for part in range(values * PARTS)]

    def solve(first: int, last: int, left: Fraction, right: Fraction, span: tuple[int, int, int, int]) -> Any:
        if first == last:
            return {(): 1.0}
        middle = (first + last) // 2
        share, found = shares[middle], {}
        target, size = (share - left) / (right - left), sum(masses[span[2] : span[3]], Fraction(0))
        choice = halving.choice_of(values, target, total * (right - left), rate)
        near = choice.targets[0].share
        rank = near * size + choice.targets[0].offset / PARTS
        weights = {}
        for part in range(span[0], span[1] + 1):
            low, high = (part, part + 1) if last - first > 1 else (part // PARTS * PARTS, part // PARTS * PARTS + PARTS)
            below = sum(masses[span[2] : max(span[2], min(low, span[3]))], Fraction(0))
            upto = sum(masses[span[2] : max(span[2], min(high, span[3]))], Fraction(0))
            off = max(Fraction(0), below - rank, rank - upto)
            weights[part] = copies[part // PARTS] * exp(-float(rate * off / max(near, 1 - near)))
        for part, weight in weights.items():
            chance = weight / sum(weights.values())
            below_it = solve(first, middle, left, share, (span[0], part, span[2], min(span[3], part)))
            above_it = solve(middle + 1, last, share, right, (part, span[1], max(span[2], part + 1), span[3]))
            for one, its in below_it.items():
                for other, chance_of in above_it.items():
                    outcome = (*one, part // PARTS, *other)
                    found[outcome] = found.get(outcome, 0.0) + chance * its * chance_of
        return found

    return solve(0, len(shares), Fraction(0), Fraction(1), (0, values * PARTS - 1, 0, values * PARTS))


def counts_between(edges: Sequence[int], rows: Sequence[int]) -> list[int]:
    """How many rows lie before, between and after edges."""
    below = [sum(row < edge for row in rows) for edge in edges]
    return [after - before for before, after in pairwise([0, *below, len(rows)])]
