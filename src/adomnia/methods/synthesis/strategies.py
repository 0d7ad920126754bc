"""What is measured of neighbouring bins, so that many counts follow with little noise: one public matrix of integers.

All of it follows from public facts: how many bins there are, which counts are wanted, and whose noise is added.

A tree is runs of bins of several lengths, each length with a weight of its own. As fitted sums, trees are found by
doubles that are rounded alike everywhere, and by sums in a fixed order.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import permutations
from math import inf, isqrt, sqrt
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from adomnia.methods.synthesis.p_identity import LineWorkload, Norm, fit_sums, measure_lengths
from adomnia.privacy.events import Price, Pure
from adomnia.privacy.transforms.matrices import Combination, Matrix
from adomnia.statistics.contract import Floats
from adomnia.statistics.products import Places

StrategyName: TypeAlias = Literal["identity", "tree", "p_identity"]
STRATEGIES: tuple[StrategyName, ...] = ("identity", "tree", "p_identity")
MOST_FITTED = 256  # bins, for which sums are fitted in a second

_UNIT = 2**12  # what 1 becomes: the noise on integers is then as fine as if it were on numbers
_WORTH_IT = 0.999  # of the error: for less of a gain the simpler strategy is kept
_KEPT = 64
_BRANCHES = (2, 4, 8, 16)
_PORTIONS = 2**10  # into which the length of a column is divided over the levels of a tree
_LESS = 1 - 1e-9  # what is not clearly less is not preferred: doubles would decide between equals
_DIMENSIONS = {"values": 1, "covariance": 2}


@dataclass(frozen=True)
class Strategy:
    """A matrix of integers, one column for each bin, and the error of its workload.

    `error` is the sum of the variances of all wanted counts, where the columns have length 1 and noise has variance 1.
    """

    tag: ClassVar[str] = "Strategy"
    name: StrategyName
    matrix: Matrix
    error: float

    def with_missing(self, norm: Norm) -> Combination:
        """What is measured where the bins have one cell more, for missing values: it is counted at no further price."""
        bins = self.matrix.columns
        l1, squares = (max(each[place] for each in self.matrix.norms) for place in (0, 1))
        alone = ((bins, l1 if norm == 1 else isqrt(squares)),)
        return Combination(((Matrix(bins + 1, (*self.matrix.rows, alone)),),))

    def without_missing(self) -> Combination:
        """What is measured of the bins alone."""
        return Combination(((self.matrix,),))


@dataclass(frozen=True)
class SparseMatrix:
    """A matrix of integers for arithmetic after the noise."""

    matrix: Matrix

    @cached_property
    def _entries(self) -> tuple[Floats, ...]:
        found = [(row, *pair) for row, pairs in enumerate(self.matrix.rows) for pair in pairs]
        return tuple(np.array(found, dtype=np.float64).T)

    def gather(self, measured: Floats) -> Floats:
        """The transposed matrix times a vector."""
        rows, columns, coefficients = self._entries
        weights = coefficients * measured[rows.astype(np.int64)]
        return np.asarray(np.bincount(columns.astype(np.int64), weights, minlength=self.matrix.columns))

    @cached_property
    def gram(self) -> Floats:
        """The transposed matrix times the matrix."""
        found = np.zeros((self.matrix.columns, self.matrix.columns))
        for row in self.matrix.rows:
            columns, coefficients = np.array(row).T
            first, last = columns[0], columns[-1] + 1
            line = np.zeros(last - first)
            line[columns - first] = coefficients
            found[first:last, first:last] += np.multiply.outer(line, line)
        return found


def norm_of(price: Price) -> Norm:
    """Which length of a column decides how much noise a price buys."""
    return 1 if isinstance(price, Pure) else 2


def list_strategies(workload: LineWorkload) -> tuple[StrategyName, ...]:
    """Those that are compared for so many bins."""
    return STRATEGIES if workload.bins <= MOST_FITTED else STRATEGIES[:2]


@lru_cache(maxsize=_KEPT)
def choose_strategy(workload: LineWorkload, norm: Norm) -> StrategyName:
    """The one with the least error; of equal ones the simplest."""
    best: StrategyName = "identity"
    for name in list_strategies(workload):
        if build_strategy(name, workload, norm).error < _WORTH_IT * build_strategy(best, workload, norm).error:
            best = name
    return best


@lru_cache(maxsize=_KEPT)
def build_strategy(name: StrategyName, workload: LineWorkload, norm: Norm) -> Strategy:
    """The best strategy of that name."""
    match name:
        case "identity":
            alone = [((place, 1.0),) for place in range(workload.bins)]
            return Strategy(name, _scale_rows(alone, workload.bins), float(np.cumsum(workload.diagonal)[-1]))
        case "tree":
            tree = fit_tree(workload, norm)
            return Strategy(name, _scale_rows(tree.list_runs(), workload.bins), tree.error)
    return _build_fitted(workload, norm)


def _build_fitted(workload: LineWorkload, norm: Norm) -> Strategy:
    error, weights = fit_sums(workload, norm)
    scaled = np.concatenate([np.eye(workload.bins), weights.T]) / measure_lengths(weights, norm)
    return Strategy("p_identity", _scale_rows(map(enumerate, scaled.tolist()), workload.bins), error)


def _scale_rows(rows: Iterable[Iterable[tuple[int, float]]], bins: int) -> Matrix:
    """Weights as integers; those that become 0 are left out, and rows of none."""
    whole = (tuple((place, round(_UNIT * weight)) for place, weight in row) for row in rows)
    kept = (tuple(pair for pair in row if pair[1]) for row in whole)
    return Matrix(bins, tuple(row for row in kept if row))


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
