"""Quantiles from noisy counts in public bins: of one histogram, or of a tree of histograms of which each halves a bin.

All quantiles of a column come from the same counts, so that many cost as much as one.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from adomnia.distributions.margins import deviations
from adomnia.mechanisms.interval import find_alpha
from adomnia.methods.column_bins import ColumnBins, split_finely
from adomnia.methods.contract import NumberColumn
from adomnia.statistics.brackets import isotonic
from adomnia.statistics.contract import Bounds, Estimate, Floats, Measured

_RAMP = 1e-9  # keeps equal ranks in order


@dataclass(frozen=True)
class Tree:
    """Bins of a column, and the coarser ones that are made of two, four, ... of them; one level is a histogram."""

    column: NumberColumn
    finest: int  # how many bins there are at most
    levels: int = 1

    @cached_property
    def bins(self) -> tuple[ColumnBins, ...]:
        """Those of all levels, the finest last."""
        edges = split_finely(self.column, self.finest).edges
        sizes = [2 ** (self.levels - 1 - level) for level in range(self.levels)]
        coarse = ((*edges[:-1:size], edges[-1]) for size in sizes)
        return tuple(ColumnBins(self.column, each) for each in coarse)

    @property
    def edges(self) -> Floats:
        """The ends of the finest bins."""
        return np.array([float(each) for each in self.bins[-1].edges])


@lru_cache(maxsize=32)
def weigh(leaves: int, levels: int) -> Floats:
    """What each noisy count adds to the number of rows in each of the finest bins: least squares, all equally noisy."""
    blocks = []
    for level in range(levels):
        size = 2 ** (levels - 1 - level)
        places = np.arange(leaves) // size
        blocks.append((np.arange(places[-1] + 1)[:, None] == places[None]).astype(np.float64))
    nodes = np.vstack(blocks)
    return np.asarray(np.linalg.solve(nodes.T @ nodes, nodes.T))


@dataclass(frozen=True)
class CountedQuantile:
    """Quantiles of one column from the noisy counts of a tree, coarsest level first."""

    tree: Tree
    shares: tuple[float, ...]
    counts: tuple[Measured, ...]
    population: bool

    @cached_property
    def _weights(self) -> Floats:
        return weigh(len(self.tree.bins[-1]), self.tree.levels)

    @cached_property
    def rows(self) -> Floats:
        """The number of rows in each bin."""
        noisy = np.concatenate([np.asarray(each.values, dtype=np.float64) for each in self.counts])
        return np.asarray(self._weights @ noisy)

    def estimate(self) -> Estimate:
        """All of them, in the order of their shares."""
        values = np.array(self._values())

        def interval(confidence: float, cells: int) -> Bounds:
            ends = np.array([self._bounds(share, confidence, cells) for share in self.shares])
            return np.minimum(ends[:, 0], values), np.maximum(ends[:, 1], values)

        limits = float(self.tree.column.domain.lower), float(self.tree.column.domain.upper)
        return Estimate(values, interval, "noisy counts of bins added up", limits=limits)

    def _values(self) -> list[float]:
        """Where the rows below reach each share, as if they lay evenly within a bin."""
        below = np.concatenate([[0.0], np.cumsum(self.rows)])
        rising = isotonic(below) + _RAMP * np.arange(len(below))
        wanted = np.array(self.shares) * max(float(below[-1]), 0.0)
        return self._inside(np.interp(wanted, rising, self.tree.edges))

    def _inside(self, numbers: Floats) -> list[float]:
        domain = self.tree.column.domain
        found: list[float] = np.clip(numbers, float(domain.lower), float(domain.upper)).tolist()
        return found

    def _bounds(self, share: float, confidence: float, cells: int) -> tuple[float, float]:
        """Between these edges the quantile lies: they are tested by their noisy ranks, from the outside in."""
        excess = np.cumsum(self.rows)[:-1] - share * self.rows.sum()
        far = self._reach(share, confidence, cells)
        below = np.logical_and.accumulate(excess <= -far)
        above = np.logical_and.accumulate((excess >= far)[::-1])[::-1]
        first, last = int(below.sum()), len(below) + 1 - int(above.sum())
        low, high = self._inside(self.tree.edges[[first, last]])
        return low, high

    def _reach(self, share: float, confidence: float, cells: int) -> Floats:
        """How far the number of rows below each inner edge is off, to either side."""
        noise = np.cumsum(self._weights, axis=0)[:-1] - share * self._weights.sum(axis=0)
        squares = np.square(noise)
        variance, fourth = self.counts[0].noise.continuous.cumulants
        sampled = max(float(self.rows.sum()), 1.0) * share * (1 - share) * self.population
        spread = variance * squares.sum(axis=1) + sampled
        heavy = fourth * np.square(squares).sum(axis=1)
        return np.asarray(deviations(spread, heavy, find_alpha(confidence, cells)) * np.sqrt(spread) + 0.5)
