"""Models from noisy tables: the distribution of a junction tree that comes closest to all that was measured.

Cite: McKenna, Sheldon & Miklau 2019 (Private-PGM). The fit is theirs, the way to it is not: see `dual.py`.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from adomnia.methods.synthesis.graphical.dual import Dual
from adomnia.methods.synthesis.graphical.models import Model
from adomnia.methods.synthesis.graphical.trees import Columns, JunctionTree, Table, build_tree

_PULLS = (10.0, 3.0, 1.0)  # of the first passes: far from the end, strong ones come closer with less work
_LAST_PULL = 0.3
_DEPTH = 20.0  # of the logarithms of a factor that a fit starts from


@dataclass(frozen=True)
class MeasuredTable:
    """Noisy counts by the values of sorted columns, and the standard deviation of their noise."""

    tag: ClassVar[str] = "MeasuredTable"
    columns: Columns
    values: NDArray[np.floating[Any]] | NDArray[np.integer[Any]]
    deviation: float

    def __post_init__(self) -> None:
        if list(self.columns) != sorted(set(self.columns)):
            raise ValueError(f"MeasuredTable columns must be sorted and different, got {self.columns}.")
        if not self.deviation > 0:
            raise ValueError(f"MeasuredTable deviation must be > 0, got {self.deviation}.")


def estimate_total(measured: Sequence[MeasuredTable]) -> float:
    """The number of rows from the sums of noisy tables, each as much as it is precise.

    >>> estimate_total([MeasuredTable((0,), np.array([3.0, 5.0]), 1.0), MeasuredTable((1,), np.array([10.0]), 2.0)])
    8.666666666666666
    """
    weights = np.array([1 / (table.values.size * table.deviation**2) for table in measured])
    totals = np.array([float(table.values.sum()) for table in measured])
    return float(weights @ totals / weights.sum())


def fit(  # noqa: PLR0913 - what is measured, where to start, and when to stop
    sizes: Sequence[int],
    measured: Sequence[MeasuredTable],
    total: float | None = None,
    start: Model | None = None,
    *,
    iterations: int = 1_000,
    tolerance: float = 1e-2,
) -> Model:
    """The model with the least sum of squared errors in standard deviations, halved, over all measured cells.

    `iterations` bounds how often the tables of the model are computed; a fit ends before where another pass takes less
    than `tolerance` off the loss. Factors of the start that fit in no clique any more are left out.
    """
    rows = max(estimate_total(measured) if total is None else total, 0.0)
    tree = build_tree(sizes, [table.columns for table in measured])
    merged = _merge(tree, measured)
    dual = Dual(tree, merged, max(rows, 1.0))
    factors, loss, left = _take_up(start), np.inf, iterations
    pulls = chain(_PULLS[0 if start is None else 1 :], repeat(_LAST_PULL))
    while left > 0:
        factors, reached, used = dual.improve(factors, next(pulls), tolerance, left)
        if loss - reached <= tolerance * reached:
            break
        loss, left = reached, left - used
    return Model(tree.sizes, tree, factors, tuple(dual.believe(factors)), rows)


def _take_up(start: Model | None) -> dict[Columns, Table]:
    """The factors of the model before, none of them too deep.

    A cell whose noisy count is below zero goes down with each fit, without end and without use. From far down it could
    not come back when a later table says that there is something in it.
    """
    factors = {} if start is None else start.factors
    return {columns: np.maximum(factor, factor.max() - _DEPTH) for columns, factor in factors.items()}


def _merge(tree: JunctionTree, measured: Sequence[MeasuredTable]) -> list[tuple[Columns, Table, float]]:
    """One table for each set of columns, with its deviation: the mean of all, each as much as it is precise."""
    alike = defaultdict[Columns, list[MeasuredTable]](list)
    for table in measured:
        alike[table.columns].append(table)
    merged = []
    for columns, tables in alike.items():
        weights = np.array([table.deviation**-2 for table in tables])
        values = np.array([table.values.reshape(tree.shape(columns)) for table in tables], float)
        merged.append((columns, np.tensordot(weights, values, 1) / weights.sum(), float(weights.sum() ** -0.5)))
    return merged
