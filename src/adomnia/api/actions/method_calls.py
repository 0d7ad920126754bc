"""Calls of methods as forms write and read them: which rows there are, what they offer, whether a call is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.errors import Refusal
from adomnia.options import CONFIDENCE
from adomnia.session.method_calls import write_arguments, write_call
from adomnia.sql.lower import lower
from adomnia.sql.methods.call_texts import take_apart
from adomnia.sql.methods.frames import read_rows
from adomnia.sql.reading.parse import parse, parse_expression, parse_statement, position_at
from adomnia.sql.reading.select_builder import SelectBuilder
from adomnia.sql.rows.blocks import rows_of
from adomnia.sql.values.scope import find_call

if TYPE_CHECKING:
    from adomnia.catalog.model import Catalog
    from adomnia.methods.contract import Frame, Method

__all__ = [
    "SelectBuilder",
    "is_answered",
    "list_tables",
    "parse_expression",
    "parse_statement",
    "position_at",
    "read_frame",
    "take_apart",
    "write_arguments",
    "write_call",
]


def list_tables(catalog: Catalog) -> tuple[str, ...]:
    """The tables and views that a method can be given: those about people."""
    tables = [table.name for table in catalog.tables if not table.public]
    return (*tables, *(view.name for view in catalog.views if _is_private(view.sql, catalog)))


def read_frame(method: Method, rows: str, catalog: Catalog) -> Frame:
    """The columns of a SELECT, by what they can be used for; a Refusal where it cannot be read."""
    select = parse(write_call(rows, method, {}))
    call = find_call(select)
    assert call is not None  # noqa: S101 - it was just written
    return read_rows(select, call, method.name, catalog, CONFIDENCE).frame


def is_answered(text: str, catalog: Catalog) -> bool:
    """Whether a question can be answered at all."""
    try:
        lower(text, catalog)
    except Refusal:
        return False
    return True


def _is_private(sql: str, catalog: Catalog) -> bool:
    try:
        return not rows_of(sql, catalog).relation.is_public
    except Refusal:
        return False
