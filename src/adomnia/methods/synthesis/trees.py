"""Trees over neighbouring bins: runs of several lengths, each length with a weight of its own.

As fitted sums, trees are found by doubles that are rounded alike everywhere, and by sums in a fixed order.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import permutations
from math import inf, sqrt

import numpy as np

from adomnia.methods.synthesis.line_workloads import LineWorkload
from adomnia.methods.synthesis.p_identity import Norm

_BRANCHES = (2, 4, 8, 16)
_PORTIONS = 2**10  # into which the length of a column is divided over the levels of a tree
_LESS = 1 - 1e-9  # what is not clearly less is not preferred: doubles would decide between equals


@dataclass(frozen=True)
class RunTree:
    """Runs of branches**level bins for each level, which has so many portions of the length of a column.

    `costs` are how much of the workload is in each level.
    """

    branches: int
    costs: tuple[float, ...]
    portions: tuple[int, ...]
    norm: Norm
    bins: int

    @cached_property
    def error(self) -> float:
        """The sum of all variances at unit length and noise, where runs that are cut off at the end count as whole.

        A difference between runs of one level is told by these and by all shorter ones.
        """
        told = error = 0.0
        for level, (cost, weight) in enumerate(zip(self.costs, self._weights, strict=True)):
            told += weight**2 * self.branches**level
            if told == 0.0:
                return inf
            error += cost / told
        return error

    def list_runs(self) -> Iterator[list[tuple[int, float]]]:
        """The bins of every run, each with the weight of its level."""
        for level, weight in enumerate(self._weights):
            run = self.branches**level
            for start in range(0, self.bins, run):
                yield [(place, weight) for place in range(start, min(start + run, self.bins))]

    def weigh(self) -> "RunTree":
        """The same where portions are moved between levels for as long as the error gets less."""
        best, many = self, _PORTIONS // 2
        while many:
            better = best._move(many)
            best, many = (best, many // 2) if better is best else (better, many)
        return best

    @property
    def _weights(self) -> list[float]:
        shares = [portion / _PORTIONS for portion in self.portions]
        return shares if self.norm == 1 else list(map(sqrt, shares))

    def _move(self, many: int) -> "RunTree":
        """The best that comes of moving so many portions from one level to another."""
        best = self
        for source, target in permutations(range(len(self.portions)), 2):
            if self.portions[source] >= many:
                moved = list(self.portions)
                moved[source] -= many
                moved[target] += many
                changed = replace(self, portions=tuple(moved))
                best = changed if changed.error < _LESS * best.error else best
        return best


def fit_tree(workload: LineWorkload, norm: Norm) -> RunTree:
    """The tree with the least error."""
    best: RunTree | None = None
    for branches in _BRANCHES:
        costs = cost_levels(workload, branches)
        first, others = _PORTIONS % len(costs), _PORTIONS // len(costs)
        equal = (first + others, *[others] * (len(costs) - 1))
        tree = RunTree(branches, costs, equal, norm, workload.bins).weigh()
        best = tree if best is None or tree.error < _LESS * best.error else best
    assert best is not None  # noqa: S101 - there are branches
    return best


def cost_levels(workload: LineWorkload, branches: int) -> tuple[float, ...]:
    """How much of the workload is in the differences between runs of each level that are one run of the next.

    The runs of a level divide the bins, and that of the last holds all: averages over them are nested projections, and
    what one level has beyond the next is an eigenspace of all trees, whatever their weights.
    """
    runs = [1]
    while runs[-1] < workload.bins:
        runs.append(runs[-1] * branches)
    traces = [_add_runs(workload, run) / run for run in runs]
    return tuple(own - above for own, above in zip(traces, [*traces[1:], 0.0], strict=True))


@lru_cache(maxsize=64)
def _add_runs(workload: LineWorkload, run: int) -> float:
    """The weights of all pairs of bins that are in one run of that length."""
    if run == 1:
        return float(np.cumsum(workload.diagonal)[-1])
    members = np.zeros((workload.bins, -(-workload.bins // run)))
    members[np.arange(workload.bins), np.arange(workload.bins) // run] = 1.0
    return float(np.cumsum((members * workload.apply(members)).ravel())[-1])
