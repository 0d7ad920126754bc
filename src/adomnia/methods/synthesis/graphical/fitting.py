"""Models from noisy tables: the distribution of a junction tree that comes closest to all that was measured.

One pass of a fit is the least loss plus a little of the divergence from the model before, found by its dual. The dual
is smooth and has no constraints, and how far a pass is from its end follows from the gradient alone. Passes one after
the other, each from where the last one ended, lead to the least loss itself (Censor & Zenios 1992). The descent needs
the gradient alone, which beliefs of a junction tree give in two passes: from a factor for each clique to its cells.

Cite: McKenna, Sheldon & Miklau 2019 (Private-PGM), whose fit it is, but not the way to it; Nocedal 1980 (the limited
memory of steps); Hager & Zhang 2005 (a line search by slopes); Lauritzen & Spiegelhalter 1988, Jensen, Lauritzen &
Olesen 1990 (beliefs).
"""

from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from adomnia.methods.synthesis.graphical.models import Model
from adomnia.methods.synthesis.graphical.trees import Columns, JunctionTree, Projection, Table, build_tree

_PULLS = (10.0, 3.0, 1.0)  # of the first passes: far from the end, strong ones come closer with less work
_LAST_PULL = 0.3
_DEPTH = 20.0  # of the logarithms of a factor that a fit starts from
Vector = NDArray[np.float64]
_MEMORY = 8
_SLOPE = 0.5  # a step is short enough where the slope has not risen beyond this share of the first one's size


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


@dataclass(frozen=True)
class Descent:
    """Where a descent ended, and how many gradients it took."""

    place: Vector
    gradients: int


def descend(
    gradient: Callable[[Vector], Vector],
    start: Vector,
    curvature: Vector,
    is_done: Callable[[Vector], bool],
    most_gradients: int,
) -> Descent:
    """The place of the least value: quasi-Newton steps from a diagonal guess of the curvature.

    The function is strongly convex, so that slopes along a line rise: where one is negative or little above zero, the
    function is lower than at the start. Its values are never needed, and their rounding does no harm.
    """
    place, slopes = start, gradient(start)
    steps: deque[tuple[Vector, Vector, float]] = deque(maxlen=_MEMORY)
    count = 1
    while count < most_gradients and not is_done(slopes):
        direction = -_apply_inverse(slopes, curvature, steps)
        first, length = float(slopes @ direction), 1.0
        if not first < 0:
            break  # rounding has the last word
        while True:
            moved = place + length * direction
            turned = gradient(moved)
            count += 1
            slope = float(turned @ direction)
            if slope <= -_SLOPE * first or count >= most_gradients:
                break
            length *= float(np.clip(first / (first - slope), 0.1, 0.7))
        if slope > -first:
            break  # the last step of all was too long
        steps.append((moved - place, turned - slopes, length * (slope - first)))
        place, slopes = moved, turned
    return Descent(place, count)


def _apply_inverse(slopes: Vector, curvature: Vector, steps: deque[tuple[Vector, Vector, float]]) -> Vector:
    """The inverse curvature that the last steps tell of, times the slopes: the loop over them back and forth."""
    result = slopes.copy()
    weights = []
    for step, change, product in reversed(steps):
        weights.append(float(step @ result) / product)
        result -= weights[-1] * change
    scale = 1.0
    if steps:
        _, change, product = steps[-1]
        scale = product / float(change @ (change / curvature))
    result *= scale / curvature
    for (step, change, product), weight in zip(steps, reversed(weights), strict=True):
        result += (weight - float(change @ result) / product) * step
    return result


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


class BeliefPropagation:
    """The two passes over a tree, each time from other potentials."""

    def __init__(self, tree: JunctionTree) -> None:
        cliques, joined = tree.cliques, list(zip(tree.edges, tree.separators, strict=True))
        self._edges = tree.edges
        self._whole = Projection.between(tree.sizes, cliques[0], ())
        self._above = [Projection.between(tree.sizes, cliques[edge[0]], shared) for edge, shared in joined]
        self._below = [Projection.between(tree.sizes, cliques[edge[1]], shared) for edge, shared in joined]

    def run(self, tables: Sequence[Table]) -> None:
        """Turns potentials into the probabilities of each clique's cells, in place.

        The joint distribution is the exponential of the sum of all potentials, up to a factor.
        """
        received = list[Table]()
        for (parent, child), above, below in zip(*map(reversed, (self._edges, self._above, self._below)), strict=True):
            highest = _exponentiate(tables[child], below)
            received.append(below.collapse(tables[child]))
            tables[parent][...] += above.spread(np.log(received[-1]) + highest)
        _exponentiate(tables[0], self._whole)
        tables[0][...] /= tables[0].sum()
        for (parent, child), above, below in zip(self._edges, self._above, self._below, strict=True):
            tables[child][...] *= below.spread(above.collapse(tables[parent]) / received.pop())


def _exponentiate(logs: Table, projection: Projection) -> Table:
    """Turns logarithms into weights, the largest 1 for each cell of a projection, and returns what was taken off.

    So no cell of a separator loses all its weight, however far the potentials of its cells lie below those of others.
    """
    highest = projection.peak(logs)
    np.subtract(logs, projection.spread(highest), out=logs)
    np.exp(logs, out=logs)
    return highest
