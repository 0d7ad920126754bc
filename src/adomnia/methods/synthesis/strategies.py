"""What is measured of neighbouring bins, so that many counts follow with little noise: one public matrix of integers.

All of it follows from public facts: how many bins there are, which counts are wanted, and whose noise is added.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import isqrt
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from adomnia.methods.synthesis.line_workloads import LineWorkload
from adomnia.methods.synthesis.p_identity import Norm, fit_sums, measure_lengths
from adomnia.methods.synthesis.trees import fit_tree
from adomnia.privacy.events import Price, Pure
from adomnia.privacy.transforms.matrices import Combination, Matrix
from adomnia.statistics.contract import Floats

StrategyName: TypeAlias = Literal["identity", "tree", "p_identity"]
STRATEGIES: tuple[StrategyName, ...] = ("identity", "tree", "p_identity")
MOST_FITTED = 256  # bins, for which sums are fitted in a second

_UNIT = 2**12  # what 1 becomes: the noise on integers is then as fine as if it were on numbers
_WORTH_IT = 0.999  # of the error: for less of a gain the simpler strategy is kept
_KEPT = 64


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
