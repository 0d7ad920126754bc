# ruff: noqa: S608 - SQL is what this module writes, from names that are quoted
"""How the values of columns fit their declarations, and which change of the catalog would read them better."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import duckdb

from adomnia.engines.contract import index_name
from adomnia.engines.duckdb.dialect import DUCKDB
from adomnia.engines.duckdb.sources import file_source, make_runner
from adomnia.engines.index import IndexWriter, declare_categories
from adomnia.engines.index.columns import render_reading
from adomnia.engines.registry import load_engine
from adomnia.inspection.changes import Change, say_changes
from adomnia.inspection.layouts import read_encoding
from adomnia.inspection.mismatches import Mismatch
from adomnia.inspection.spellings import find_formats, find_missing, find_number_spelling
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Day, Quantity, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from adomnia.catalog.model import Table
    from adomnia.engines.contract import ColumnReading
    from adomnia.inspection.trials import Trials

_MOST_TEXTS = 200  # different ones that are looked at to understand a column
_EXAMPLES = 3
_RAW = "raw"


def inspect_columns(folder: Path, table: Table, trials: Trials) -> tuple[list[ColumnReading], list[Mismatch]]:
    """The readings of all columns of a table, and what does not fit."""
    readings = list(load_engine().count_readings(folder / table.source, table))
    mismatches = [
        mismatch
        for column, reading in zip(table.columns, readings, strict=True)
        for mismatch in _inspect(folder, table, column, reading, trials)
    ]
    return readings, mismatches


def _inspect(folder: Path, table: Table, column: Column, reading: ColumnReading, trials: Trials) -> Iterator[Mismatch]:
    if reading.unreadable:
        yield _explain_unreadable(folder, table, column, reading, trials)
    if reading.clamped:
        says = f"{_rows(reading.clamped, reading)} lie outside of the bounds, and are moved to them"
        fix = "widen the bounds if public knowledge allows more; noise grows with them"
        yield Mismatch(table.name, column.name, "clamped", reading.clamped, says, fix)
    if reading.missing == reading.rows > 0:
        says = f"all {reading.rows:,} rows are empty"
        yield Mismatch(table.name, column.name, "empty", reading.rows, says, "remove the line of the column")


def _explain_unreadable(folder: Path, table: Table, column: Column, reading: ColumnReading, trials: Trials) -> Mismatch:
    texts = _read_unreadable(folder / table.source, table, column)
    kind = "undeclared" if reading.undeclared else "unreadable"
    what = "are not among the declared values" if reading.undeclared else f"cannot be read as {column.kind}"
    says = f"{_rows(reading.unreadable, reading)} {what}, such as {_quote(texts)}"
    changes, left = _find_best(table, column, _propose_changes(folder, table, column, texts), trials)
    if not changes:
        changes, left = _find_best(table, column, [_declare_text(table, column)], trials)
    fix = _say_fix(changes, left) if changes else _FIX_BY_HAND
    return Mismatch(table.name, column.name, kind, reading.unreadable, says, fix, changes, left if changes else None)


def _find_best(
    table: Table, column: Column, proposals: Iterable[tuple[Change, ...]], trials: Trials
) -> tuple[tuple[Change, ...], int]:
    """The changes with which the fewest values are unreadable, in this column and in the table; none if none helps."""
    before = trials.count_unreadable(table.name)
    best: tuple[Change, ...] = ()
    least = before[column.name]
    for changes in proposals:
        after = trials.count_unreadable(table.name, changes)
        if after and after[column.name] < least and after.total() < before.total():
            best, least = changes, after[column.name]
        if least == 0:
            break
    return best, least


def _declare_text(table: Table, column: Column) -> tuple[Change, ...]:
    """The last resort: nothing that is a text is lost."""
    called = table.source_column(column.name).name
    line = {**({"column": called} if called != column.name else {}), "type": "text"}
    return (Change(("tables", table.name, "columns", column.name), line),)


_FIX_BY_HAND = 'declare what the file holds, or type = "text"; what cannot be read counts as missing'


def _say_fix(changes: tuple[Change, ...], left: int) -> str:
    sections = dict.fromkeys(change.path[:-1] for change in changes)
    written = " and ".join(say_changes([each for each in changes if each.path[:-1] == own]) for own in sections)
    return f"{written} (then {left:,} are left)" if left else written


def _propose_changes(folder: Path, table: Table, column: Column, texts: list[str]) -> Iterator[tuple[Change, ...]]:
    """Changes that might help, all that a column may need together first."""
    own = ("tables", table.name, "columns", column.name)
    spelled = ("tables", table.name, "csv")
    missing = tuple(dict.fromkeys((*table.csv.null, *find_missing(texts))))
    nulls = (Change((*spelled, "null"), missing),) if len(missing) > len(table.csv.null) else ()
    there = [text for text in texts if text.strip() not in missing]
    match column.kind:
        case Quantity():
            marks = tuple(Change((*spelled, key), value) for key, value in find_number_spelling(there).items())
            yield (*nulls, *marks)
        case Day():
            yield from ((*nulls, Change((*own, "format"), written)) for written in find_formats(there))
        case Text(values=None):
            yield (Change((*spelled, "encoding"), read_encoding(folder / table.source)),)
        case Text():
            yield (*nulls, Change((*own, "others"), "Other"))
    yield nulls


def _read_unreadable(path: Path, table: Table, column: Column) -> list[str]:
    """The texts that cannot be read, the most frequent first."""
    raw = Column(_RAW, Text())
    both = replace(
        table,
        columns=(replace(column, name="read"), raw),
        source_columns=tuple((name, table.source_column(column.name)) for name in ("read", _RAW)),
    )
    with duckdb.connect() as connection, TemporaryDirectory() as scratch:
        writer = IndexWriter(make_runner(connection), "memory.main", b"", DUCKDB)
        source = file_source(connection, path, both, Path(scratch))
        declare_categories(writer, both.columns[0])
        text = f"CAST({DUCKDB.quote(index_name(_RAW))} AS VARCHAR)"
        lost = f"{render_reading(both.columns[0], DUCKDB)} IS NULL OR CONTAINS({text}, '\N{REPLACEMENT CHARACTER}')"
        rows = f"SELECT {text} AS text FROM {source.relation} WHERE {text} IS NOT NULL AND ({lost})"
        found = writer.run(f"SELECT text FROM ({rows}) GROUP BY text ORDER BY COUNT(*) DESC, text LIMIT {_MOST_TEXTS}")
    return [str(text) for (text,) in found]


def _rows(count: int, reading: ColumnReading) -> str:
    return f"{count:,} of {reading.rows:,} rows"


def _quote(texts: list[str]) -> str:
    return ", ".join(f'"{text}"' for text in texts[:_EXAMPLES])
