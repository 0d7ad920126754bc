"""Histograms on their way to a choice: sealed, paid for, and read bucket by bucket, as far as it takes."""

from collections.abc import Callable, Generator, Sequence
from typing import Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.secret import Secret
from adomnia.noise import Integers
from adomnia.privacy.events import Event
from adomnia.privacy.scans import bucket_bits
from adomnia.privacy.sensitivity import Sensitivity

Rows: TypeAlias = NDArray[np.int64]  # of a histogram: cells, values and counts, one below the other
Read: TypeAlias = Callable[[Sequence[int] | None], Integers]  # how many rows: in each bucket, or of each value of some
Buckets: TypeAlias = list[int]
Flow: TypeAlias = Generator[Buckets, None, list[int]]  # asks for buckets to be looked into, and returns integers


class _Opener(Protocol):
    def event(self, sensitivity: Sensitivity) -> Event: ...


@final
class SecretHistogram:
    """Counts that nobody has read yet: a mechanism paid for in advance may, bucket by bucket, and it alone."""

    __slots__ = ("_lock", "_read", "cells")

    def __init__(self, read: Read, cells: int, sensitivity: Sensitivity, reserved: Event) -> None:
        self._lock = Secret(np.zeros(0, dtype=np.int64), sensitivity, reserved)
        self._read, self.cells = read, cells

    def opened_by(self, mechanism: _Opener) -> Read:
        """The way to read them, once, and only for a choice that costs at most what was reserved."""
        self._lock.opened_by(mechanism)
        return self._read


class Known:
    """As much of the histogram of one cell as was read: of an open bucket only the number of rows is known."""

    def __init__(self, values: int, coarse: Rows) -> None:
        self.values, self.shift, self.coarse = values, bucket_bits(values), coarse
        self.open = np.ones(len(coarse), dtype=bool)
        self.found: Rows = np.zeros((2, 0), dtype=np.int64)

    def refine(self, found: Rows, buckets: Buckets) -> None:
        """The counts of single values in buckets; those of other buckets are left aside."""
        fresh = [bucket for bucket in buckets if self.open[bucket]]
        self.open[fresh] = False
        joined = np.hstack([self.found, found[:, np.isin(found[0] >> self.shift, fresh)]])
        self.found = joined[:, np.argsort(joined[0], kind="stable")]

    def unread(self, edges: Sequence[int]) -> Buckets:
        """The open buckets that must be looked into to tell how many rows lie below each edge."""
        inside = {edge >> self.shift for edge in edges if edge % (1 << self.shift)}
        return sorted(bucket for bucket in inside if self.open[bucket] and self.coarse[bucket])

    def count_below(self, edges: Sequence[int]) -> list[int]:
        """How many rows lie below each edge, once nothing that matters is unread."""
        below = np.concatenate([[0], np.cumsum(np.where(self.open, self.coarse, 0))])
        rows = np.concatenate([[0], np.cumsum(self.found[1])])
        return [
            int(below[min(edge >> self.shift, len(self.coarse))] + rows[np.searchsorted(self.found[0], edge)])
            for edge in edges
        ]


def count_buckets(read: Read, cells: int, values: int) -> Rows:
    """How many rows are in each bucket of each cell."""
    coarse = np.zeros((cells, len(range(0, values, 1 << bucket_bits(values)))), dtype=np.int64)
    places, buckets, counts = read(None)
    coarse[places, buckets] = counts
    return coarse


def run_cells(
    read: Read, values: int, coarse: Rows, near: Callable[[int], Buckets], start: Callable[[int, Known], Flow]
) -> list[list[int]]:
    """Run the flow of every cell, reading for all of them at once what they ask for; first what they will likely need.

    Flows that one look was not enough for are kept, and no others.
    """
    wanted = {cell: near(cell) for cell in range(len(coarse))}
    waiting: dict[int, tuple[Known, Flow]] = {}
    finished: dict[int, list[int]] = {}
    while wanted:
        asked = sorted(set().union(*wanted.values()))
        found = np.asarray(read(asked) if asked else np.zeros((3, 0)), dtype=np.int64)
        found = found[:, np.argsort(found[0], kind="stable")]
        for cell, buckets in list(wanted.items()):
            if cell not in waiting:
                known = Known(values, coarse[cell])
                waiting[cell] = known, start(cell, known)
            known, flow = waiting[cell]
            first, last = np.searchsorted(found[0], [cell, cell + 1])
            known.refine(found[1:, first:last], buckets)
            try:
                wanted[cell] = next(flow)
            except StopIteration as end:
                finished[cell] = end.value
                del wanted[cell], waiting[cell]
    return [finished[cell] for cell in range(len(coarse))]
