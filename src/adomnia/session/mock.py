"""Rows made up from the catalog alone, to try questions out on: they say nothing about the data."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

from adomnia.privacy.kinds import Boolean, Day, Identity, Moment, Quantity, Text

if TYPE_CHECKING:
    import pyarrow as pa

    from adomnia.catalog.model import Catalog, Table
    from adomnia.privacy.expressions import Column

PEOPLE = 1000
_GOLDEN = 0.6180339887498949  # its multiples fall evenly into [0, 1), so that every part of a range is met
_UNBOUNDED = 100.0
_FIRST_DAY = date(2020, 1, 1)
_DAYS = 1000


def frames(catalog: Catalog) -> dict[str, pa.Table]:
    """A table for each private table of the catalog: a thousand people, with up to three rows each where they may.

    Public tables are public: the engine reads them as they are.
    """
    import pyarrow as pa

    rows = {table.name: PEOPLE * min(table.rows_per_person, 3) for table in catalog.tables if not table.public}
    return {table.name: pa.table(_columns(table, rows)) for table in catalog.tables if not table.public}


def make_rows(table: Table, most: int) -> list[tuple[object, ...]]:
    """A few rows of a table alone, of different people. The first of all is left out: it is all lower bounds."""
    return [
        tuple(_value(column, row, (row * (place + 1) * _GOLDEN) % 1) for place, column in enumerate(table.columns))
        for row in range(1, most + 1)
    ]


def _columns(table: Table, rows: dict[str, int]) -> dict[str, list[object]]:
    # A linking column takes the ids of its parent's rows, as often as there are rows here.
    ids = {table.link.column: rows[table.link.parent]} if table.link else {}
    return {
        column.name: [
            _value(column, row % ids.get(column.name, rows[table.name]), (row * (place + 1) * _GOLDEN) % 1)
            for row in range(rows[table.name])
        ]
        for place, column in enumerate(table.columns)
    }


def _value(column: Column, row: int, part: float) -> object:
    match column.kind:
        case Identity(person=person):
            return row % PEOPLE if person else row
        case Boolean():
            return part < 0.5
        case Text(values=values):
            return values[int(part * len(values))] if values else f"{column.name} {row % 10}"
        case Day(lower=lower, upper=upper):
            first, last = lower or _FIRST_DAY, upper or _FIRST_DAY + timedelta(days=_DAYS)
            return first + timedelta(days=int(part * (last - first).days))
        case Moment(lower=lower, upper=upper):
            start = lower or datetime.combine(_FIRST_DAY, time.min)
            return start + timedelta(seconds=int(part * ((upper or start + timedelta(_DAYS)) - start).total_seconds()))
    return _number(column.kind, part)


def _number(kind: Quantity, part: float) -> float:
    low = 0.0 if kind.lower is None else float(kind.lower)
    high = _UNBOUNDED if kind.upper is None else float(kind.upper)
    number = low + part * (high - low)
    return int(number) if kind.whole else number
