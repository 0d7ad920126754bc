"""Which cells of a release a query counts, in which of its groups, and what a row of each counts for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from adomnia.errors import Refusal
from adomnia.plans.descriptions import describe
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column, call, conjuncts, map_columns, quote_name
from adomnia.privacy.keys import Bucket, Key, key_cells, key_values
from adomnia.privacy.kinds import Quantity, Text
from adomnia.privacy.relations import Named, Private, Select, Where
from adomnia.releases.bins import find_cut
from adomnia.releases.levels import Levels, as_numbers, is_true
from adomnia.work import spend

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from adomnia.privacy.expressions import Expression
    from adomnia.privacy.queries import Query
    from adomnia.privacy.relations import Relation
    from adomnia.releases.tables import AttributeTable
    from adomnia.statistics.contract import Floats

MOST_CELLS = 4 * 10**6  # of all columns that a question names
_CELLS_A_STEP = 1000
_SHOWN_ENDS = 6
_ELSEWHERE = "ask the table that it was made from, which has a price, or a release of synthetic rows"


@dataclass(frozen=True)
class Weights:
    """What a row counts for, by the levels of some attributes: one axis for each of them, in their order."""

    attributes: tuple[int, ...]
    values: Floats

    def times(self, factor: float) -> Weights:
        return Weights(self.attributes, self.values * factor)

    def plus(self, other: Weights) -> Weights:
        attributes = tuple(sorted({*self.attributes, *other.attributes}))
        return Weights(attributes, self.over(attributes) + other.over(attributes))

    def over(self, attributes: Sequence[int]) -> Floats:
        """The same with axes for more attributes, of length 1 for those that are new."""
        return np.asarray(spread(self.attributes, self.values, attributes))


@dataclass(frozen=True)
class CellGroups:
    """The groups of cells of some attributes: the place of each cell's group, or -1 where it is in none.

    `shape` are the numbers of values of the keys.
    """

    attributes: tuple[int, ...]
    places: NDArray[np.intp]
    shape: tuple[int, ...]

    @property
    def number(self) -> int:
        return prod(self.shape)

    def coarsen(self, axes: tuple[int, ...]) -> CellGroups:
        """The groups added up over some keys, which stay with one value."""
        shape = tuple(1 if axis in axes else size for axis, size in enumerate(self.shape))
        indices = np.unravel_index(np.arange(self.number), self.shape) if self.shape else ()
        kept = [np.zeros_like(each) if axis in axes else each for axis, each in enumerate(indices)]
        coarse = np.ravel_multi_index(tuple(kept), shape) if kept else np.zeros(1, dtype=np.intp)
        return CellGroups(self.attributes, np.where(self.places < 0, -1, coarse[self.places]), shape)


class Selector:
    """Reads relations, keys and aggregates of a release's table by its levels."""

    def __init__(self, levels: Levels) -> None:
        self.levels = levels

    @property
    def table(self) -> AttributeTable:
        return self.levels.table

    def group(self, relation: Relation, keys: tuple[Key, ...]) -> CellGroups:
        """The groups that the rows of a relation are in."""
        conditions, express = flatten(relation)
        marks = self._mark(conditions)
        placed = [self._place(key, express) for key in keys]
        attributes = tuple(sorted({each for attributes, _ in (*marks, *placed) for each in attributes}))
        shape = tuple(len(self.table.attributes[each]) for each in attributes)
        _refuse_large(prod(shape), self.name_attributes(attributes))
        sizes = tuple(len(key_cells(key)) for key in keys)
        places = np.zeros((1,) * len(shape), dtype=np.intp)  # with no more axes than were looked at so far
        inside = np.ones((1,) * len(shape), dtype=bool)
        for (own, found), size in zip(placed, sizes, strict=True):
            spread_places = np.asarray(spread(own, found, attributes), dtype=np.intp)
            places = places * size + spread_places
            inside = inside & (spread_places >= 0)
        for own, holds in marks:
            inside = inside & np.asarray(spread(own, holds, attributes), dtype=np.bool_)
        return CellGroups(attributes, np.where(inside, places, -1), sizes)

    def weigh(self, query: Query, name: str) -> Weights:
        """What a row counts for in a query; that it is in the relation is not part of it."""
        _, express = flatten(query.relation)
        if query.additive is None:
            fix = f"ask for COUNT, SUM or AVG of rows, or {_ELSEWHERE}"
            name = "COUNT(DISTINCT ...)" if query.aggregate.different else name
            raise Refusal(name, "does not follow from the counts of a release", fix, code="release_aggregate")
        if query.additive.adds_up:
            return self._weigh_values(express(query.total.value), query.total.domain, name)
        if query.additive.counted is None:
            return Weights((), np.ones(()))
        ((attributes, holds),) = self._mark([call("not", call("is null", express(query.additive.counted)))])
        return Weights(attributes, holds.astype(np.float64))

    def name_attributes(self, attributes: Sequence[int]) -> list[str]:
        """What the table calls some attributes."""
        return [self.table.attributes[each].name for each in attributes]

    def _weigh_values(self, value: Expression, domain: Numbers, name: str) -> Weights:
        cut = find_cut(value, self.levels)
        if cut is not None:
            why = f"adds up {describe(value)}, and of {cut.name} the release has bins alone"
            raise Refusal(name, why, f"count by {self._name_bins(cut)}, or {_ELSEWHERE}", code="release_bins")
        (found,) = self.levels.evaluate([value])
        numbers = np.clip(as_numbers(found), float(domain.lower), float(domain.upper))
        return Weights(found.attributes, np.where(np.isnan(numbers), 0.0, numbers))

    def _mark(self, conditions: Sequence[Expression]) -> list[tuple[tuple[int, ...], NDArray[np.bool_]]]:
        """Where each condition holds, on the levels that it reads."""
        for condition in conditions:
            self._refuse_cut(condition)
        return [(found.attributes, is_true(found)) for found in self.levels.evaluate(conditions)]

    def _place(self, key: Key, express: Callable[[Expression], Expression]) -> tuple[tuple[int, ...], NDArray[np.intp]]:
        """The place of each level among the values of a key, -1 where it is none of them."""
        value = express(key.value if isinstance(key, Bucket) else key)
        if isinstance(value, Column) and isinstance(value.kind, Text) and not isinstance(key, Bucket):
            place = self.table.columns[value]
            numbered = _number_levels(tuple(level is not None for level in self.table.attributes[place].levels))
            return (place,), numbered
        self._refuse_cut(value)
        (found,) = self.levels.evaluate([value])
        return found.attributes, np.asarray(np.frompyfunc(_placer(key), 1, 1)(found.values), dtype=np.intp)

    def _refuse_cut(self, expression: Expression) -> None:
        cut = find_cut(expression, self.levels)
        if cut is None:
            return
        starts = [first for first, _ in self.table.ends(cut) if first is not None]
        shown = ", ".join(_write(each) for each in starts[:_SHOWN_ENDS]) + (
            ", ..." if len(starts) > _SHOWN_ENDS else ""
        )
        why = f"would cut bins of {cut.name} in two, and the release knows how many are in each bin alone"
        fix = f"cut where bins begin, at {shown}, group by {self._name_bins(cut)}, or {_ELSEWHERE}"
        raise Refusal(describe(expression), why, fix, code="release_bins")

    def _name_bins(self, column: Column) -> str:
        """The column that names the bins of another, as a question writes it."""
        place = self.table.columns[column]
        shown = [each.name for each, own in self.table.columns.items() if own == place and isinstance(each.kind, Text)]
        return quote_name(shown[0])


