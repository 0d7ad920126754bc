"""One pass of a fit: the least loss plus a little of the divergence from the model before, found by its dual.

The dual is smooth and has no constraints, and how far a pass is from its end follows from the gradient alone. Passes
one after the other, each from where the last one ended, lead to the least loss itself (Censor & Zenios 1992).
"""

from collections.abc import Mapping, Sequence

import numpy as np

from adomnia.methods.synthesis.graphical.axes import Projection, Table
from adomnia.methods.synthesis.graphical.descent import Vector, descend
from adomnia.methods.synthesis.graphical.propagation import BeliefPropagation
from adomnia.methods.synthesis.graphical.trees import Columns, JunctionTree


class Dual:
    """The dual of: loss + pull * rows * divergence from the model before.

    Its variables are what is added to the factors of measured tables. With expected counts m, noisy counts y of
    deviation s and added factors t, the gradient is m - y + pull s^2 t; at the minimum it is 0. The sum of its squares
    over 2 s^2 is the difference between the objective of the pass and the least possible one.
    """

    def __init__(self, tree: JunctionTree, measured: Sequence[tuple[Columns, Table, float]], rows: float) -> None:
        # Large tables first: each is added to, and summed from, the smallest one before it that has its columns.
        ordered = sorted(measured, key=lambda table: (-table[1].size, -len(table[0])))
        self._tree, self._rows = tree, rows
        self._columns = [columns for columns, _, _ in ordered]
        self._hosts = _find_hosts(tree, self._columns)
        self._values = np.concatenate([values.ravel() for _, values, _ in ordered])
        ends = np.cumsum([values.size for _, values, _ in ordered])
        self._layout = [
            (slice(end - values.size, end), values.shape) for end, (_, values, _) in zip(ends, ordered, strict=True)
        ]
        deviations = [deviation for _, _, deviation in ordered]
        self._variances = np.repeat(np.square(deviations), [values.size for _, values, _ in ordered])
        self._unit = 1 / float(np.median(deviations))
        self._propagation = BeliefPropagation(tree)
        self._cliques = [np.empty(tree.shape(clique)) for clique in tree.cliques]  # filled anew for each gradient

    def improve(
        self, factors: Mapping[Columns, Table], pull: float, tolerance: float, most: int
    ) -> tuple[dict[Columns, Table], float, int]:
        """One pass: the new factors, their loss, and how often the tables were computed.

        The unit of the pull is a standard deviation of a cell's noise for a change of its logarithm by 1.
        """
        before = self._gather(factors)
        penalty = pull * self._unit * self._variances
        errors = np.empty_like(self._values)

        def find_slopes(added: Vector) -> Vector:
            np.subtract(self._expect(before, added), self._values, out=errors)
            return errors + penalty * added

        def is_done(slopes: Vector) -> bool:
            return self._loss(slopes) <= tolerance * max(self._loss(errors), 1.0)

        start = np.zeros_like(self._values)
        curvature = (np.maximum(self._values, 0) + self._expect(before, start)) / 2 + penalty
        found = descend(find_slopes, start, curvature, is_done, most)
        find_slopes(found.place)
        after = {columns: factor for columns, factor in factors.items() if self._tree.cover(columns) is not None}
        for columns, (part, shape) in zip(self._columns, self._layout, strict=True):
            after[columns] = after.get(columns, 0.0) + found.place[part].reshape(shape)
        return after, self._loss(errors), found.gradients + 2

    def believe(self, factors: Mapping[Columns, Table]) -> list[Table]:
        """The probabilities of each clique's cells where these are all factors."""
        tables = self._gather(factors)
        self._propagation.run(tables)
        return tables

    def _loss(self, errors: Vector) -> float:
        return float(errors @ (errors / self._variances)) / 2

    def _gather(self, factors: Mapping[Columns, Table]) -> list[Table]:
        """The potential of each clique: the sum of the factors that it is the smallest to hold."""
        potentials = [np.zeros(self._tree.shape(clique)) for clique in self._tree.cliques]
        for columns, factor in factors.items():
            place = self._tree.cover(columns)
            if place is not None:
                clique = self._tree.cliques[place]
                potentials[place] += Projection.between(self._tree.sizes, clique, columns).spread(factor)
        return potentials

    def _expect(self, before: Sequence[Table], added: Vector) -> Vector:
        """Expected counts of all measured tables, one after the other."""
        first = len(before)
        tables = [*self._cliques, *(added[part].reshape(shape) for part, shape in self._layout)]
        for clique, potential in zip(self._cliques, before, strict=True):
            np.copyto(clique, potential)
        for place, host, projection in reversed(self._hosts):
            out = tables[host] if host < first else None
            tables[host] = np.add(tables[host], projection.spread(tables[place]), out=out)
        self._propagation.run(self._cliques)
        for place, host, projection in self._hosts:
            tables[place] = projection.collapse(tables[host])
        return np.concatenate([table.ravel() for table in tables[first:]]) * self._rows


def _find_hosts(tree: JunctionTree, measured: Sequence[Columns]) -> list[tuple[int, int, Projection]]:
    """For each table its place, that of the smallest one before it that has its columns, and how they project."""
    tables = [*tree.cliques, *measured]
    hosts = []
    for place in range(len(tree.cliques), len(tables)):
        wider = [other for other in range(place) if set(tables[place]) <= set(tables[other])]
        host = min(wider, key=lambda other: tree.count(tables[other]))
        hosts.append((place, host, Projection.between(tree.sizes, tables[host], tables[place])))
    return hosts
