"""Tables of counts, taken apart into what each adds to those of fewer columns: they agree, and errors are known.

A table of the columns A is the sum, over the sets S of some of them, of the contrasts of S spread evenly over the other
columns. The noise of the contrasts of S has the covariance v_S times the Kronecker product of I - J / n over S, and is
independent of that of other sets. Least squares in closed form: docs/proofs/residuals.md.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import prod
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from adomnia.methods.releases.bases import BASES, Basis, find_contrasts, subtract_means
from adomnia.methods.releases.weighed_cells import add_weights, square_weights
from adomnia.noise import Integers
from adomnia.statistics.contract import Floats
from adomnia.statistics.products import Places

Columns: TypeAlias = tuple[int, ...]  # places of columns of a release, in their order

_MOST_DENSE = 2**23  # cells of tables of groups; beyond it those without any are left out, which takes longer


@dataclass(frozen=True)
class NoisyMarginal:
    """What was measured of a table of some columns, with independent noise of one variance on each number."""

    tag: ClassVar[str] = "NoisyMarginal"
    columns: Columns
    values: Integers | Floats
    variance: float
    basis: Basis = "counts"


@dataclass(frozen=True)
class Residuals:
    """The noisy contrasts of sets of columns, and the variances v of their noise: what every count follows from.

    With a set it has all sets of fewer of its columns. Columns of one value tell nothing, and are in none of them.
    """

    tag: ClassVar[str] = "Residuals"
    sizes: tuple[int, ...]  # how many values each column has
    contrasts: Mapping[Columns, Floats]
    variances: Mapping[Columns, float]

    @classmethod
    def from_measured(cls, sizes: Sequence[int], measured: Iterable[NoisyMarginal]) -> Self:
        """The estimates of least squares: every measurement of the same contrasts counts by its precision."""
        sums: dict[Columns, Floats] = {}
        precisions: dict[Columns, float] = {}
        for columns, found, variance in chain.from_iterable(_take_apart(tuple(sizes), each) for each in measured):
            sums[columns] = sums.get(columns, 0.0) + found / variance
            precisions[columns] = precisions.get(columns, 0.0) + 1 / variance
        contrasts = {columns: total / precisions[columns] for columns, total in sums.items()}
        return cls(tuple(sizes), contrasts, {columns: 1 / each for columns, each in precisions.items()})

    def to_plain(self) -> dict[str, Any]:
        """All of it as plain data, for the folder of a release."""
        sets = [
            {"columns": columns, "contrasts": np.asarray(self.contrasts[columns], np.float64), "variance": variance}
            for columns, variance in self.variances.items()
        ]
        return {"sets": sets}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], sizes: Sequence[int]) -> Self:
        """The same again, for columns of so many values; a ValueError for what `to_plain` cannot have written."""
        found = cls(tuple(sizes), {}, {})
        contrasts, variances = {}, {}
        for each in plain["sets"]:
            columns, values, variance = tuple(each["columns"]), each["contrasts"], float(each["variance"])
            if not all(type(column) is int and 0 <= column < len(sizes) for column in columns):
                raise ValueError("Residuals columns must be places of columns.")
            shape = tuple(sizes[column] for column in columns)
            if columns != found._essential(columns) or len(set(columns)) != len(columns) or columns in contrasts:
                raise ValueError("Residuals columns must be sorted sets, each once.")
            if not isinstance(values, np.ndarray) or values.dtype != np.float64 or values.shape != shape:
                raise ValueError("Residuals contrasts must have a number for each cell.")
            if not np.isfinite(values).all() or not 0 <= variance < np.inf:
                raise ValueError("Residuals numbers must be finite.")
            contrasts[columns], variances[columns] = values, variance
        if not all(part in variances for columns in variances for part in list_subsets(columns)):
            raise ValueError("Residuals must have all sets of fewer columns.")
        return cls(tuple(sizes), contrasts, variances)

    def covers(self, columns: Sequence[int]) -> bool:
        return all(part in self.variances for part in list_subsets(self._essential(columns)))

    def marginal(self, columns: Sequence[int]) -> Floats:
        """The estimated counts of all values of these columns together, an axis for each."""
        essential = self._essential(columns)
        table = np.zeros([self.sizes[column] for column in essential])
        for part in list_subsets(essential):
            rest = prod(self.sizes[column] for column in essential if column not in part)
            shape = [self.sizes[column] if column in part else 1 for column in essential]
            table += self.contrasts[part].reshape(shape) / rest
        return self._arrange(table, columns)

    def variance(self, columns: Sequence[int]) -> float:
        """The variance of the noise in each cell of that table, which is the same in all of them."""
        essential = self._essential(columns)
        return sum(
            self.variances[part]
            * prod((self.sizes[column] - 1) / self.sizes[column] for column in part)
            / self._rest(essential, part) ** 2
            for part in list_subsets(essential)
        )

    def count(self, columns: Sequence[int], groups: Places, number: int) -> tuple[Floats, ...]:
        if not number:
            return np.zeros(0), np.zeros(0)
        counted = groups.ravel() >= 0
        places, table = groups.ravel(), self.marginal(columns).ravel()
        if not counted.all():
            places, table = places[counted], table[counted]
        values = np.asarray(np.bincount(places, weights=table, minlength=number), np.float64)
        return values, self._add_variances(columns, groups, number)

    def add(self, columns: Sequence[int], groups: Places, number: int, weights: Floats) -> tuple[Floats, ...]:
        """The weights of all rows in each group, and the variances of the noise in that: `count` is of weights 1."""
        values = add_weights(groups, number, weights * self.marginal(columns).reshape(groups.shape))
        variances, essential = np.zeros(number), self._essential(columns)
        for axes, squares in square_weights(groups, number, weights):
            part = tuple(columns[axis] for axis in axes)
            inside = self._essential(part)
            if len(inside) == len(part):
                variances += self._weigh(essential, inside) * squares
        return values, np.maximum(variances, 0.0)

    def _add_variances(self, columns: Sequence[int], groups: Places, number: int) -> Floats:
        """The variance of every group: squared numbers of its cells, by the values of each set of columns, weighed.

        With w the cells of a group, var = sum over S of v_S |P w_S|**2, where w_S is the mean of w over the columns
        beyond S. P is a product of differences between a column and its mean, so |P w_S|**2 is a sum over the sets T
        within S of squared sums, with changing signs.
        """
        added = np.zeros(number)
        essential = self._essential(columns)
        for part, squares in _square_counts(tuple(columns), groups, number):
            inside = self._essential(part)
            if len(inside) == len(part):
                added += self._weigh(essential, inside) * squares
        return np.maximum(added, 0.0)

    def _weigh(self, columns: Columns, inner: Columns) -> float:
        """How much the squared numbers of cells by the values of an inner set count."""
        found = 0.0
        for part in list_subsets(columns):
            if set(inner) <= set(part):
                between = self._rest(part, inner)
                sign = -1 if (len(part) - len(inner)) % 2 else 1
                found += sign * self.variances[part] / (self._rest(columns, part) ** 2 * between)
        return found

    def _rest(self, columns: Columns, part: Columns) -> int:
        return prod(self.sizes[column] for column in columns if column not in part)

    def _essential(self, columns: Sequence[int]) -> Columns:
        return tuple(sorted(column for column in columns if self.sizes[column] > 1))

    def _arrange(self, table: Floats, columns: Sequence[int]) -> Floats:
        """A table of sorted columns of several values as one of columns in any order."""
        in_order = table.reshape([self.sizes[column] for column in sorted(columns)])
        return np.transpose(in_order, np.argsort(np.argsort(columns)))


def list_subsets(columns: Columns) -> Iterator[Columns]:
    """All sets of some of the columns, the empty one first."""
    return chain.from_iterable(combinations(columns, many) for many in range(len(columns) + 1))


def _take_apart(sizes: tuple[int, ...], measured: NoisyMarginal) -> Iterator[tuple[Columns, Floats, float]]:
    """The contrasts that a measurement tells of, and the variances of what it says."""
    columns = tuple(column for column in measured.columns if sizes[column] > 1)
    own = [sizes[column] for column in columns]
    if measured.basis != "counts":
        kept = prod(map(BASES[measured.basis].kept, own))
        yield columns, find_contrasts(measured.values, own, measured.basis), measured.variance * kept
        return
    table = np.asarray(measured.values, dtype=np.float64).reshape(own)
    for part in list_subsets(columns):
        others = tuple(axis for axis, column in enumerate(columns) if column not in part)
        rest = prod(own[axis] for axis in others)
        yield part, subtract_means(table.sum(axis=others)), measured.variance * rest


def _square_counts(columns: Columns, groups: Places, number: int) -> Iterator[tuple[Columns, Floats]]:
    """Of each set of the columns, the sums over its values of the squared numbers of a group's cells there."""
    cells = _count_cells(groups, number)
    yield columns, cells
    if cells.max() <= 1:  # alone in its group, a cell is all there is, whichever columns are looked at
        yield from ((part, cells) for part in list_subsets(columns) if part != columns)
    elif columns:
        dense = number * groups.size // min(groups.shape) <= _MOST_DENSE
        yield from (_square_dense if dense else _square_sparse)(columns, groups, number)


