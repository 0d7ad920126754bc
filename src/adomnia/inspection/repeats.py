"""Columns that may name people while the unit is a row, or a key of something else: one of them may have many rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.catalog.model import is_in_spark
from adomnia.catalog.write import toml_string
from adomnia.engines.registry import load_engine
from adomnia.engines.sources.reading import make_runner, open_reader
from adomnia.errors import AdomniaError
from adomnia.explaining.promises import Promise
from adomnia.inspection.changes import Mismatch
from adomnia.inspection.found_tables import propose_names
from adomnia.inspection.key_names import KeyRank, read_key_name
from adomnia.inspection.key_values import KeyReader, count_keys
from adomnia.privacy.units import ROW

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from adomnia.catalog.model import Catalog, Table
    from adomnia.inspection.key_values import KeyCount


def warn_of_keys(catalog: Catalog) -> list[Promise]:
    """A warning for each table whose header has a key of people that is not hidden as a whole; no row is read."""
    return [
        Promise(table.name, f"{_name(key)} looks like a key of people, and {_say_hidden(catalog, key)}.", warning=True)
        for table in _list_tables(catalog)
        for key in _list_keys(catalog, table, KeyRank.PERSON)
    ]


def find_repeats(catalog: Catalog) -> list[Mismatch]:
    """The keys whose values repeat in a table, though the unit is a row, or a key of which they have several."""
    tables = _list_tables(catalog)
    keys = {table.name: tuple(_list_keys(catalog, table, KeyRank.EVENT)) for table in tables}
    with open_reader() as reader:
        run = make_runner(reader.connection)
        counts = count_keys(
            KeyReader(
                reader,
                run,
                table.name,
                table.locate(catalog.folder),
                table.source_table,
                table.csv,
                (*keys[table.name], *_unit_column(catalog, table)) if keys[table.name] else (),
            )
            for table in tables
        )
    return [
        mismatch
        for table in tables
        for key in keys[table.name]
        for mismatch in _compare(catalog, table, key, counts[table.name])
    ]


def _compare(catalog: Catalog, table: Table, key: str, counts: Mapping[str, KeyCount]) -> Iterator[Mismatch]:
    count, unit = counts[key], next((counts[each] for each in _unit_column(catalog, table)), None)
    parts = count.filled if unit is None else unit.distinct
    if not count.distinct or count.is_category or parts <= count.distinct:
        return
    what = "rows" if unit is None else f"values of {_name(catalog.unit.column)}"
    each = parts / count.distinct
    says = (
        f"This table has {each:,.1f} {what} for each value of {_name(key)}, and {_say_hidden(catalog, key)}"
        if each >= 1.05  # below, it would be told as 1.0
        else f"Some values of {_name(key)} have several {what}, and {_say_hidden(catalog, key)}"
    )
    yield Mismatch(
        table.name, _find_declared(table, key), "repeats", parts - count.distinct, says, _say_fix(table, key)
    )


def _say_hidden(catalog: Catalog, key: str) -> str:
    one = "one row" if catalog.unit == ROW else f"one value of {catalog.unit}"
    return f"unit = {toml_string(str(catalog.unit))} hides {one}, not one value of {_name(key)}"


def _say_fix(table: Table, key: str) -> str:
    declared = _find_declared(table, key)
    name = declared or propose_names([key])[0]
    column = f"column = {toml_string(key)}, " if name != key else ""
    unit = f"unit = {toml_string(f'{table.name}.{name}')}"
    return f'if it names people, write {unit}, with {_name(name)} = {{ {column}type = "id" }} and rows_per_person'


def _list_tables(catalog: Catalog) -> list[Table]:
    """The tables whose people are found by the unit itself."""
    private = [table for table in catalog.tables if not table.public and not is_in_spark(table.source)]
    return private if catalog.unit == ROW else [table for table in private if table.name == catalog.unit.table]


def _list_keys(catalog: Catalog, table: Table, least: KeyRank) -> Iterator[str]:
    """The columns of a file that look more like a key of people than the unit does, declared or not."""
    unit = _unit_column(catalog, table)
    of_unit = max((read_key_name(each, table.name).rank for each in unit), default=KeyRank.NONE)
    try:
        header = list(load_engine().read_header(table.locate(catalog.folder), table.source_table, table.csv))
    except AdomniaError:  # it cannot be read, which is told elsewhere
        return
    for written in header:
        rank = read_key_name(written, table.name).rank
        if written and header.count(written) == 1 and rank >= least and rank > of_unit:
            yield written


def _unit_column(catalog: Catalog, table: Table) -> tuple[str, ...]:
    """The column of the unit as the file calls it, in the unit's own table."""
    return (table.source_column(catalog.unit.column).name,) if table.name == catalog.unit.table else ()


def _find_declared(table: Table, written: str) -> str | None:
    return next((each.name for each in table.columns if table.source_column(each.name).name == written), None)


def _name(written: str) -> str:
    return f"`{written}`"