def flatten(relation: Relation) -> tuple[list[Expression], Callable[[Expression], Expression]]:
    """The conditions of a relation in the columns of its table, and what says any expression over it in these."""
    peeled = peel(relation)
    if isinstance(peeled.table, Private):
        return peeled.conditions, peeled.express
    why = "is made of several tables, or of several rows at once, and a release has counts of single rows"
    fix = f"ask about one release by itself, without JOIN, UNION and subqueries with GROUP BY, or {_ELSEWHERE}"
    raise Refusal("What stands in FROM", why, fix, code="release_join")


@dataclass(frozen=True)
class Peeled:
    """A relation taken apart: its innermost rows, conditions on them, and what says expressions in their columns."""

    table: Relation
    conditions: list[Expression]
    express: Callable[[Expression], Expression]


def peel(relation: Relation) -> Peeled:
    """Take filters, outputs and names off a relation."""
    match relation:
        case Where(source=source, condition=condition):
            inner = peel(source)
            return Peeled(inner.table, [*inner.conditions, *conjuncts(inner.express(condition))], inner.express)
        case Named(source=source):
            inner = peel(source)
            named = dict(zip(relation.columns, source.columns, strict=True))
            return Peeled(inner.table, inner.conditions, lambda each: inner.express(_rename(each, named)))
        case Select(source=source, outputs=outputs):
            inner = peel(source)
            selected = {output.name: inner.express(output.value) for output in outputs}
            return Peeled(
                inner.table, inner.conditions, lambda each: map_columns(each, lambda column: selected[column.name])
            )
    return Peeled(relation, [], lambda expression: expression)


def _rename(expression: Expression, names: Mapping[Column, Column]) -> Expression:
    return map_columns(expression, lambda column: names.get(column, column))


def spread(attributes: Sequence[int], values: NDArray[np.generic], wanted: Sequence[int]) -> NDArray[np.generic]:
    """Values with axes for more attributes, of length 1 for those that are new; both are in order."""
    sizes = dict(zip(attributes, values.shape, strict=True))
    return values.reshape([sizes.get(each, 1) for each in wanted])


def _placer(key: Key) -> Callable[[object], int]:
    """What finds the place of a value among those of a key."""
    match key:
        case Bucket(among=Numbers() as numbers, whole=Bucket(among=Numbers() as every)):
            # A release has counts of rows that are not in the question too: they are in no group, and not in the next.
            shift, size = every.grid_lower - numbers.grid_lower, numbers.width + 1
            return lambda value: _inside(_place_on_grid(value, every) + shift, size)
        case Bucket(among=Numbers() as numbers):
            return lambda value: _place_on_grid(value, numbers)
        case Bucket(value=value, among=tuple() as texts) if isinstance(value.kind, Quantity):
            numbers = Numbers.integers(0, len(texts) - 1)
            return lambda value: _place_on_grid(value, numbers)
    known: dict[object, int] = {each: place for place, each in enumerate(key_values(key))}
    return lambda value: known.get(value, -1)


def _inside(place: int, size: int) -> int:
    return place if 0 <= place < size else -1


def _place_on_grid(value: object, numbers: Numbers) -> int:
    grid = numbers.grid(value)  # type: ignore[arg-type]  # a number, or None
    return -1 if grid is None else grid - numbers.grid_lower


@lru_cache(maxsize=64)
def _number_levels(there: tuple[bool, ...]) -> NDArray[np.intp]:
    present = np.array(there, dtype=bool)
    return np.where(present, np.cumsum(present) - 1, -1)


def _refuse_large(cells: int, names: list[str]) -> None:
    if cells > MOST_CELLS:
        why = f"names {', '.join(names)}, whose table has {cells:,} cells: more than {MOST_CELLS:,}"
        raise Refusal("The question", why, "name fewer columns", code="too_many_cells")
    spend(1 + cells // _CELLS_A_STEP)


def _write(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
