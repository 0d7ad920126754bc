# ruff: noqa: S608 - SQL is what this module writes, from names that are quoted
"""Public tables in the index: every row, nobody's, so that a join can read them beside everybody's."""

from adomnia.catalog.model import Table
from adomnia.engines.index.build import Target, projected
from adomnia.engines.index.columns import kept, read
from adomnia.engines.index.source import Source
from adomnia.engines.render.constants import quoted
from adomnia.errors import Failure
from adomnia.privacy.expressions import Column


def build_public(target: Target, table: Table, source: Source) -> None:
    """Write a public table. How often a value repeats bounds what one person moves in a join: it is counted again."""
    write_public(target, table, source)
    known = [(column, most) for column, most in zip(table.columns, table.repeats, strict=True) if kept((column,))]
    if any(repeats(target, table, column) > most for column, most in known):
        raise Failure()


def write_public(target: Target, table: Table, source: Source) -> None:
    """Write the kept columns of a public table, each as it is declared."""
    columns = kept(table.columns)
    reading = ", ".join(f"{read(column)} AS {quoted(column.name)}" for column in columns)
    rows = projected(target, columns, f"SELECT {reading} FROM {source.relation}")
    target.run(f"CREATE TABLE {target.schema}.{quoted(table.name)} AS {rows}")


def repeats(target: Target, table: Table, column: Column) -> int:
    """How many rows of a public table share one value of a column, at most."""
    rows, value = f"{target.schema}.{quoted(table.name)}", quoted(column.name)
    counts = f'SELECT COUNT(*) AS " rows" FROM {rows} WHERE {value} IS NOT NULL GROUP BY {value}'
    return target.number(f'SELECT COALESCE(MAX(" rows"), 0) FROM ({counts})')
