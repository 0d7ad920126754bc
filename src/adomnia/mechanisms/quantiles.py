"""Quantiles: values of a public grid, chosen by how far their ranks are from the ranks that are wanted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, log, prod
from typing import ClassVar, Self, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import Failure
from adomnia.mechanisms.contract import PriceKind
from adomnia.mechanisms.ranks import MOST_BEYOND, Target, find_targets, scores
from adomnia.mechanisms.secret import Secret
from adomnia.noise import Bits, Integers, draw_below, geometric, level
from adomnia.privacy.aggregates import Histogram, bucket_bits
from adomnia.privacy.amounts import positive
from adomnia.privacy.enclosures import sqrt_down
from adomnia.privacy.events import BoundedRange, Concentrated, Event, Price, Pure
from adomnia.privacy.queries import Form, Query
from adomnia.privacy.sensitivity import Sensitivity

FINEST_SHARE = 1000  # shares are multiples of 1 / so many
MOST_VALUES = 2**40  # of a grid: far from the end of 64 bits
_SPARE_NATS = 20  # so surely is the level below the last one
_MOST_TRIALS = 1000  # each fails with a chance of 2/3 at most

Rows: TypeAlias = NDArray[np.int64]  # of a histogram: cells, values and counts, one below the other
Read: TypeAlias = Callable[[Sequence[int] | None], Integers]  # how many rows: in each bucket, or of each value of some


@final
class SecretHistogram:
    """Counts that nobody has read yet: a mechanism paid for in advance may, bucket by bucket, and it alone."""

    __slots__ = ("_lock", "_read", "cells")

    def __init__(self, read: Read, cells: int, sensitivity: Sensitivity, reserved: Event) -> None:
        self._lock = Secret(np.zeros(0, dtype=np.int64), sensitivity, reserved)
        self._read, self.cells = read, cells

    def opened_by(self, mechanism: "Quantiles") -> Read:
        """The way to read them, once, and only for a choice that costs at most what was reserved."""
        self._lock.opened_by(mechanism)
        return self._read


@final
@dataclass(frozen=True)
class Quantiles:
    """For every target a value of the grid 0, 1, ..., values - 1, all of them at once, in every cell of a histogram.

    Guarantee   (2 * rate * L1 sensitivity)-bounded range, over all targets and cells together.
    Conditions  the sensitivity is that of counting rows; grid, targets and the number of cells are public.
    Noise       P[v_1, v_2, ...] proportional to exp(-rate * max_i distance_i(v_i) / move_i): distances in rows, of
                which one row moves one by at most move_i = max(share_i, 1 - share_i).
    Proof       docs/proofs/quantiles.md.

    >>> Quantiles((Target(Fraction(1, 2), Fraction(0)),), 101, Fraction(1, 4)).event(Sensitivity(l1=1)).epsilon
    Fraction(1, 2)
    """

    prices: ClassVar[tuple[PriceKind, ...]] = (Pure, Concentrated)
    reads: ClassVar[Form] = "histogram"

    targets: tuple[Target, ...]
    values: int
    rate: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", positive(self.rate, "Quantiles", "rate"))
        if not self.targets or any(not 0 <= t.share <= 1 or FINEST_SHARE % t.share.denominator for t in self.targets):
            raise ValueError(f"Quantiles shares must be multiples of 1/{FINEST_SHARE} from 0 to 1.")
        if not 1 <= self.values <= MOST_VALUES or any(abs(target.beyond) > MOST_BEYOND for target in self.targets):
            raise ValueError(f"Quantiles values must number between 1 and {MOST_VALUES:,}, got {self.values:,}.")
        farthest = max(abs(target.offset) * target.share.denominator for target in self.targets) * self._scores[0]
        if not 2**-6 <= 1 / self.part <= 2**48 or farthest > 2**61:  # beyond, some numbers of rows would leave 64 bits
            raise ValueError(f"Quantiles rate must suit ranks of 64 bits, got {float(self.rate):g}.")

    @classmethod
    def for_query(cls, query: Query, price: Price) -> Self:
        """The choice that a price buys for a histogram: the ranks that are asked for depend on how sharp it is."""
        if not isinstance(query.aggregate, Histogram):
            raise TypeError(f"Quantiles are chosen from a Histogram, got {query.aggregate}.")
        rate = cls.rate_for(query.sensitivity(), price)
        return cls(find_targets(query.aggregate, rate), query.aggregate.values, rate)

    def shape(self, query: Query) -> tuple[int, ...]:
        return (*query.shape, len(self.targets))

    def spread_evenly(self, rows: int) -> Integers:
        """What would be chosen without chance from rows whose values lie evenly over the grid."""
        ranks = [float(target.share * rows + target.offset) / max(rows, 1) for target in self.targets]
        found: Integers = np.clip(np.rint(np.array(ranks) * (self.values - 1)), -1, self.values).astype(np.int64)
        return found

    @staticmethod
    def rate_for(sensitivity: Sensitivity, price: Price) -> Fraction:
        """The highest rate that costs at most the price: bounded range e is e**2 / 8-zCDP."""
        if not isinstance(price, Pure | Concentrated):
            raise TypeError(f"Quantiles are bought with Pure(epsilon) or Concentrated(rho), got {price}.")
        epsilon = price.epsilon if isinstance(price, Pure) else sqrt_down(8 * price.rho)
        return epsilon / (2 * sensitivity.l1)

    def event(self, sensitivity: Sensitivity) -> BoundedRange:
        return BoundedRange(2 * self.rate * sensitivity.l1)

    def release(self, secret: SecretHistogram, bits: Bits) -> Integers:
        """The chosen values of every cell, a column for each target; some may lie beyond the grid."""
        read = secret.opened_by(self)
        coarse = np.zeros((secret.cells, len(range(0, self.values, 1 << self.shift))), dtype=np.int64)
        cells, buckets, counts = read(None)
        coarse[cells, buckets] = counts
        chosen = np.empty((secret.cells, len(self.targets)), dtype=np.int64)
        wanted = {cell: _Draw(self, counts).near() for cell, counts in enumerate(coarse)}
        waiting: dict[int, _Draw] = {}  # those alone are kept that one look was not enough for
        while wanted:
            asked = sorted(set().union(*wanted.values()))
            found = np.asarray(read(asked) if asked else np.zeros((3, 0)), dtype=np.int64)
            found = found[:, np.argsort(found[0], kind="stable")]
            for cell, open_ in list(wanted.items()):
                draw = waiting.pop(cell, None) or _Draw(self, coarse[cell])
                first, last = np.searchsorted(found[0], [cell, cell + 1])
                draw.refine(found[1:, first:last], open_)
                wanted[cell], chosen[cell] = draw.drawn(bits), draw.chosen
                if wanted[cell]:
                    waiting[cell] = draw
                else:
                    del wanted[cell]
        return chosen

    @property
    def shift(self) -> int:
        """A bucket holds 2**shift values."""
        return bucket_bits(self.values)

    @cached_property
    def _scores(self) -> tuple[int, tuple[int, ...]]:
        return scores([target.share for target in self.targets])

    @cached_property
    def part(self) -> Fraction:
        """The rate of one part of a score."""
        return self.rate / self._scores[0]

    @cached_property
    def stride(self) -> int:
        """So many parts of a score make one level to choose from: few enough that most of its values are accepted."""
        return max(1, int(1 / self.part))

    @cached_property
    def levels(self) -> int:
        """Beyond so many levels lies next to nothing, whatever the data."""
        nats = sum(log(self.values * (1 + abs(target.beyond))) for target in self.targets) + _SPARE_NATS
        return ceil(nats / float(self.part * self.stride)) + 1

    def losses(self, lower: Rows, upper: Rows) -> list[Rows]:
        """How far ranks from `lower` to `upper` are from each target, in parts of a score; the last is of all rows."""
        return [_loss(*each, lower, upper) for each in zip(self.targets, self._scores[1], strict=True)]


def _loss(target: Target, parts: int, lower: Rows, upper: Rows) -> Rows:
    one, rows = parts * target.share.denominator, int(upper[-1])
    rank = parts * target.share.numerator * rows + round(target.offset * one)
    if target.share in (0, 1):  # one row moves these scores by a whole row anyway
        rank = min(max(rank, 0), one * rows)
    return np.maximum(0, np.maximum(one * lower - rank, rank - one * upper))


@dataclass(frozen=True)
class _Pieces:
    """The grid of one cell in pieces, and what lies beyond either end of it as the first and the last.

    Pieces are single values that rows hold, runs of values that none holds, and open buckets, of which only the number
    of rows is known: the ranks of a value there are somewhere from `lower` to `upper`.
    """

    starts: Rows
    sizes: Rows
    lower: Rows
    upper: Rows

    @classmethod
    def of(cls, values: int, heads: Rows, coarse: Rows, found: Rows) -> Self:
        """From the first values of open buckets with their counts, and values with theirs."""
        starts = np.unique(np.concatenate([heads, found[0], found[0] + 1]))
        starts = starts[starts < values]
        rows = np.zeros(len(starts) + 2, dtype=np.int64)
        rows[np.searchsorted(starts, heads) + 1] = coarse
        rows[np.searchsorted(starts, found[0]) + 1] = found[1]
        sizes = np.concatenate([[0], np.diff(starts, append=values), [0]])
        return cls(np.concatenate([[-1], starts, [values]]), sizes, np.cumsum(rows) - rows, np.cumsum(rows))

    @cached_property
    def open(self) -> NDArray[np.bool_]:
        return (self.lower < self.upper) & (self.sizes > 1)

    def holding(self, values: Sequence[int]) -> NDArray[np.intp]:
        return np.searchsorted(self.starts, values, side="right") - 1


@dataclass(frozen=True)
class _Ladder:
    """The pieces by their losses for one target, and how many values each level reaches."""

    order: NDArray[np.intp]
    ends: Rows
    reached: list[int]

    @classmethod
    def of(cls, steps: Rows, sizes: Rows, levels: int) -> Self:
        order = np.argsort(steps, kind="stable")
        ends = np.cumsum(sizes[order])
        last = np.searchsorted(steps[order], np.arange(levels), side="right")
        return cls(order, ends, np.concatenate([[0], ends])[last].tolist())

    def value(self, place: int, pieces: _Pieces) -> int:
        """The value at a place among those that are reached; all those beyond one end are one."""
        at = int(np.searchsorted(self.ends, place, side="right"))
        piece = self.order[at]
        return int(pieces.starts[piece] + min(self.ends[at] - 1 - place, max(0, pieces.sizes[piece] - 1)))


class _Draw:
    """The choice in one cell, from as much of its histogram as it takes: an open bucket is as near as it could be.

    Every trial proposes by what is known and accepts by the truth, so that what is known does not show in the choice.
    """

    def __init__(self, law: Quantiles, coarse: Rows) -> None:
        self._law, self._coarse = law, coarse
        self._open = np.ones(len(coarse), dtype=bool)
        self._found: Rows = np.zeros((2, 0), dtype=np.int64)
        self._limit = -1
        self.chosen = [0] * len(law.targets)

    def near(self) -> list[int]:
        """The open buckets that may well be drawn from: to begin with all of those saves looking twice."""
        self._arrange()
        limit = self._base + self._law.stride * self._law.levels
        return self._buckets(np.flatnonzero(np.min(self._losses, axis=0) <= limit))

    def refine(self, found: Rows, buckets: list[int]) -> None:
        """The counts of single values in buckets; those of other buckets are left aside."""
        self._open[buckets] = False
        self._found = np.hstack([self._found, found[:, np.isin(found[0] >> self._law.shift, buckets)]])
        self._arrange()

    def drawn(self, bits: Bits) -> list[int]:
        """Draw until values are accepted, or until buckets must be looked into to tell: then those, and wait."""
        for _ in range(_MOST_TRIALS):
            held = self._pieces.holding(self.chosen)
            if max(losses[piece] for losses, piece in zip(self._losses, held, strict=True)) <= self._limit:
                return self._buckets(held)
            self._propose(bits)
        raise Failure()

    def _propose(self, bits: Bits) -> None:
        part, stride = self._law.part, self._law.stride
        reached = level(self._copies, part * stride, bits)
        self._limit = self._base + stride * reached + int(geometric(1 / part, (), bits)) % stride
        at = min(reached, self._law.levels - 1)
        self.chosen = [ladder.value(draw_below(ladder.reached[at], bits), self._pieces) for ladder in self._ladders]

    def _buckets(self, pieces: NDArray[np.intp]) -> list[int]:
        open_ = pieces[self._pieces.open[pieces]]
        return sorted({int(start) >> self._law.shift for start in self._pieces.starts[open_]})

    def _arrange(self) -> None:
        law = self._law
        heads = np.arange(len(self._coarse)) << law.shift
        pieces = self._pieces = _Pieces.of(law.values, heads, np.where(self._open, self._coarse, 0), self._found)
        self._losses = law.losses(pieces.lower, pieces.upper)
        sizes = [_counted(pieces.sizes, target.beyond * law.values) for target in law.targets]
        self._base = max(int(losses[size > 0].min()) for losses, size in zip(self._losses, sizes, strict=True))
        steps = [np.clip((losses - self._base) // law.stride, 0, law.levels - 1) for losses in self._losses]
        self._ladders = [_Ladder.of(*each, law.levels) for each in zip(steps, sizes, strict=True)]
        self._copies = list(map(prod, zip(*(ladder.reached for ladder in self._ladders), strict=True)))


def _counted(sizes: Rows, beyond: int) -> Rows:
    return np.concatenate([[max(0, -beyond)], sizes[1:-1], [max(0, beyond)]])
