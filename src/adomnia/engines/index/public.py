# ruff: noqa: S608 - SQL is what this module writes, from names that are quoted
"""Public tables in the index: every row, nobody's, so that a join can read them beside everybody's."""

from adomnia.catalog.model import Table
from adomnia.engines.contract import index_name
from adomnia.engines.index.build import IndexWriter, project_columns
from adomnia.engines.index.columns import columns_to_keep, render_reading
from adomnia.engines.index.source import TableSource
from adomnia.errors import Failure
from adomnia.privacy.expressions import Column


def build_public(writer: IndexWriter, table: Table, source: TableSource) -> None:
    """Write a public table. How often a value repeats bounds what one person moves in a join: it is counted again."""
    write_public(writer, table, source)
    known = dict(zip(table.columns, table.repeats, strict=True))
    if any(count_repeats(writer, table, column) > known[column] for column in columns_to_keep(table.columns)):
        raise Failure()


def write_public(writer: IndexWriter, table: Table, source: TableSource) -> None:
    """Write the kept columns of a public table, each as it is declared."""
    columns, dialect = columns_to_keep(table.columns), writer.dialect
    read = [f"{render_reading(column, dialect)} AS {dialect.quote(index_name(column.name))}" for column in columns]
    rows = project_columns(writer, columns, f"SELECT {', '.join(read)} FROM {source.relation}")
    writer.run(f"CREATE TABLE {writer.name_of(table)} AS {rows}")


def count_repeats(writer: IndexWriter, table: Table, column: Column) -> int:
    """How many rows of a public table share one value of a column, at most."""
    rows, value = writer.name_of(table), writer.dialect.quote(index_name(column.name))
    counts = f'SELECT COUNT(*) AS " rows" FROM {rows} WHERE {value} IS NOT NULL GROUP BY {value}'
    return writer.number(f'SELECT COALESCE(MAX(" rows"), 0) FROM ({counts}) AS " counts"')
