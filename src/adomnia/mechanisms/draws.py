"""Draws values by their ranks from as much of a histogram as it takes: docs/proofs/quantiles.md, 3."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import Failure
from adomnia.mechanisms.histograms import Buckets, Flow, Known, Rows
from adomnia.mechanisms.round_numbers import RoundNumbers, Target
from adomnia.noise import Bits, draw_below, geometric, level

_MOST_TRIALS = 1000  # each fails with a chance of 2/3 at most


@dataclass(frozen=True)
class Segment:
    """A part of a grid whose values have `parts` parts each, rows in equal shares: candidates, and the rows that count.

    Candidates are the parts from `first` to `last`; rows count in the parts from `start` on, before `stop`. Where what
    is chosen will divide the rows, each part is a candidate with a rank of its own; else all parts of a value are one.
    """

    first: int
    last: int
    start: int
    stop: int
    parts: int = 1
    divides: bool = False

    @classmethod
    def whole(cls, values: int, parts: int = 1) -> Self:
        """All values, and all rows."""
        return cls(0, values * parts - 1, 0, values * parts, parts)

    def locate(self, known: Known) -> tuple[Rows, Rows]:
        """The parts where something is known to lie, each with its rows in shares of 1 / parts; others have none."""
        values, counts = known.found[:, slice(*np.searchsorted(known.found[0] * self.parts, self._reach))]
        if self.divides:
            values, counts = np.repeat(values * self.parts, self.parts), np.repeat(counts, self.parts)
            values += np.tile(np.arange(self.parts), len(values) // self.parts)
            counts = np.where((values >= self.start) & (values < self.stop), counts, 0)
        else:
            values = values * self.parts
            inside = np.minimum(values + self.parts, self.stop) - np.maximum(values, self.start)
            counts = counts * np.maximum(inside, 0)
        heads = np.flatnonzero(known.open & (known.coarse > 0)) << known.shift
        inside = (heads * self.parts >= self.start) & (heads * self.parts < self.stop)
        rows = known.coarse[heads[inside] >> known.shift] * self.parts
        return np.concatenate([heads[inside] * self.parts, values]), np.concatenate([rows, counts])

    @property
    def _reach(self) -> tuple[int, int]:
        return self.first - self.parts + 1, self.last + 1

    def widths(self, places: Rows, known: Known) -> Rows:
        """How many parts each place is long: a bucket, a value or a part."""
        heads = (places // self.parts >> known.shift) << known.shift
        is_open = known.open[heads >> known.shift] & (known.coarse[heads >> known.shift] > 0)
        single = 1 if self.divides else self.parts
        return np.where(is_open, np.minimum((heads + (1 << known.shift)) * self.parts, self.last + 1) - places, single)

    def candidates_before(self, places: Rows, rounds: RoundNumbers | None) -> Rows:
        """How many candidates lie below each of these parts: a part of a value is as many as the value."""
        if rounds is None:
            return places
        values, parts = np.divmod(places, self.parts)
        below = rounds.before(values)
        if self.parts == 1:
            return below
        found: Rows = below * self.parts + parts * (rounds.before(values + 1) - below)
        return found

    def find(self, start: int, size: int, candidate: int, rounds: RoundNumbers | None) -> int:
        """The part that a candidate belongs to, counted from that where a piece of so many parts starts."""
        if rounds is None:
            return start + candidate
        candidate += int(self.candidates_before(np.array([start]), rounds)[0])
        low, high = start // self.parts, (start + size - 1) // self.parts + 1
        value = rounds.find(candidate // self.parts, low, high)
        left = candidate - self.parts * int(rounds.before(np.array([value]))[0])
        return value * self.parts + left // int(np.diff(rounds.before(np.array([value, value + 1])))[0])


@dataclass(frozen=True)
class Pieces:
    """The candidates of one cell in pieces, and what lies beyond either end of them as the first and the last.

    Pieces are values that rows hold, runs of values that none holds, and open buckets, of which only the number of rows
    is known: the ranks of a value there are somewhere from `lower` to `upper`.
    """

    starts: Rows
    sizes: Rows  # in candidates
    lower: Rows
    upper: Rows
    open: NDArray[np.bool_]
    segment: Segment
    rounds: RoundNumbers | None

    @classmethod
    def of(cls, segment: Segment, known: Known, rounds: RoundNumbers | None = None) -> Self:
        places, counts = segment.locate(known)
        ends = places + segment.widths(places, known)
        starts = np.concatenate([[segment.first], places, ends])
        starts = np.sort(starts[(starts >= segment.first) & (starts <= segment.last)])
        starts = starts[np.diff(starts, prepend=segment.first - 1) > 0]
        rows = np.zeros(len(starts) + 2, dtype=np.int64)
        np.add.at(rows, np.searchsorted(starts, np.maximum(places, segment.first)) + 1, counts)
        ends = np.append(starts, segment.last + 1)
        sizes = np.concatenate([[0], np.diff(segment.candidates_before(ends, rounds)), [0]])
        upper = np.cumsum(rows)
        buckets = starts // segment.parts >> known.shift
        is_open = known.open[buckets] & (known.coarse[buckets] > 0)
        return cls(
            np.concatenate([[segment.first - 1], starts, [segment.last + 1]]),
            sizes,
            upper - rows,
            upper,
            np.concatenate([[False], is_open & (rows[1:-1] > 0) & (np.diff(ends) > 1), [False]]),
            segment,
            rounds,
        )

    def holding(self, values: Sequence[int]) -> NDArray[np.intp]:
        """The pieces that values lie in."""
        return np.searchsorted(self.starts, values, side="right") - 1

    def find(self, piece: int, candidate: int) -> int:
        """The part of a piece that one of its candidates belongs to; all those beyond one end are one."""
        start, size = int(self.starts[piece]), int(self.sizes[piece])
        if not size:
            return start
        return self.segment.find(start, int(self.starts[piece + 1]) - start, candidate, self.rounds)


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

    def value(self, place: int, pieces: Pieces) -> int:
        """The value at a place among the candidates that are reached."""
        at = int(np.searchsorted(self.ends, place, side="right"))
        return pieces.find(int(self.order[at]), int(self.ends[at]) - 1 - place)


class _Choice(Protocol):
    """What values are drawn by: how far ranks are from targets, in parts of a score that cost a rate each."""

    @property
    def targets(self) -> tuple[Target, ...]: ...
    @property
    def values(self) -> int: ...
    @property
    def rounds(self) -> RoundNumbers | None: ...
    @property
    def part(self) -> Fraction: ...
    @property
    def stride(self) -> int: ...
    @property
    def levels(self) -> int: ...
    def losses(self, lower: Rows, upper: Rows) -> list[Rows]: ...


class Draw:
    """The choice in one cell, from as much of its histogram as it takes: an open bucket is as near as it could be.

    Every trial proposes by what is known and accepts by the truth, so that what is known does not show in the choice.
    """

    def __init__(self, choice: _Choice, known: Known, segment: Segment) -> None:
        self._choice, self._known, self._segment = choice, known, segment
        self._limit = -1
        self.chosen = [segment.first] * len(choice.targets)
        self.arrange()

    def near(self) -> Buckets:
        """The open buckets that may well be drawn from: to begin with all of those saves looking twice."""
        limit = self._base + self._choice.stride * self._choice.levels
        return self._buckets(np.flatnonzero(np.min(self._losses, axis=0) <= limit))

    def drawn(self, bits: Bits) -> Buckets:
        """Draw until values are accepted, or until buckets must be looked into to tell: then those, and wait."""
        for _ in range(_MOST_TRIALS):
            held = self._pieces.holding(self.chosen)
            if max(losses[piece] for losses, piece in zip(self._losses, held, strict=True)) <= self._limit:
                return self._buckets(held)
            self._propose(bits)
        raise Failure()

    def arrange(self) -> None:
        """Take what is known by now."""
        choice = self._choice
        pieces = self._pieces = Pieces.of(self._segment, self._known, choice.rounds)
        self._losses = choice.losses(pieces.lower, pieces.upper)
        sizes = [_counted(pieces.sizes, target.beyond * choice.values) for target in choice.targets]
        self._base = max(int(losses[size > 0].min()) for losses, size in zip(self._losses, sizes, strict=True))
        steps = [np.clip((losses - self._base) // choice.stride, 0, choice.levels - 1) for losses in self._losses]
        self._ladders = [_Ladder.of(*each, choice.levels) for each in zip(steps, sizes, strict=True)]
        self._copies = list(map(prod, zip(*(ladder.reached for ladder in self._ladders), strict=True)))

    def _propose(self, bits: Bits) -> None:
        part, stride = self._choice.part, self._choice.stride
        reached = level(self._copies, part * stride, bits)
        self._limit = self._base + stride * reached + int(geometric(1 / part, (), bits)) % stride
        at = min(reached, self._choice.levels - 1)
        self.chosen = [ladder.value(draw_below(ladder.reached[at], bits), self._pieces) for ladder in self._ladders]

    def _buckets(self, pieces: NDArray[np.intp]) -> Buckets:
        open_ = pieces[self._pieces.open[pieces]]
        return sorted({int(start) // self._segment.parts >> self._known.shift for start in self._pieces.starts[open_]})


def choose(choice: _Choice, known: Known, segment: Segment, bits: Bits) -> Flow:
    """Draw values for all targets of a choice, asking for what must be looked into."""
    draw = Draw(choice, known, segment)
    while wanted := draw.drawn(bits):
        yield wanted
        draw.arrange()
    return draw.chosen


def _counted(sizes: Rows, beyond: int) -> Rows:
    return np.concatenate([[max(0, -beyond)], sizes[1:-1], [max(0, beyond)]])
