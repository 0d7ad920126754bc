"""Views: what they are made of, and the table that questions can take each for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from adomnia.catalog.model import Table, is_column_name
from adomnia.privacy.expressions import Column
from adomnia.sql.reading.parse import parse_statement
from adomnia.sql.rows.blocks import rows_of

if TYPE_CHECKING:
    from adomnia.catalog.model import Catalog, View


def open_view(view: View, catalog: Catalog) -> Table:
    """A view as a table: its columns with what follows of their values, and how many rows of a person it has."""
    derived = rows_of(view.sql, catalog)
    columns = tuple(
        Column(name, meaning.kind, meaning.domain if isinstance(meaning, Column) else None)
        for name, meaning in derived.columns.items()
        if is_column_name(name)
    )
    rows = 1 if derived.public else derived.relation.rows_per_person
    return Table(view.name, "", columns, public=derived.public, rows_per_person=rows)


def list_sources(view: View, catalog: Catalog) -> tuple[str, ...]:
    """The tables and views that a view is made of, in the order in which it names them."""
    names = [*(table.name for table in catalog.tables), *(other.name for other in catalog.views)]
    known = {name.lower(): name for name in names}
    written = (str(node.name).lower() for node in parse_statement(view.sql).find_all(exp.Table))
    return tuple(dict.fromkeys(known[name] for name in written if name in known))
