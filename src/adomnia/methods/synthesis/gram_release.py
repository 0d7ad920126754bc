"""Counts along one column, from measurements of public combinations of its bins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from adomnia.methods.synthesis.strategies import SparseMatrix
from adomnia.privacy.transforms.matrices import Matrix
from adomnia.statistics.contract import Floats
from adomnia.statistics.products import Places

_DIMENSIONS = {"values": 1, "covariance": 2}


@dataclass(frozen=True, eq=False)
class GramRelease:
    """Least-squares counts of the values of one column, with the covariances of the noise in them.

    Cite        Li, Hay, Rastogi, Miklau & McGregor 2010 (the matrix mechanism).
    """

    tag: ClassVar[str] = "GramRelease"
    values: Floats
    covariance: Floats

    @classmethod
    def solve(cls, matrix: Matrix, measured: NDArray[Any], variance: float) -> Self:
        """Of all counts those that are nearest to what was measured, each number of which has that variance."""
        strategy = SparseMatrix(matrix)
        inverse = np.linalg.inv(strategy.gram)
        symmetric = (inverse + inverse.T) / 2
        values = symmetric @ strategy.gather(np.asarray(measured, dtype=np.float64))
        return cls(values, variance * symmetric)

    def covers(self, columns: Sequence[int]) -> bool:
        return set(columns) <= {0}

    def count(self, columns: Sequence[int], groups: Places, number: int) -> tuple[Floats, ...]:
        return self.add(columns, groups, number, np.ones(np.shape(groups)))

    def add(self, columns: Sequence[int], groups: Places, number: int, weights: Floats) -> tuple[Floats, ...]:
        """The same where rows in each cell count for so much."""
        if not self.covers(columns):
            raise ValueError(f"GramRelease columns must be its only one, got {tuple(columns)}.")
        chosen, counted = (np.broadcast_to(each, self.values.shape) for each in (groups, weights))
        members = np.zeros((number, len(self.values)))
        places = np.flatnonzero(chosen >= 0)
        members[chosen[places], places] = counted[places]
        variances = ((members @ self.covariance) * members).sum(axis=1)
        return members @ self.values, np.maximum(variances, 0.0)

    def add_up(self) -> tuple[Floats, Floats]:
        """How many rows there are up to the end of each bin, and the variances of the noise in that."""
        sums = np.cumsum(np.cumsum(self.covariance, axis=0), axis=1)
        return np.cumsum(self.values), np.maximum(np.diagonal(sums), 0.0)

    @property
    def variances(self) -> Floats:
        """Those of the noise in each count."""
        return np.maximum(np.diagonal(self.covariance), 0.0)

    def to_plain(self) -> dict[str, Any]:
        return {"values": self.values, "covariance": self.covariance}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], sizes: Sequence[int]) -> Self:
        arrays = [np.asarray(plain[name], dtype=np.float64) for name in _DIMENSIONS]
        expected = [tuple(sizes) * many for many in _DIMENSIONS.values()]
        if len(sizes) != 1 or [each.shape for each in arrays] != expected:
            raise ValueError("GramRelease must have a count for each value and a covariance for each pair, got others.")
        if not all(np.isfinite(each).all() for each in arrays) or np.diagonal(arrays[1]).min() < 0:
            raise ValueError("GramRelease numbers must be finite, and variances not below zero, got others.")
        return cls(*arrays)
