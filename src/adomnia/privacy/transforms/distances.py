"""How far exact counts are from public guesses of them: the scores by which a release chooses what to measure next.

One row of data moves one count of each table by one, so it moves a distance by no more.
Proof: docs/proofs/distances.md.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from adomnia.privacy.keys import MOST_CELLS, AnyKey, Key, count_cells, is_unknown
from adomnia.privacy.scans import Exact, Integers, Rows, SparseIntegers
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.privacy.transforms.contract import Inner, Transform

MOST_TABLES = 2_000
MOST_CANDIDATES = 2**20
LARGEST_GUESS = 2**52
LARGEST_FACTOR = 2**30  # of a weight times a scale
_HALF = 26  # bits of the largest guess

# The distances of all cells of all its guesses added up, the largest of them, or every cell as a candidate of its own:
# there the distances from all guesses of one table are added up.
Norm: TypeAlias = Literal["total", "largest", "each"]


@dataclass(frozen=True, eq=False)
class Guess:
    """What each count of a table is publicly believed to be, in parts of a row and in the order of cells.

    Two guesses are the same only if they are one object: nobody compares millions of numbers.
    """

    tag: ClassVar[str] = "Guess"
    table: int  # its place among the tables
    counts: NDArray[np.integer]

    def __post_init__(self) -> None:
        if self.counts.ndim != 1 or not np.issubdtype(self.counts.dtype, np.signedinteger):
            raise TypeError("Guess counts must be one line of integers, got others.")
        if not self.counts.size or max(abs(int(self.counts.min())), abs(int(self.counts.max()))) > LARGEST_GUESS:
            raise ValueError("Guess counts must be of a cell or more and stay within 2**52, got others.")

    @cached_property
    def total(self) -> int:
        """The sizes of all counts together."""
        sizes = np.abs(self.counts.astype(np.int64))
        # In two halves of 26 bits, because a million counts of 52 bits have a sum of more than 64.
        return (int((sizes >> _HALF).sum()) << _HALF) + int((sizes & ((1 << _HALF) - 1)).sum())


@dataclass(frozen=True)
class Candidate:
    """What may be chosen: its score is `weight` times the distance of its guesses from the exact counts, and `offset`.

    With a negative weight the nearest is preferred.
    """

    tag: ClassVar[str] = "Candidate"
    guesses: tuple[Guess, ...]
    weight: int = 1
    offset: int = 0

    def __post_init__(self) -> None:
        if not self.guesses or type(self.weight) is not int or type(self.offset) is not int or not self.weight:
            raise ValueError("Candidate must have a guess, and a weight and an offset that are integers, got others.")
        if abs(self.offset) > LARGEST_GUESS:
            raise ValueError(f"Candidate offset must stay within 2**52, got {self.offset}.")


@dataclass(frozen=True)
class Distances(Transform):
    """A score for each candidate: how far counts, times `scale`, are from its guesses, each cell cut at `between`.

    A table is how many rows there are in each cell of its keys.
    """

    tag: ClassVar[str] = "Distances"
    recurs: ClassVar[bool] = True
    tables: tuple[tuple[Key, ...], ...]
    candidates: tuple[Candidate, ...]
    norm: Norm = "total"
    scale: int = 1
    between: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if not self.candidates or not 1 <= len(self.tables) <= MOST_TABLES:
            raise ValueError(f"Distances must be of candidates and of 1 to {MOST_TABLES} tables, got others.")
        if any(not 0 <= guess.table < len(self.tables) for guess in self.guesses):
            raise ValueError(f"Distances guesses must be of one of {len(self.tables)} tables, got another.")
        if self.norm not in get_args(Norm):
            raise ValueError(f"Distances norm must be one of {', '.join(get_args(Norm))}, got {self.norm}.")
        if self.norm == "each" and any(len({guess.table for guess in each.guesses}) > 1 for each in self.candidates):
            raise ValueError(
                "Distances of each cell must be from guesses of one table for a candidate, got of several."
            )
        if self.results > MOST_CANDIDATES:
            raise ValueError(f"Distances candidates must number at most {MOST_CANDIDATES:,}, got {self.results:,}.")
        if type(self.scale) is not int or self.scale < 1 or self.scale * self._heaviest > LARGEST_FACTOR:
            raise ValueError("Distances scale must be a positive integer, at most 2**30 with weights, got another.")
        if self.between is not None and not _rises(*self.between):
            raise ValueError(f"Distances must be cut between two rising integers, got {self.between}.")

    def check(self, keys: tuple[AnyKey, ...]) -> None:
        """Refuse all but tables of their own, each of declared cells with a guess for every one of them."""
        if keys or any(map(is_unknown, (key for table in self.tables for key in table))):
            raise ValueError("Query of distances must have no keys but the declared ones of its tables, got others.")
        cells = list(map(count_cells, self.tables))
        if max(cells) > MOST_CELLS or any(each.counts.size != cells[each.table] for each in self.guesses):
            raise ValueError("Query tables must have a guess for each of at most a million cells, got others.")

    def inner(self, _keys: tuple[AnyKey, ...]) -> tuple[Inner, ...]:
        return tuple((table, Rows()) for table in self.tables)

    @property
    def guesses(self) -> Iterator[Guess]:
        """Those of all candidates."""
        return (guess for candidate in self.candidates for guess in candidate.guesses)

    @cached_property
    def results(self) -> int:
        """How many scores there are."""
        if self.norm == "each":
            return sum(each.guesses[0].counts.size for each in self.candidates)
        return len(self.candidates)

    def largest(self, rows: int) -> int:
        counted = rows * self.scale + LARGEST_GUESS
        return max(counted, *(self._largest_score(each, rows) for each in self.candidates))

    def _largest_score(self, candidate: Candidate, rows: int) -> int:
        apart = sum(rows * self.scale + guess.total for guess in candidate.guesses)
        if self.between is not None:
            apart = self.between[1] * sum(guess.counts.size for guess in candidate.guesses)
        return abs(candidate.weight) * apart + abs(candidate.offset)

    @cached_property
    def row(self) -> Sensitivity:
        """How far one row moves all scores: each guess by the scale in one cell, and a cut moves nothing further."""
        moves = [self.scale * abs(each.weight) for each in self.candidates]
        many = [1 if self.norm == "largest" else len(each.guesses) for each in self.candidates]
        scores = list(map(prod, zip(moves, many, strict=True)))  # of single cells, the one in which the row is
        return Sensitivity(sum(scores), sum(score**2 for score in scores), max(scores))

    def derive(self, inner: Iterable[Sensitivity]) -> Sensitivity:
        return self.row.times(max(int(counts.l1) for counts in inner))

    def apply(self, exact: Sequence[Exact], largest: int) -> Integers:
        tables = [SparseIntegers.of(each) for each in exact]
        # By the public bound alone: the size of what was counted must not decide how it is computed.
        kind = np.int64 if largest < 2**62 else object
        if self.norm == "each":
            scores: list[Any] = [
                each.weight * sum(self._compare(tables, guess, kind) for guess in each.guesses) + each.offset
                for each in self.candidates
            ]
            joined: Integers = np.concatenate(scores)
            return joined
        apart = {guess: self._measure(tables, guess, kind) for guess in set(self.guesses)}  # many have the same
        join = max if self.norm == "largest" else sum
        return np.array(
            [each.weight * join(apart[guess] for guess in each.guesses) + each.offset for each in self.candidates],
            dtype=kind,
        )

    def _measure(self, tables: Sequence[SparseIntegers], guess: Guess, kind: Any) -> int:  # noqa: ANN401 - a type of numbers
        """How far a table is from one guess, in all cells or in the furthest."""
        if self.norm == "largest":
            return int(self._compare(tables, guess, kind).max())
        if self.between is not None:
            return int(self._compare(tables, guess, kind).sum())
        return _add_up(self.scale, tables[guess.table], guess, kind)

    def _compare(self, tables: Sequence[SparseIntegers], guess: Guess, kind: Any) -> Integers:  # noqa: ANN401
        """The distance of every cell."""
        table = tables[guess.table]
        found = np.zeros(guess.counts.size, dtype=kind)
        found[table.places] = self.scale * table.values.astype(kind)
        apart: Any = np.abs(found - guess.counts.astype(kind))
        cut: Integers = apart if self.between is None else np.clip(apart, *self.between)
        return cut

    @property
    def _heaviest(self) -> int:
        return max(abs(each.weight) for each in self.candidates)


def _rises(lower: int, upper: int) -> bool:
    return type(lower) is int and type(upper) is int and 0 <= lower < upper <= LARGEST_GUESS


def _add_up(scale: int, table: SparseIntegers, guess: Guess, kind: Any) -> int:  # noqa: ANN401
    """The distance of all cells: of one without rows it is the size of its guess, and those are added up already."""
    believed = guess.counts[table.places].astype(kind)
    found = scale * table.values.astype(kind)
    return guess.total + int((np.abs(found - believed) - np.abs(believed)).sum())
