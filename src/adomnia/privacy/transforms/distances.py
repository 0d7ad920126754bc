"""How far exact counts are from public guesses of them: the scores by which a release chooses what to measure next.

One row of data moves one count of each table by one, so it moves a distance by no more.
Proof: docs/proofs/distances.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from adomnia.privacy.sensitivity import Sensitivity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from adomnia.privacy.keys import Key

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
class Distances:
    """A score for each candidate: how far counts, times `scale`, are from its guesses, each cell cut at `between`.

    A table is how many rows there are in each cell of its keys.
    """

    tag: ClassVar[str] = "Distances"
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
        """A bound on the size of all numbers on the way to a score, where there are so many rows."""
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

    @property
    def _heaviest(self) -> int:
        return max(abs(each.weight) for each in self.candidates)


def _rises(lower: int, upper: int) -> bool:
    return type(lower) is int and type(upper) is int and 0 <= lower < upper <= LARGEST_GUESS
