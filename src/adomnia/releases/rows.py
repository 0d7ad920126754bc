"""Synthetic rows as a public table in an engine of their own, and as counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from adomnia.catalog.facts import apply_facts
from adomnia.engines.limits import USUAL
from adomnia.engines.registry import load_engine
from adomnia.privacy.kinds import Boolean, Day, Quantity, Text
from adomnia.releases.tables import AttributeTable, build_catalog

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from adomnia.catalog.model import Catalog
    from adomnia.engines.contract import Engine
    from adomnia.privacy.expressions import Column
    from adomnia.statistics.contract import Floats
    from adomnia.statistics.products import Places


@dataclass(frozen=True)
class RowCounts:
    """The rows of a synthetic table, counted as a release of measurements is: exactly."""

    rows: Places

    def covers(self, _columns: Sequence[int]) -> bool:
        return True

    def count(self, columns: Sequence[int], groups: Places, number: int) -> tuple[Floats, ...]:
        return self.add(columns, groups, number, None)

    def add(self, columns: Sequence[int], groups: Places, number: int, weights: Floats | None) -> tuple[Floats, ...]:
        cells = tuple(self.rows[:, column] for column in columns)
        places = groups[cells] if cells else np.broadcast_to(groups, len(self.rows))
        inside = places >= 0
        own = None
        if weights is not None:
            own = (weights[cells] if cells else np.broadcast_to(weights, len(self.rows)))[inside]
        values = np.bincount(places[inside], own, minlength=number).astype(np.float64)
        return values, np.zeros(number)


@dataclass(frozen=True, eq=False)
class ReleaseRows:
    """The published rows: a table of the values of each column, or of places if that is all there is."""

    table: AttributeTable
    published: pa.Table
    places: Places | None

    @cached_property
    def catalog(self) -> Catalog:
        """What questions about the rows are read against: one public table."""
        declared = replace(self.table.table, public=True)
        facts = load_engine().find_facts(self.frame, declared)
        return replace(build_catalog([self.table]), tables=(apply_facts(declared, facts),))

    @cached_property
    def engine(self) -> Engine:
        """The rows in memory: nothing else is there."""
        return load_engine().load(self.catalog, {self.table.name: self.frame}, limits=replace(USUAL, threads=1))

    @cached_property
    def frame(self) -> pa.Table:
        """The rows as a table of Arrow; beside a column in bins, one with their names."""
        import pyarrow as pa

        return pa.table({column.name: self._read(column) for column in self.table.columns})

    def _read(self, column: Column) -> Any:  # noqa: ANN401 - an array of Arrow
        """The values of one column, as they were published; bins by their names."""
        import pyarrow as pa

        attribute = self.table.attributes[self.table.columns[column]]
        named = self.table.shows_bins(column) or not attribute.edges
        if named and self._are_published and attribute.name in self.published.column_names:
            return self.published.column(attribute.name).cast(_arrow_type(column))
        return pa.array(self._decode(column), _arrow_type(column))

    @cached_property
    def _are_published(self) -> bool:
        """Whether the published table is that of the rows: that of a contingency table has counts beside its labels."""
        return set(self.published.column_names) <= {each.name for each in self.table.attributes}

    def _decode(self, column: Column) -> list[Any]:
        """The values of one column from the places of its levels; of a bin, the middle of what it holds."""
        assert self.places is not None  # noqa: S101 - a release of rows has them
        values = [_middle(first, last) for first, last in self.table.ends(column)]
        return [values[place] for place in self.places[:, self.table.columns[column]].tolist()]


def _middle(first: Any, last: Any) -> Any:  # noqa: ANN401 - whatever values are
    if first == last or isinstance(first, str) or first is None:
        return first
    return first + (last - first) / 2 if not isinstance(first, float) or first % 1 else float(ceil((first + last) / 2))


def _arrow_type(column: Column) -> pa.DataType:
    import pyarrow as pa

    match column.kind:
        case Boolean():
            return pa.bool_()
        case Day():
            return pa.date32()
        case Text():
            return pa.string()
        case Quantity(whole=True):
            return pa.int64()
    return pa.float64()
