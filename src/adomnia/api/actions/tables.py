"""Tables and views as questions see them: what a view is, how rows meet, how far one person moves a sum."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.privacy.scans import Total
from adomnia.sql.rows.blocks import rows_of
from adomnia.sql.rows.views import list_sources, open_view

if TYPE_CHECKING:
    from fractions import Fraction

    from adomnia.catalog.model import Catalog, Table
    from adomnia.privacy.expressions import Column

__all__ = ["count_rows_of_a_person", "list_sources", "measure_sum", "open_view"]


def count_rows_of_a_person(source: str, catalog: Catalog) -> int:
    """How many rows of one person a source of rows can have at most; a Refusal where it cannot be read."""
    return rows_of(f"SELECT 1 AS one FROM {source}", catalog).relation.rows_per_person  # noqa: S608 - only read


def measure_sum(table: Table, column: Column) -> Fraction | None:
    """How far one person moves the sum of a column, as the core derives it; None of what has no sum."""
    if column.domain is None:
        return None
    # Without its columns: what one person moves follows from their rows and the bounds of the one that is added up.
    relation = Private(table.name, table.rows_per_person, ())
    return Query(relation, (), Total(column, column.domain)).sensitivity().l1 * column.domain.step
