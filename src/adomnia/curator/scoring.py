"""Scores of what may be chosen: how far exact counts are from public guesses of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.noise import Integers
from adomnia.privacy.transforms.distances import Distances, Guess


@dataclass(frozen=True)
class SparseCounts:
    """The counts of a table that are not 0, and their cells: a table of a million cells has few of them."""

    places: NDArray[np.intp]
    counts: Integers

    @classmethod
    def of(cls, table: Integers) -> "SparseCounts":
        """The same table without its zeros."""
        counts = table.ravel()
        places = np.flatnonzero(counts)
        return cls(places, counts[places])

    def spread(self, shape: tuple[int, ...]) -> Integers:
        """The table with its zeros, in its shape."""
        table: Integers = np.zeros(shape, dtype=self.counts.dtype)  # type: ignore[assignment]  # of the same type
        table.reshape(-1)[self.places] = self.counts
        return table


def score(distances: Distances, tables: Sequence[SparseCounts], largest: int) -> Integers:
    """One score for each candidate, in integers wide enough for what can be `largest`."""
    # By the public bound alone: the size of what was counted must not decide how it is computed.
    kind = np.int64 if largest < 2**62 else object
    if distances.norm == "each":
        scores: list[Any] = [
            each.weight * sum(_compare(distances, tables, guess, kind) for guess in each.guesses) + each.offset
            for each in distances.candidates
        ]
        joined: Integers = np.concatenate(scores)
        return joined
    apart = {guess: _measure(distances, tables, guess, kind) for guess in set(distances.guesses)}  # many have the same
    join = max if distances.norm == "largest" else sum
    return np.array(
        [each.weight * join(apart[guess] for guess in each.guesses) + each.offset for each in distances.candidates],
        dtype=kind,
    )


def _measure(distances: Distances, tables: Sequence[SparseCounts], guess: Guess, kind: Any) -> int:  # noqa: ANN401 - a type of numbers
    """How far a table is from one guess, in all cells or in the furthest."""
    if distances.norm == "largest":
        return int(_compare(distances, tables, guess, kind).max())
    if distances.between is not None:
        return int(_compare(distances, tables, guess, kind).sum())
    return _add_up(distances.scale, tables[guess.table], guess, kind)


def _add_up(scale: int, table: SparseCounts, guess: Guess, kind: Any) -> int:  # noqa: ANN401
    """The distance of all cells: of one without rows it is the size of its guess, and those are added up already."""
    believed = guess.counts[table.places].astype(kind)
    found = scale * table.counts.astype(kind)
    return guess.total + int((np.abs(found - believed) - np.abs(believed)).sum())


def _compare(distances: Distances, tables: Sequence[SparseCounts], guess: Guess, kind: Any) -> Integers:  # noqa: ANN401
    """The distance of every cell."""
    table = tables[guess.table]
    found = np.zeros(guess.counts.size, dtype=kind)
    found[table.places] = distances.scale * table.counts.astype(kind)
    apart: Any = np.abs(found - guess.counts.astype(kind))
    cut: Integers = apart if distances.between is None else np.clip(apart, *distances.between)
    return cut
