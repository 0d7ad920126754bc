"""Which counts along a line of bins a release should answer well: all of them as one symmetric matrix.

The matrix is never written down: that of all ranges of n bins is the inverse of a second difference, and is applied by
adding up from both ends. Sums are added in one fixed order, so that every machine finds the same strategy.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from adomnia.statistics.contract import Floats

WorkloadName: TypeAlias = Literal["ranges", "prefixes", "quantiles"]
WORKLOADS: tuple[WorkloadName, ...] = ("ranges", "prefixes", "quantiles")
IN_WORDS = {
    "ranges": "all ranges of bins",
    "prefixes": "all counts from the first bin on",
    "quantiles": "the ranks of all bins",
}


@dataclass(frozen=True)
class LineWorkload:
    """The counts that are wanted of so many bins, W, as V = W'W: the weight of an error in every pair of bins.

    ranges: every run of neighbouring bins. prefixes: those that start at the first. quantiles: of every cut between
    bins, how many rows are below it less a share of all, for shares evenly from 0 to 1.
    """

    tag: ClassVar[str] = "LineWorkload"
    name: WorkloadName
    bins: int

    def apply(self, columns: Floats) -> Floats:
        """V times each of some columns."""
        places = self._places[:, None]
        match self.name:
            case "prefixes":
                return _add_up(_add_up(columns)[::-1])[::-1]
            case "ranges":
                left, right = places + 1, self.bins - places
                above = right * columns
                below = _add_up(left * columns)
                return np.asarray(right * below + left * (_add_up(above[::-1])[::-1] - above))
        sums, moments = _add_up(columns), _add_up(places * columns)
        distances = 2 * (places * sums - moments) + moments[-1] - places * sums[-1]
        return np.asarray(self.bins / 3 * sums[-1] - distances / 2)

    @cached_property
    def diagonal(self) -> Floats:
        """The weight of an error in each bin by itself."""
        places = self._places
        match self.name:
            case "prefixes":
                return np.asarray(self.bins - places)
            case "ranges":
                return np.asarray((places + 1) * (self.bins - places))
        return np.full(self.bins, self.bins / 3)

    @property
    def matrix(self) -> Floats:
        """V itself."""
        return self.apply(np.eye(self.bins))

    @property
    def bound(self) -> float:
        """Below this no strategy of unit L2 columns goes: the sum of the singular values of W, squared, by bins.

        Cite        Li & Miklau 2013.
        """
        roots = np.sqrt(np.maximum(np.linalg.eigvalsh(self.matrix), 0.0))
        return float(roots.sum() ** 2 / self.bins)

    @property
    def _places(self) -> Floats:
        return np.arange(self.bins, dtype=np.float64)


def _add_up(columns: Floats) -> Floats:
    """Sums from the first row on, one after the other."""
    return np.asarray(np.cumsum(columns, axis=0))
