"""Models from noisy tables: the distribution of a junction tree that comes closest to all that was measured.

Cite: McKenna, Sheldon & Miklau 2019 (Private-PGM). The fit is theirs, the way to it is not: each pass minimises the
loss plus a little of the divergence from the model before, by its dual. That is smooth and has no constraints; how far
a pass is from its end is known from the gradient alone.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from adomnia.methods.releases.graphical.axes import Table, spread, sum_onto
from adomnia.methods.releases.graphical.descent import Vector, descend
from adomnia.methods.releases.graphical.models import Model
from adomnia.methods.releases.graphical.propagation import propagate
from adomnia.methods.releases.graphical.trees import Columns, JunctionTree, build_tree

_PULL = 0.1  # of the model before, in standard deviations of the noise of a cell for each unit of its logarithm


@dataclass(frozen=True)
class MeasuredTable:
    """Noisy counts by the values of sorted columns, and the standard deviation of their noise."""

    tag: ClassVar[str] = "MeasuredTable"
    columns: Columns
    values: NDArray[np.floating] | NDArray[np.integer]
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


def fit(
    sizes: Sequence[int],
    measured: Sequence[MeasuredTable],
    total: float | None = None,
    start: Model | None = None,
    iterations: int = 300,
    tolerance: float = 1e-3,
) -> Model:
    """The model with the least sum of squared errors in standard deviations, halved, over all measured cells.

    `iterations` bounds how often the tables of the model are computed; a fit ends before where another pass takes less
    than `tolerance` off the loss. Factors of the start that fit in no clique any more are left out.
    """
    rows = max(estimate_total(measured) if total is None else total, 0.0)
    tree = build_tree(sizes, [table.columns for table in measured])
    dual = _Dual(tree, _merge(tree, measured), max(rows, 1.0))
    factors = _contained(tree, start.factors) if start is not None else {}
    loss = np.inf
    left = iterations
    while left > 0:
        factors, reached, used = dual.improve(factors, tolerance, left)
        left -= used
        if loss - reached <= tolerance * reached:
            break
        loss = reached
    beliefs = propagate(tree, _gather(tree, factors))
    return Model(tree.sizes, tree, factors, tuple(beliefs), rows)


def _merge(tree: JunctionTree, measured: Sequence[MeasuredTable]) -> list[MeasuredTable]:
    """One table for each set of columns: the mean of all its measurements, each as much as it is precise."""
    alike = defaultdict[Columns, list[MeasuredTable]](list)
    for table in measured:
        alike[table.columns].append(table)
    merged = []
    for columns, tables in alike.items():
        weights = np.array([table.deviation**-2 for table in tables])
        values = sum(weight * table.values.astype(float) for weight, table in zip(weights, tables, strict=True))
        mean = (values / weights.sum()).reshape(tree.shape(columns))
        merged.append(MeasuredTable(columns, mean, float(weights.sum() ** -0.5)))
    return merged


def _contained(tree: JunctionTree, factors: Mapping[Columns, Table]) -> dict[Columns, Table]:
    return {columns: factor for columns, factor in factors.items() if tree.cover(columns) is not None}


def _gather(tree: JunctionTree, factors: Mapping[Columns, Table]) -> list[Table]:
    """The potential of each clique: the sum of the factors that it is the smallest to hold."""
    potentials: list[Table] = [np.zeros(tree.shape(clique)) for clique in tree.cliques]
    for columns, factor in factors.items():
        place = tree.cover(columns)
        if place is not None:
            potentials[place] += spread(factor, columns, tree.cliques[place])
    return potentials


@dataclass
class _Dual:
    """The dual of: loss + pull * rows * divergence from the model before.

    Its variables are what is added to the factors of measured tables. With expected counts m, noisy counts y of
    deviation s and added factors t, the gradient is m - y + pull s^2 t; at the minimum it is 0. The sum of its squares
    over 2 s^2 is the difference between the loss of the pass and the least possible one.
    """

    tree: JunctionTree
    measured: list[MeasuredTable]
    rows: float

    def __post_init__(self) -> None:
        self._places = [self.tree.cover(table.columns) or 0 for table in self.measured]
        self._values = np.concatenate([table.values.ravel() for table in self.measured])
        lengths = [table.values.size for table in self.measured]
        self._variances = np.repeat([table.deviation**2 for table in self.measured], lengths)
        self._ends = np.cumsum(lengths)[:-1]
        self._pull = _PULL / float(np.median([table.deviation for table in self.measured]))

    def improve(
        self, factors: Mapping[Columns, Table], tolerance: float, most: int
    ) -> tuple[dict[Columns, Table], float, int]:
        """One pass: the new factors, their loss, and how often the tables were computed."""
        before = _gather(self.tree, factors)
        penalty = self._pull * self._variances

        def gradient(added: Vector) -> Vector:
            return self._expect(before, added) - self._values + penalty * added

        def is_done(slopes: Vector) -> bool:
            gap = float(slopes @ (slopes / self._variances)) / 2
            return gap <= tolerance * self._values.size / 2

        curvature = np.maximum(self._values, 0) + penalty
        found = descend(gradient, np.zeros_like(self._values), curvature, is_done, most)
        after = dict(factors)
        for table, added in zip(self.measured, np.split(found.place, self._ends), strict=True):
            factor = added.reshape(table.values.shape)
            after[table.columns] = after.get(table.columns, 0) + factor
        return after, self._loss(before, found.place), found.gradients

    def _loss(self, before: Sequence[Table], added: Vector) -> float:
        errors = self._expect(before, added) - self._values
        return float(errors @ (errors / self._variances)) / 2

    def _expect(self, before: Sequence[Table], added: Vector) -> Vector:
        """Expected counts of all measured tables, one after the other."""
        potentials = [table.copy() for table in before]
        for place, table, factor in zip(self._places, self.measured, np.split(added, self._ends), strict=True):
            clique = self.tree.cliques[place]
            potentials[place] += spread(factor.reshape(table.values.shape), table.columns, clique)
        beliefs = propagate(self.tree, potentials)
        expected = [
            sum_onto(beliefs[place], self.tree.cliques[place], table.columns).ravel()
            for place, table in zip(self._places, self.measured, strict=True)
        ]
        return np.concatenate(expected) * self.rows