def _count_cells(groups: Places, number: int) -> Floats:
    return np.bincount(groups.ravel() + 1, minlength=number + 1)[1:].astype(np.float64)


def _square_dense(columns: Columns, groups: Places, number: int) -> Iterator[tuple[Columns, Floats]]:
    """By tables of all groups and values: each from one with a column more, the largest from the cells."""
    tables: dict[Columns, Floats] = {}
    for many in range(len(columns) - 1, -1, -1):
        for part in combinations(range(len(columns)), many):
            wider = next((whole for whole in tables if len(whole) == many + 1 and set(part) <= set(whole)), None)
            if wider is None:
                tables[part] = _tabulate(groups, part, number)
            else:
                (axis,) = (place for place, each in enumerate(wider) if each not in part)
                tables[part] = tables[wider].sum(axis=axis + 1)
            table = tables[part].reshape(number, -1)
            yield tuple(columns[place] for place in part), np.einsum("gt,gt->g", table, table)


def _tabulate(groups: Places, part: Columns, number: int) -> Floats:
    """How many cells of each group have the values of all columns but one."""
    sizes = [groups.shape[axis] for axis in part]
    keys = groups * prod(sizes) + _places_within(groups.shape, part)
    held = groups >= 0
    found = np.bincount(keys.ravel() if held.all() else keys[held], minlength=number * prod(sizes))
    return found.reshape(number, *sizes).astype(np.float64)


def _places_within(shape: tuple[int, ...], part: Columns) -> Places:
    """Of each cell of a table its place in that of some of its axes, with axes of length 1 for the others."""
    found = np.arange(prod(shape[axis] for axis in part), dtype=np.int64)
    return found.reshape([length if axis in part else 1 for axis, length in enumerate(shape)])


def _square_sparse(columns: Columns, groups: Places, number: int) -> Iterator[tuple[Columns, Floats]]:
    """By the values that groups have cells of: there are fewer of them than cells."""
    held = groups >= 0
    for many in range(len(columns)):
        for part in combinations(range(len(columns)), many):
            width = prod(groups.shape[axis] for axis in part)
            keys = (groups * width + _places_within(groups.shape, part))[held]
            found, counts = np.unique(keys, return_counts=True)
            squares = np.bincount(found // width, weights=counts.astype(np.float64) ** 2, minlength=number)
            yield tuple(columns[place] for place in part), np.asarray(squares, np.float64)
