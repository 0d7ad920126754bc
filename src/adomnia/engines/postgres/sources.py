# ruff: noqa: S608 - SQL is what this module writes, from names that are quoted
"""Tables of the owner's in PostgreSQL: their columns, and SQL that reads each as it is declared.

Every conversion is total. Nothing that users of the database defined is called, but for what their own views call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adomnia.catalog.sources import split_table_name
from adomnia.engines.contract import index_name
from adomnia.engines.dialect import text_literal
from adomnia.engines.index import TableSource
from adomnia.engines.postgres.dialect import POSTGRES
from adomnia.engines.postgres.library import BEYOND, SMALLEST
from adomnia.errors import Refusal
from adomnia.privacy.kinds import Boolean, Day, Identity, Moment, Quantity
from adomnia.privacy.wall_time import FIRST, LAST

if TYPE_CHECKING:
    from collections.abc import Mapping

    import psycopg

    from adomnia.catalog.model import Table
    from adomnia.privacy.expressions import Column

_COLUMNS = (
    "WITH RECURSIVE behind(place, name, type, collated) AS ("
    "SELECT a.attnum, a.attname, a.atttypid, a.attcollation FROM pg_catalog.pg_attribute AS a "
    "JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace "
    "WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') "
    "AND a.attnum > 0 AND NOT a.attisdropped "
    "UNION ALL SELECT b.place, b.name, t.typbasetype, b.collated FROM behind AS b "
    "JOIN pg_catalog.pg_type AS t ON t.oid = b.type WHERE t.typtype = 'd') "
    "SELECT b.name, CASE WHEN t.typtype = 'e' THEN 'enum' WHEN t.typnamespace <> 'pg_catalog'::regnamespace "
    "THEN 'a type of its own' WHEN NOT c.collisdeterministic THEN 'text of which different ones count as equal' "
    "ELSE pg_catalog.format_type(t.oid, NULL) END "
    "FROM behind AS b JOIN pg_catalog.pg_type AS t ON t.oid = b.type "
    "LEFT JOIN pg_catalog.pg_collation AS c ON c.oid = b.collated WHERE t.typtype <> 'd' ORDER BY b.place"
)
_ZONED = "timestamp with time zone"
# Far outside of the calendar conversions fail, and a time near its ends may leave it on another clock.
_INSIDE = "BETWEEN TIMESTAMPTZ '0001-01-03 00:00:00+00' AND TIMESTAMPTZ '9999-12-30 00:00:00+00'"
_LAST_DAY = "DATE '294247-01-10'"  # on which microseconds since 1970 still reach, as in other engines


def table_source(session: psycopg.Connection[Any], table: Table) -> TableSource:
    """The rows of a declared table."""
    schema, name = split_table_name(table.source_table or "")
    found: dict[str, str] = dict(session.execute(_COLUMNS, [schema, name]).fetchall())
    if not found:
        fix = "correct its name in the catalog, or GRANT USAGE of its schema and SELECT to the role"
        raise Refusal(f"Table {table.name}", f"is declared as {schema}.{name}, and there is none in the database", fix)
    return make_source(table, f"{POSTGRES.quote(schema)}.{POSTGRES.quote(name)}", found)


def make_source(table: Table, relation: str, found: Mapping[str, str]) -> TableSource:
    """The declared columns of a relation whose columns have these types."""
    places = {column: _find_column(table, column, found) for column in table.columns}
    there = {column: name for column, name in places.items() if name is not None}
    for column, name in there.items():
        _refuse_text(table, column, found[name])
    values = {column: render_column(f"t.{POSTGRES.quote(name)}", column, found[name]) for column, name in there.items()}
    read = [f"{value} AS {POSTGRES.quote(index_name(column.name))}" for column, value in values.items()]
    types = {column.name: found[name] for column, name in there.items()}
    rows = f'(SELECT {", ".join(read) or "1 AS one"} FROM {relation} AS t) AS " source"'
    return TableSource(table.source_table or table.name, rows, types, POSTGRES)


def render_column(value: str, column: Column, held: str) -> str:  # noqa: PLR0911 - one for each kind
    """A column as a value of the type that it is declared as."""
    if held == "enum":  # a cast of it could be a user's own, and enum_out takes no domain
        return f'CASE WHEN {value} IS NOT NULL THEN pg_catalog.concat({value}) END COLLATE "C"'
    if held in POSTGRES.sources.texts:
        return f'CAST({value} AS TEXT) COLLATE "C"'
    match column.kind:
        case Quantity() if held == "numeric":
            return _as_double(value)
        case Quantity():
            whole = f"CAST({value} AS BIGINT)" if held == "oid" else value
            return f"CAST({whole} AS DOUBLE PRECISION)"
        case Boolean():
            return f"CAST({value} AS BOOLEAN)"
        case Day():
            return f"CAST({value} AS DATE)"
        case Moment(zone=zone):
            return f"DATE_TRUNC('second', {_local_time(value, held, zone)})"
        case Identity() if held == "oid":
            return f"CAST({value} AS BIGINT)"
        case Identity():
            return value
    return f'CAST({value} AS TEXT) COLLATE "C"'


def _as_double(value: str) -> str:
    """A decimal as the nearest double: beyond them an infinity, and 0 where it is too small for one."""
    return (
        f"CASE WHEN {value} = CAST('NaN' AS NUMERIC) THEN CAST('NaN' AS DOUBLE PRECISION) "
        f"WHEN {value} >= {BEYOND} THEN CAST('Infinity' AS DOUBLE PRECISION) "
        f"WHEN {value} <= -{BEYOND} THEN CAST('-Infinity' AS DOUBLE PRECISION) "
        f"WHEN ABS({value}) <= {SMALLEST} THEN CAST(0e0 AS DOUBLE PRECISION) "
        f"ELSE CAST({value} AS DOUBLE PRECISION) END"
    )


def _local_time(value: str, held: str, zone: str) -> str:
    if held == "date":  # not every one has a midnight
        has_one = f"{value} <= {_LAST_DAY} OR {value} = DATE 'infinity'"
        return f"CASE WHEN {has_one} THEN CAST({value} AS TIMESTAMP) END"
    if held != _ZONED:
        return value
    return (
        f"CASE WHEN {value} {_INSIDE} THEN TIMEZONE({text_literal(zone)}, {value}) "
        f"WHEN {value} > TIMESTAMPTZ '2000-01-01 00:00:00+00' THEN TIMESTAMP '{LAST}' "
        f"WHEN {value} IS NOT NULL THEN TIMESTAMP '{FIRST}' END"
    )


def _find_column(table: Table, column: Column, found: Mapping[str, str]) -> str | None:
    """The column of the source that is declared: by its very name, or by the only one that differs in case alone."""
    called = table.source_column(column.name).name
    alike = [name for name in found if name.lower() == called.lower()]
    if called in found or not alike:
        return called if called in found else None
    if len(alike) > 1:
        listed = " and ".join(f'"{name}"' for name in alike)
        fix = f'say which one is meant: column = "{alike[0]}" in the line of {column.name}'
        raise Refusal(f"Column {table.name}.{column.name}", f"could be any of the columns {listed}", fix)
    return alike[0]


def _refuse_text(table: Table, column: Column, held: str) -> None:
    """Refuse texts that would have to be read as days or times: a row of them could fail."""
    if held in POSTGRES.sources.texts and isinstance(column.kind, Day | Moment):
        why = f"is declared as {column.kind}, and the table holds text"
        fix = 'make it a date or a timestamp, perhaps in a view, or add [engine] with name = "duckdb", which reads it'
        raise Refusal(f"Column {table.name}.{column.name}", why, fix)
