"""Which tables are measured, how, and for which parts of the price, so that all wanted ones have the least variance.

All of it follows from how many values columns have. The noise that a person pays for by L2 (Gaussian) or by L1
(Laplace) suits different measurements.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import comb, prod
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from adomnia.methods.synthesis.bases import BASES, Basis, suits
from adomnia.methods.synthesis.residuals import Columns, list_subsets
from adomnia.statistics.contract import Floats
from adomnia.statistics.products import Places

How: TypeAlias = Literal["auto", "residual", "plain", "largest", "fourier"]

MOST_CELLS = 10**6  # of all wanted tables together, and of any that is measured
MOST_TABLES = 500  # each is rendered and proved by itself, before anything is paid
_LARGEST = "counts of the largest tables"
_ROUNDS = 60
_WEIGHTS = 2**30  # parts of the price are whole numbers of about so many
_NOTHING = 1e-5  # of an even share: what a table gets that does not help


@dataclass(frozen=True)
class PlannedTable:
    """A table that is measured, and its part of the price."""

    tag: ClassVar[str] = "PlannedTable"
    columns: Columns
    basis: Basis
    part: Fraction


@dataclass(frozen=True)
class TablePlan:
    """What is measured, and the variances of all cells of the wanted tables added up, where rho or epsilon is 1."""

    tag: ClassVar[str] = "TablePlan"
    name: str
    tables: tuple[PlannedTable, ...]
    total: float


def list_tables(sizes: Sequence[int], ways: int) -> tuple[Columns, ...]:
    """All sets of so many columns."""
    return tuple(combinations(range(len(sizes)), min(ways, len(sizes))))


def list_closure(sizes: Sequence[int], ways: int) -> tuple[Columns, ...]:
    """All sets of up to so many columns, the total first."""
    return tuple(part for many in range(min(ways, len(sizes)) + 1) for part in combinations(range(len(sizes)), many))


@lru_cache(maxsize=64)
def plan_tables(sizes: tuple[int, ...], tables: tuple[Columns, ...], how: How, *, laplace: bool) -> TablePlan:
    """The plan of that sort in which the variances of all cells of these tables add up to the least."""
    return min(compare_plans(sizes, tables, how, laplace=laplace), key=lambda plan: plan.total)


@lru_cache(maxsize=64)
def compare_plans(
    sizes: tuple[int, ...], tables: tuple[Columns, ...], how: How, *, laplace: bool
) -> tuple[TablePlan, ...]:
    """All plans of that sort. For Gaussian noise the contrasts are best of all (Xiao et al. 2023)."""
    wanted = _Wanted.of(sizes, tables)
    if how == "residual" or (how == "auto" and not laplace):
        return (wanted.improve("contrasts", wanted.measure("contrasts"), laplace=laplace),)
    sorts = wanted.list_plain()
    if how == "largest":
        return (wanted.improve(_LARGEST, sorts[_LARGEST], laplace=laplace),)
    plain = _leave_one_of_each(wanted.improve(*each, laplace=laplace) for each in sorts.items())
    if how == "plain":
        return plain
    if how == "fourier":
        return (wanted.share_evenly(laplace=laplace),)
    others = [wanted.improve("contrasts", wanted.measure("contrasts"), laplace=laplace)]
    if all(suits("fourier", [sizes[column] for column in part]) for part in wanted.weights):
        others.append(wanted.improve("Fourier coefficients", wanted.measure("fourier"), laplace=laplace))
    return (*plain, *others)


@dataclass(frozen=True)
class _Wanted:
    """The contrasts that the wanted tables consist of, each with how much of its variance is in all their cells."""

    sizes: tuple[int, ...]
    ways: int
    weights: Mapping[Columns, float]

    @classmethod
    def of(cls, sizes: tuple[int, ...], tables: tuple[Columns, ...]) -> "_Wanted":
        weights: dict[Columns, float] = {}
        for table in tables:
            essential = tuple(column for column in table if sizes[column] > 1)
            cells = prod(sizes[column] for column in essential)
            for part in list_subsets(essential):
                inside = prod(sizes[column] for column in part)
                spread = prod((sizes[column] - 1) / sizes[column] for column in part) * inside**2 / cells
                weights[part] = weights.get(part, 0.0) + spread
        return cls(sizes, max(map(len, tables)), weights)

    def measure(self, basis: Basis) -> list[tuple[Columns, Basis]]:
        """Every set of columns so; by its counts where a matrix would be too large."""
        return [(part, basis if suits(basis, self._values(part)) else "counts") for part in self.weights]

    def list_plain(self) -> dict[str, list[tuple[Columns, Basis]]]:
        """Tables of counts: of all sets, of the largest alone, of one column more, of all columns together."""
        largest = [part for part in self.weights if not any(set(part) < set(other) for other in self._widest)]
        found = {
            "counts of all tables": self.measure("counts"),
            _LARGEST: [(part, "counts") for part in largest],
        }
        essential = tuple(column for column, size in enumerate(self.sizes) if size > 1)
        wider = {self.ways + 1: "counts of one column more"} | {len(essential): "counts of all columns together"}
        for many, name in wider.items():
            if self.ways < many and 1 <= comb(len(essential), many) <= MOST_TABLES:
                tables = list(combinations(essential, many))
                if sum(prod(self._values(table)) for table in tables) <= MOST_CELLS:
                    found[name] = [(table, "counts") for table in tables]
        return found

    @property
    def _widest(self) -> list[Columns]:
        most = max(map(len, self.weights))
        return [part for part in self.weights if len(part) == most]

    def _values(self, columns: Columns) -> list[int]:
        return [self.sizes[column] for column in columns]

    def improve(self, name: str, tables: Sequence[tuple[Columns, Basis]], *, laplace: bool) -> TablePlan:
        """These tables, with parts of the price by which the variances add up to the least."""
        told = _Told.of(self, tables, laplace=laplace)
        best = told.divide()
        helps = best > _NOTHING / len(tables)
        if not helps.all():
            kept = [table for table, each in zip(tables, helps, strict=True) if each]
            told, best, tables = _Told.of(self, kept, laplace=laplace), best[helps] / best[helps].sum(), kept
        return TablePlan(name, _fix(tables, best), told.total(best))

    def share_evenly(self, *, laplace: bool) -> TablePlan:
        """Fourier coefficients with the same noise on all of them (Barak et al. 2007)."""
        tables = self.measure("fourier")
        numbers = np.array([prod(size - 1 for size in self._values(part)) for part, _ in tables], dtype=np.float64)
        told = _Told.of(self, tables, laplace=laplace)
        parts = numbers / numbers.sum()
        return TablePlan("Fourier coefficients", _fix(tables, parts), told.total(parts))


@dataclass(frozen=True)
class _Told:
    """How precisely each table, at the whole price, tells each of the contrasts: pairs of both, and the precision."""

    weights: Floats
    tables: Places  # of each pair
    contrasts: Places
    precisions: Floats
    power: int  # of its part of the price that the precision grows by: 1 Gaussian, 2 Laplace
    count: int

    @classmethod
    def of(cls, wanted: _Wanted, tables: Sequence[tuple[Columns, Basis]], *, laplace: bool) -> "_Told":
        order = {part: place for place, part in enumerate(wanted.weights)}
        pairs = []
        for place, (columns, basis) in enumerate(tables):
            sizes = {column: wanted.sizes[column] for column in columns}
            facts = BASES[basis]
            variance = 2.0 * prod(map(facts.l1, sizes.values())) ** 2 if laplace else 0.0
            variance = variance or prod(map(facts.l2_squared, sizes.values())) / 2
            if basis != "counts":
                pairs.append((place, order[columns], 1 / (variance * prod(map(facts.kept, sizes.values())))))
                continue
            whole = prod(sizes.values())
            pairs += [
                (place, order[part], prod(sizes[column] for column in part) / (variance * whole))
                for part in list_subsets(columns, wanted.ways)
                if part in order
            ]
        found = np.array(pairs).T
        weights = np.array(list(wanted.weights.values()))
        return cls(weights, found[0].astype(int), found[1].astype(int), found[2], 2 if laplace else 1, len(tables))

    def total(self, parts: Floats) -> float:
        """The sum of all variances with such parts of the price."""
        return float((self.weights / self._add_precisions(parts)).sum())

    def _add_precisions(self, parts: Floats) -> Floats:
        precisions = self.precisions * parts[self.tables] ** self.power
        return np.asarray(np.bincount(self.contrasts, weights=precisions, minlength=len(self.weights)), np.float64)

    def divide(self) -> Floats:
        """Parts in which no table helps more than another, by what each gains: exact where each tells of one set."""
        parts = np.full(self.count, 1 / self.count)
        best = parts
        for _ in range(_ROUNDS):
            gains = (self.weights / self._add_precisions(parts) ** 2)[self.contrasts] * self.precisions
            slopes = np.bincount(self.tables, weights=gains, minlength=self.count) * parts ** (self.power - 1)
            parts = parts * slopes ** (1 / (self.power + 1))
            parts = np.maximum(parts / parts.sum(), 1e-12)
            best = min(best, parts, key=self.total)
        return best


def _leave_one_of_each(plans: Iterable[TablePlan]) -> tuple[TablePlan, ...]:
    """Of plans that measure the same tables, because others got no part of the price, the last: its name is true."""
    found = {frozenset(table.columns for table in plan.tables): plan for plan in plans}
    return tuple(found.values())


def _fix(tables: Iterable[tuple[Columns, Basis]], parts: Floats) -> tuple[PlannedTable, ...]:
    """Parts as fractions that add up to exactly 1."""
    whole = [max(1, round(float(part) * _WEIGHTS)) for part in parts]
    total = sum(whole)
    return tuple(
        PlannedTable(columns, basis, Fraction(each, total))
        for (columns, basis), each in zip(tables, whole, strict=True)
    )
