"""Releases with made-up measurements, whose exact errors are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class NoisyTable:
    """A table of all columns with independent noise of one variance on every cell; `sets` are measured together."""

    values: np.ndarray
    variance: float
    sets: tuple[frozenset[int], ...] | None = None

    def covers(self, columns: Sequence[int]) -> bool:
        return self.sets is None or any(set(columns) <= each for each in self.sets)

    def count(self, columns: Sequence[int], groups: np.ndarray, number: int) -> tuple[np.ndarray, ...]:
        return self._add(columns, groups, number, np.ones(groups.shape))

    def _add(
        self, columns: Sequence[int], groups: np.ndarray, number: int, weights: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        others = tuple(axis for axis in range(self.values.ndim) if axis not in columns)
        table = self.values.sum(axis=others)
        cells = np.prod([self.values.shape[axis] for axis in others], dtype=float)
        inside = groups >= 0
        found = np.bincount(groups[inside], (weights * table)[inside], minlength=number)
        squares = np.bincount(groups[inside], (weights**2)[inside], minlength=number)
        return found, self.variance * cells * squares


@dataclass(frozen=True)
class WeighedTable(NoisyTable):
    """The same, which also adds up weights of cells."""

    def add(
        self, columns: Sequence[int], groups: np.ndarray, number: int, weights: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        return self._add(columns, groups, number, weights)
