"""The levels of a release in an engine of their own: what an expression is on them, exactly as in any question."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from adomnia.catalog.model import Catalog, Table
from adomnia.engines.limits import USUAL
from adomnia.engines.registry import load_engine
from adomnia.errors import Refusal
from adomnia.privacy.expressions import Column, call, columns_of, map_columns
from adomnia.privacy.filters import Budget
from adomnia.privacy.kinds import Boolean, Day, Kind, Quantity, Text
from adomnia.privacy.relations import Join, Named, Public, Relation, Select, Selected
from adomnia.privacy.units import ROW
from adomnia.work import spend

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from adomnia.engines.contract import Engine
    from adomnia.privacy.expressions import Expression
    from adomnia.releases.tables import AttributeTable

Values: TypeAlias = "NDArray[np.object_]"

MOST_COMBINED = 200_000  # combinations of levels that one expression may look at
_ROWS_A_STEP = 5
_KEPT, _MOST_KEPT = 256, 4096  # expressions that are remembered, and the most values that one of them has
_PLACE, _ONE = Column("place", Quantity(whole=True)), Column("one", Quantity(whole=True))


@dataclass(frozen=True)
class OnLevels:
    """What an expression is, by the levels of the attributes that it reads: one axis for each of them, in their order.

    None is NULL.
    """

    attributes: tuple[int, ...]
    values: Values


@dataclass(frozen=True)
class Levels:
    """Evaluates expressions of a release's columns on its levels; bins count as the first value that they hold."""

    table: AttributeTable

    def evaluate(self, expressions: Sequence[Expression]) -> list[OnLevels]:
        """What each expression is on all combinations of the levels that it reads."""
        return list(self._evaluate(expressions, _first))

    def compare_ends(self, expressions: Sequence[Expression]) -> list[tuple[OnLevels, OnLevels]]:
        """What each expression is at the first and at the last value of every level of its one column."""
        firsts, lasts = self._evaluate(expressions, _first), self._evaluate(expressions, _last)
        return list(zip(firsts, lasts, strict=True))

    def read(self, expression: Expression) -> tuple[int, ...]:
        """The places of the attributes that an expression reads, in their order."""
        return tuple(sorted({self.table.columns[column] for column in columns_of(expression)}))

    def _evaluate(self, expressions: Sequence[Expression], name: Callable[[int], str]) -> Iterable[OnLevels]:
        found: dict[Expression, OnLevels] = {}
        groups: dict[tuple[int, ...], list[Expression]] = {}
        for expression in dict.fromkeys(expressions):
            attributes = self.read(expression)
            self._count_work(attributes)
            known = self._known.get((name(0), expression))
            if known is None:
                groups.setdefault(attributes, []).append(expression)
            else:
                found[expression] = known
        for attributes, members in groups.items():
            found.update(self._evaluate_together(attributes, members, name))
        self._remember({(name(0), each): value for each, value in found.items()})
        return [found[expression] for expression in expressions]

    def _count_work(self, attributes: tuple[int, ...]) -> None:
        """The same steps whether it was asked before or not: what is refused does not depend on that."""
        combinations = prod(len(self.table.attributes[each]) for each in attributes)
        if combinations > MOST_COMBINED:
            names = ", ".join(self.table.attributes[each].name for each in attributes)
            why = f"compares {names}, which have {combinations:,} combinations: more than {MOST_COMBINED:,}"
            raise Refusal("One condition or key", why, "compare fewer columns with each other", code="too_complex")
        spend(1 + combinations // _ROWS_A_STEP)

    def _remember(self, found: Mapping[tuple[str, Expression], OnLevels]) -> None:
        small = {key: value for key, value in found.items() if value.values.size <= _MOST_KEPT}
        if len(self._known) + len(small) > _KEPT:
            self._known.clear()
        self._known.update(small)

    @cached_property
    def _known(self) -> dict[tuple[str, Expression], OnLevels]:
        """What was evaluated lately: the same conditions come again and again."""
        return {}

    def _evaluate_together(
        self, attributes: tuple[int, ...], expressions: list[Expression], name: Callable[[int], str]
    ) -> dict[Expression, OnLevels]:
        shape = tuple(len(self.table.attributes[each]) for each in attributes)
        relation, sides = self._join(attributes)
        places = [Selected(f"p{axis}", replace(_PLACE, source=side), stored=False) for axis, side in enumerate(sides)]
        moved = [
            map_columns(each, lambda column: self._stored(column, name, attributes, sides)) for each in expressions
        ]
        outputs = [Selected(f"c{place}", each, stored=False) for place, each in enumerate(moved)]
        statement = self._engine.render_rows(Select(relation, (*places, *outputs)))
        rows = self._engine.read(statement, prod(shape) if attributes else 1)
        table = np.empty((len(rows), len(places) + len(outputs)), dtype=object)
        for row, values in enumerate(rows):
            table[row] = values
        return {
            each: OnLevels(attributes, _lay_out(table[:, : len(places)], table[:, len(places) + place], shape))
            for place, each in enumerate(expressions)
        }

    def _join(self, attributes: tuple[int, ...]) -> tuple[Relation, list[str]]:
        """All combinations of the levels of some attributes; without any, those of the first stand for nothing."""
        if len(attributes) < 2:
            return self._public(attributes[0] if attributes else 0), [""] * len(attributes)
        sides = [f"s{place}" for place in attributes]
        relation: Join | Named = Named(self._public(attributes[0]), sides[0])
        for place, side in zip(attributes[1:], sides[1:], strict=True):
            on = call("=", replace(_ONE, source=sides[0]), replace(_ONE, source=side))
            relation = Join(relation, Named(self._public(place), side), (on,))
        return relation, sides

    def _public(self, place: int) -> Public:
        table = self._tables[place]
        return Public(table.name, table.columns, table.repeats)

    def _stored(
        self, column: Column, name: Callable[[int], str], attributes: tuple[int, ...], sides: list[str]
    ) -> Column:
        """The column of a level table that holds a column of the release."""
        number, place = self._numbers[column], self.table.columns[column]
        return Column(name(number), column.kind, source=sides[attributes.index(place)])

    @cached_property
    def _numbers(self) -> dict[Column, int]:
        return {column: number for number, column in enumerate(self.table.columns)}

    @cached_property
    def _tables(self) -> tuple[Table, ...]:
        """One public table for the levels of each attribute."""
        tables = []
        for place, attribute in enumerate(self.table.attributes):
            columns = [_PLACE, _ONE]
            for column in self._columns_of(place):
                kind = _stored_kind(column.kind)
                columns += [Column(name(self._numbers[column]), kind) for name in (_first, _last)]
            size = max(1, len(attribute))
            tables.append(Table(f"t{place}", f"t{place}", tuple(columns), public=True, repeats=(size,) * len(columns)))
        return tuple(tables)

    def _columns_of(self, place: int) -> list[Column]:
        return [column for column, shown in self.table.columns.items() if shown == place]

    @cached_property
    def _engine(self) -> Engine:
        catalog = Catalog("levels", 1, ROW, Budget(1), (), self._tables, Path())
        frames = {table.name: self._frame(place) for place, table in enumerate(self._tables)}
        return load_engine().load(catalog, frames, limits=replace(USUAL, threads=1))

    def _frame(self, place: int) -> pa.Table:
        import pyarrow as pa

        size = len(self.table.attributes[place])
        columns: dict[str, Any] = {_PLACE.name: pa.array(range(size), pa.int64()), _ONE.name: pa.array([1] * size)}
        for column in self._columns_of(place):
            number, ends = self._numbers[column], self.table.ends(column)
            kind = _arrow_type(column.kind)
            columns[_first(number)] = pa.array([first for first, _ in ends], kind)
            columns[_last(number)] = pa.array([last for _, last in ends], kind)
        return pa.table(columns)


def is_true(condition: OnLevels) -> NDArray[np.bool_]:
    """Where a condition is true: NULL is not."""
    return np.asarray(np.equal(condition.values, True), dtype=bool)


def as_numbers(found: OnLevels) -> NDArray[np.float64]:
    """Values as doubles, NULL as NaN; dates as days."""
    return np.asarray(np.frompyfunc(_as_number, 1, 1)(found.values), dtype=np.float64)


def _as_number(value: object) -> float:
    if value is None:
        return float("nan")
    return float(value.toordinal()) if hasattr(value, "toordinal") else float(value)  # type: ignore[arg-type]


def _lay_out(places: Values, values: Values, shape: tuple[int, ...]) -> Values:
    """Values in the cells whose places stand beside them."""
    laid = np.empty(shape, dtype=object)
    if not shape:
        laid[()] = values[0]
    else:
        laid[tuple(places.T.astype(np.intp))] = values
    return laid


def _first(number: int) -> str:
    return f"v{number}"


def _last(number: int) -> str:
    return f"w{number}"


def _stored_kind(kind: Kind) -> Kind:
    """Without bounds, which would move values that lie at their ends."""
    match kind:
        case Quantity(whole=whole):
            return Quantity(whole=whole)
        case Day():
            return Day()
    return kind


def _arrow_type(kind: Kind) -> pa.DataType:
    import pyarrow as pa

    match kind:
        case Boolean():
            return pa.bool_()
        case Day():
            return pa.date32()
        case Text():
            return pa.string()
    return pa.float64()
