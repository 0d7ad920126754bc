"""Tables of counts, taken apart into what each adds to those of fewer columns: they agree, and errors are known.

A table of the columns A is the sum, over the sets S of some of them, of the contrasts of S spread evenly over the other
columns. The noise of the contrasts of S has the covariance v_S times the Kronecker product of I - J / n over S, and is
independent of that of other sets. Least squares in closed form: docs/proofs/residuals.md.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import inf, prod
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from adomnia.methods.synthesis.bases import BASES, Basis, find_contrasts, subtract_means
from adomnia.methods.synthesis.grouped_cells import GroupedCells
from adomnia.noise import Integers
from adomnia.statistics.contract import Floats
from adomnia.statistics.products import Places

Columns: TypeAlias = tuple[int, ...]  # places of columns of a release, in their order

_MOST_WAYS = 6  # columns of a table all of whose sets are looked at


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
    def from_measured(cls, sizes: Sequence[int], measured: Iterable[NoisyMarginal], ways: int = _MOST_WAYS) -> Self:
        """The estimates of least squares: every measurement of the same contrasts counts by its precision.

        What tables of many columns say of more than so many of them together is left out.
        """
        sums: dict[Columns, Floats] = {}
        precisions: dict[Columns, float] = {}
        for columns, found, variance in chain.from_iterable(_take_apart(tuple(sizes), each, ways) for each in measured):
            sums[columns] = sums.get(columns, 0.0) + found / variance
            precisions[columns] = precisions.get(columns, 0.0) + 1 / variance
        contrasts = {columns: total / precisions[columns] for columns, total in sums.items()}
        return cls(tuple(sizes), contrasts, {columns: 1 / each for columns, each in precisions.items()})

    def to_plain(self) -> dict[str, Any]:
        """All contrasts with their columns and variances."""
        return {
            "contrasts": [
                {"columns": list(columns), "values": values, "variance": self.variances[columns]}
                for columns, values in self.contrasts.items()
            ]
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], sizes: Sequence[int]) -> Self:
        """What `to_plain` wrote, for columns of so many values; an error for anything else."""
        contrasts: dict[Columns, Floats] = {}
        variances: dict[Columns, float] = {}
        for each in plain["contrasts"]:
            columns, values, variance = tuple(each["columns"]), np.asarray(each["values"], np.float64), each["variance"]
            _require(columns not in contrasts and list(columns) == sorted(set(columns)), "columns must be in order")
            _require(all(type(place) is int and 0 <= place < len(sizes) for place in columns), "columns must be places")
            _require(values.shape == tuple(sizes[place] for place in columns), "contrasts must be complete")
            _require(1 not in values.shape, "columns must have several values")
            _require(type(variance) is float and 0 < variance < inf, "variances must be positive")
            _require(bool(np.isfinite(values).all()), "contrasts must be finite")
            contrasts[columns], variances[columns] = values, variance
        complete = all(part in contrasts for columns in contrasts for part in list_subsets(columns))
        _require(bool(contrasts) and complete, "contrasts must be there of all fewer columns too")
        return cls(tuple(sizes), contrasts, variances)

    def covers(self, columns: Sequence[int]) -> bool:
        return all(part in self.variances for part in list_subsets(self._essential(columns)))

    def marginal(self, columns: Sequence[int]) -> Floats:
        """The estimated counts of all values of these columns together, an axis for each."""
        essential = self._essential(columns)
        table = np.zeros([self.sizes[column] for column in essential])
        for part in list_subsets(essential):
            shape = [self.sizes[column] if column in part else 1 for column in essential]
            table += self._own(part, essential).reshape(shape)
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
        return self._add(tuple(columns), GroupedCells(np.asarray(groups, dtype=np.int64), number))

    def add(self, columns: Sequence[int], groups: Places, number: int, weights: Floats) -> tuple[Floats, ...]:
        """The same where a row in each cell counts for so much: sums, which means are made of."""
        cells = GroupedCells(np.asarray(groups, dtype=np.int64), number, np.asarray(weights, dtype=np.float64))
        return self._add(tuple(columns), cells)

    def _add(self, columns: Columns, cells: GroupedCells) -> tuple[Floats, Floats]:
        """Counts and variances of all groups, from the weights of their cells by the values of each set of columns.

        With w those of a group and w_S their mean over the columns beyond S, its count adds up the contrasts of S times
        w_S, and its variance is the sum of v_S |P w_S|**2. P is a product of differences between a column and its mean,
        so |P w_S|**2 is a sum over the sets T within S of squared sums, with changing signs.
        """
        if cells.are_alone:  # a cell alone in its group has the variance of all cells of the table
            return cells.weigh(self.marginal(columns)), self.variance(columns) * cells.square()
        essential = self._essential(columns)
        values = cells.weigh(self._arrange(self._own(essential, essential), columns))
        variances = self._weigh(essential, essential) * cells.square()
        for counted in cells.count_by_values():
            inner = tuple(columns[axis] for axis in counted.axes)
            part = self._essential(inner)
            # Without a column of one value, groups have the same cells: each set counts once, as that without them.
            if len(part) == len(inner) and len(inner) < len(essential):
                own = self._arrange(self._own(part, essential), inner)
                values += counted.weigh(own)
                variances += self._weigh(essential, part) * counted.square()
        return values, np.maximum(variances, 0.0)

    def _own(self, part: Columns, columns: Columns) -> Floats:
        """What the contrasts of some columns are in each cell of a table of more."""
        return self.contrasts[part] / self._rest(columns, part)

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


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise ValueError(f"Residuals {rule}.")


def list_subsets(columns: Columns, most: int | None = None) -> Iterator[Columns]:
    """All sets of some of the columns, or of at most so many, the empty one first."""
    largest = len(columns) if most is None else min(most, len(columns))
    return chain.from_iterable(combinations(columns, many) for many in range(largest + 1))


def _take_apart(sizes: tuple[int, ...], measured: NoisyMarginal, ways: int) -> Iterator[tuple[Columns, Floats, float]]:
    """The contrasts that a measurement tells of, and the variances of what it says."""
    columns = tuple(column for column in measured.columns if sizes[column] > 1)
    own = [sizes[column] for column in columns]
    if measured.basis != "counts":
        kept = prod(map(BASES[measured.basis].kept, own))
        yield columns, find_contrasts(measured.values, own, measured.basis), measured.variance * kept
        return
    table = np.asarray(measured.values, dtype=np.float64).reshape(own)
    for part, sums in _add_up(table, columns, (), max(ways, len(columns) if len(columns) <= _MOST_WAYS else 0)):
        yield part, subtract_means(sums), measured.variance * (table.size / sums.size)


def _add_up(table: Floats, columns: Columns, kept: Columns, most: int) -> Iterator[tuple[Columns, Floats]]:
    """The sums of a table over all but at most so many columns: each in turn is kept, or added up for all that follows.

    Its first axes are the kept ones.
    """
    if not columns or len(kept) == most:
        yield kept, np.asarray(table.sum(axis=tuple(range(len(kept), table.ndim))))
        return
    yield from _add_up(table.sum(axis=len(kept)), columns[1:], kept, most)
    yield from _add_up(table, columns[1:], (*kept, columns[0]), most)
