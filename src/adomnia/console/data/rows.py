"""Rows that a page shows: made up from the catalog alone, of a public table, or published; all are about nobody."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adomnia.api.actions.tables import make_rows, read_public
from adomnia.errors import Refusal
from adomnia.explaining.sql_text import quote_identifier
from adomnia.privacy.kinds import Quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from adomnia.api.requests import Visit
    from adomnia.catalog.model import Table
    from adomnia.privacy.expressions import Column
    from adomnia.session.contract import Session

_MADE_UP, _READ, _PUBLISHED = 10, 100, 10
_FROM_CATALOG = (
    "Rows of nobody, made up from what the catalog declares alone: shapes and bounds are right, numbers not."
)
_MOST_COLUMNS = 30
_LONGEST = 200  # characters of a value


@dataclass(frozen=True)
class RowHead:
    """The head of a column: numbers stand at the right."""

    name: str
    number: bool


@dataclass(frozen=True)
class ShownRows:
    """Some rows; of wide tables some columns. `says` is what kind of rows they are, `problem` why there are none."""

    heads: tuple[RowHead, ...]
    rows: tuple[tuple[str, ...], ...]
    hidden: int
    problem: str = ""
    says: str = ""


def make_up_rows(table: Table) -> ShownRows:
    """Rows such as the catalog allows, about nobody."""
    columns = table.columns[:_MOST_COLUMNS]
    rows = [tuple(map(_round, row, columns)) for row in make_rows(replace(table, columns=columns), _MADE_UP)]
    return ShownRows(_list_heads(columns), tuple(rows), len(table.columns) - len(columns), says=_FROM_CATALOG)


def preview_rows(session: Session, table: Table) -> ShownRows:
    """Rows of nobody, of the preview that the owner declared, or made up; its notes say which."""
    found = session.preview(table.name, rows=_MADE_UP)
    columns = table.columns[:_MOST_COLUMNS]
    cells = [[_round(value, column) for value in found[column.name]] for column in columns]
    rows, hidden = tuple(zip(*cells, strict=True)), len(table.columns) - len(columns)
    return ShownRows(_list_heads(columns), rows, hidden, says=" ".join(found.notes))


def read_public_rows(visit: Visit, table: Table) -> ShownRows:
    """The first rows of a public table: read exactly, at no price."""
    columns = table.columns[:_MOST_COLUMNS]
    names = ", ".join(quote_identifier(column.name) for column in columns)
    text = f"SELECT {names} FROM {quote_identifier(table.name)} LIMIT {_READ}"  # noqa: S608 - names in quotes
    try:
        found = read_public(visit, text)
    except Refusal as refusal:
        return ShownRows((), (), 0, str(refusal))
    rows = zip(*(column.values for column in found), strict=True)
    shown = tuple(tuple(map(_show, row)) for row in rows)
    return ShownRows(_list_heads(columns), shown, len(table.columns) - len(columns))


def show_table(table: pa.Table) -> ShownRows:
    """The first rows of a table that was published."""
    shown = table.slice(0, _PUBLISHED).select(table.column_names[:_MOST_COLUMNS])
    heads = tuple(RowHead(field.name, not _is_text(field.type)) for field in shown.schema)
    rows = zip(*(column.to_pylist() for column in shown.columns), strict=True)
    return ShownRows(heads, tuple(tuple(map(_show_number, row)) for row in rows), table.num_columns - len(heads))


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return not (pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _list_heads(columns: Sequence[Column]) -> tuple[RowHead, ...]:
    return tuple(RowHead(column.name, isinstance(column.kind, Quantity)) for column in columns)


def _round(value: object, column: Column) -> str:
    """A made-up value; a number is put on the grid that the index would store it on."""
    if isinstance(value, float) and column.domain is not None:
        return f"{column.domain.value(column.domain.grid(value) or 0):,.10g}"
    return _show_number(value)


def _show_number(value: object) -> str:
    return f"{value:,.6g}" if isinstance(value, float) else _show(value)


def _show(value: object) -> str:
    """A value as text; a missing one is empty."""
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    return str(value)[:_LONGEST]
