# ruff: noqa: S608 - SQL is what this module writes, from names that are quoted
"""What files and databases show of tables before there is a catalog: headers, and how text files are written.

Rows are looked at if their owner says so: for types, formats and keys that repeat, never for bounds or values.
"""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from adomnia.catalog.model import USUAL_CSV, CsvFormat, SourceColumn, Table
from adomnia.catalog.sources import DEFAULT_SCHEMA, split_table_name
from adomnia.catalog.write import as_name
from adomnia.engines.registry import load_engine
from adomnia.engines.sources.databases import is_sqlite
from adomnia.engines.sources.reading import SourceReader, file_source, make_runner, open_reader
from adomnia.engines.sources.snapshots import Snapshots
from adomnia.errors import Refusal
from adomnia.inspection.found_tables import ColumnLook, FoundTable
from adomnia.inspection.key_values import KeyReader, count_keys
from adomnia.inspection.layouts import find_layout, find_other_layout, is_text_file, names_columns
from adomnia.inspection.spellings import find_formats, find_missing, find_number_spelling, is_day
from adomnia.postgres import check_url, describe
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from adomnia.catalog.model import Place

ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".jsonl", ".jsonl.gz", ".ndjson", ".parquet", ".sqlite", ".duckdb")

_SHEET = "save the sheet as CSV: its first line has the names of the columns"
_CONVERSIONS = {
    ".json": "write each object on a line of its own, in a file that ends in .jsonl: "
    'pandas.read_json("a.json").to_json("a.jsonl", orient="records", lines=True)',
    ".xlsx": _SHEET,
    ".xls": _SHEET,
    ".ods": _SHEET,
    ".txt": "rename it to .tsv if tabs part its columns, or to .csv: delimiters other than commas are found",
}
_ENDINGS = frozenset({".duckdb", ".ddb", ".sqlite", ".sqlite3", ".db"})
LOOKED_AT = 20_000  # rows
_ENOUGH = 0.95  # of the values there are: a few may be wrong, and `adomnia check --data` finds them
_WHOLE = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_FLAGS = frozenset({"true", "false", "t", "f", "yes", "no"})
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?([Zz]|[+-]\d{2}(:?\d{2})?)?")
_USUAL_DAYS = "%Y-%m-%d"


def find_tables(
    folder: Path, files: Sequence[Place], look: bool = False, chosen: Sequence[str] = ()
) -> list[FoundTable]:
    """The tables of files, in the order given; each is called after its file, and found from the folder.

    Of a URL they are those that are `chosen`, or all of its schema `public`.
    """
    places = [
        (table, file)
        for file in files
        for table in (_find_tables(folder, file, look) if isinstance(file, Path) else _find_in_url(file, chosen, look))
    ]
    tables = [table for table, _ in places]
    if len({as_name(table.name).lower() for table in tables}) < len(tables):
        raise Refusal("adomnia init", "was given two files of one name", "rename one: tables are called after files")
    return look_at_keys(tables, [file for _, file in places if isinstance(file, Path)]) if look else tables


def _find_tables(folder: Path, file: Path, look: bool) -> Iterator[FoundTable]:
    source = Path(os.path.relpath(file.resolve(), folder.resolve())).as_posix()
    for table in _read_tables(file, source):
        yield look_at_table(table, file) if look else table


def _read_tables(file: Path, source: str) -> Iterator[FoundTable]:
    if is_database(file):
        for name in list_tables(file):
            yield FoundTable(name, source, _read_header(file, name), source_table=name)
        return
    name = file.name.removesuffix(".gz").rpartition(".")[0] or file.name
    if file.is_file() and not file.name.lower().endswith(ENDINGS):
        fix = _CONVERSIONS.get(file.suffix.lower(), f"name files that end in {', '.join(ENDINGS)}")
        raise Refusal(f"File {file.name}", "is of no kind that its ending tells", fix)
    if not is_text_file(file):
        yield FoundTable(name, source, _read_header(file))
        return
    layout = find_layout(file)
    if not names_columns(layout.header):  # it would be in the catalog, which is public
        why, fix = "begins with a row of values, not with a header", "write a line above it that names the columns"
        raise Refusal(f"File {file.name}", why, fix)
    yield FoundTable(name, source, [(each, "") for each in layout.header], spelling=find_other_layout(file, USUAL_CSV))


def _find_in_url(url: str, chosen: Sequence[str], look: bool) -> Iterator[FoundTable]:
    check_url(url, "The URL")
    if look:
        why = "is for files of texts, and PostgreSQL says itself of which type its columns are"
        raise Refusal("--look", why, "leave it out")
    with Snapshots() as now:
        names = list(chosen) or now.list_tables(url, DEFAULT_SCHEMA)
    if not names:
        why = f"has no table in the schema {DEFAULT_SCHEMA}"
        raise Refusal(describe(url), why, "name one with its schema: --table ward.people")
    for name in names:
        yield FoundTable(split_table_name(name)[1], url, _read_header(url, name), source_table=name)


def _read_header(file: Place, table: str | None = None) -> list[tuple[str, str]]:
    return list(load_engine().read_header(file, table).items())


def is_database(path: Path) -> bool:
    """Whether a name is that of a database."""
    return path.suffix.lower() in _ENDINGS


def list_tables(path: Path) -> list[str]:
    """The tables of a database, by name."""
    with suppress(OSError, duckdb.Error, sqlite3.Error):
        found = _list_sqlite(path) if is_sqlite(path) else _list_duckdb(path)
        if found:
            return sorted(found)
    raise Refusal(f"File {path.name}", "is not a database with tables that can be read", "correct its name")


def _list_sqlite(path: Path) -> list[str]:
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
        names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        return [str(name) for (name,) in database.execute(names)]


def _list_duckdb(path: Path) -> list[str]:
    with duckdb.connect(str(path), read_only=True) as database:
        rows = database.execute("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main'").fetchall()
        return [str(name) for (name,) in rows]


def look_at_table(table: FoundTable, path: Path) -> FoundTable:
    """The table with the types and formats of its first rows."""
    texts = _read_texts(table, path)
    marks = find_number_spelling([text for column in texts.values() for text in column if _may_be_number(text)])
    spelling = marks if is_text_file(path) else {}
    looks = {written: _look(column, spelling) for written, column in texts.items()}
    used = [texts[written] for written, look in looks.items() if look.type != "text"]
    missing = find_missing([text for column in used for text in column]) if is_text_file(path) else ()
    numbers = any(look.type == "number" and not _all(texts[name], _NUMBER) for name, look in looks.items())
    found = {**(spelling if numbers else {}), **({"null": missing} if missing else {})}
    return replace(table, looks=looks, spelling={**table.spelling, **found})


def look_at_keys(tables: Sequence[FoundTable], paths: Sequence[Path]) -> list[FoundTable]:
    """The tables with which of their columns repeat, in all rows, and which lead from one table to another."""
    with open_reader() as reader:
        counts = count_keys(_read_keys(reader, *each, _list_keys(each[0])) for each in zip(tables, paths, strict=True))
    with open_reader() as reader:  # another one, because it may copy tables under the same names
        keys = [_read_keys(reader, *each, _list_apart(each[0])) for each in zip(tables, paths, strict=True)]
        alone = {each.name: each.count() for each in keys if each.columns}
    return [replace(table, keys={**counts.get(table.name, {}), **alone.get(table.name, {})}) for table in tables]


def _read_keys(reader: SourceReader, table: FoundTable, path: Path, columns: tuple[str, ...]) -> KeyReader:
    layout = replace(_read_layout(table), null=tuple(table.spelling.get("null", ())))
    doubtful = (column.written for column in table.columns() if column.type == "number" and not column.may_be_key)
    run = make_runner(reader.connection)
    return KeyReader(reader, run, table.name, path, table.source_table, layout, columns, frozenset(doubtful))


def _list_keys(table: FoundTable) -> tuple[str, ...]:
    return tuple(column.written for column in table.columns() if column.may_hold_keys and not column.looks_like_days)


def _list_apart(table: FoundTable) -> tuple[str, ...]:
    """Columns that lead nowhere, as numbers of rows and days are those of any other table: what may be such."""
    days = (column.written for column in table.columns() if column.may_hold_keys and column.looks_like_days)
    first = table.row_numbers()
    return (*days, *([] if first is None else [first.written]))


def _read_layout(table: FoundTable) -> CsvFormat:
    layout = {key: str(value) for key, value in table.spelling.items()}
    return CsvFormat(delimiter=layout.get("delimiter"), encoding=layout.get("encoding", "utf-8"))


def _read_texts(table: FoundTable, path: Path) -> dict[str, list[str]]:
    """The different texts of the first rows of each column that holds texts."""
    left_out = {"", *table.doubled}
    spelled = [written for written, held in table.header if held in {"", "VARCHAR"} and written not in left_out]
    columns = {f"c{place}": written for place, written in enumerate(spelled)}
    if not columns:
        return {}
    read = Table(
        "looked_at",
        table.source,
        tuple(Column(name, Text()) for name in columns),
        source_table=table.source_table,
        source_columns=tuple((name, SourceColumn(written)) for name, written in columns.items()),
        csv=_read_layout(table),
    )
    with open_reader() as reader:
        run = make_runner(reader.connection)
        rows = run(f"SELECT * FROM {file_source(reader, path, read).relation} LIMIT {LOOKED_AT}")
    by_column = zip(*rows, strict=True) if rows else ([] for _ in columns)
    return {
        written: list(dict.fromkeys(str(text).strip() for text in texts if text is not None))
        for written, texts in zip(columns.values(), by_column, strict=True)
    }


def _look(texts: Sequence[str], spelling: Mapping[str, str]) -> ColumnLook:  # noqa: PLR0911 - one for each type
    missing = {*find_missing(texts), ""}
    there = [text for text in texts if text not in missing]
    if not there:
        return ColumnLook("text")
    if _all(there, _WHOLE):
        return ColumnLook("integer")
    if _all(there, _NUMBER):
        return ColumnLook("number")
    if _all(there, _TIME):
        return ColumnLook("timestamp")
    if all(text.lower() in _FLAGS for text in there):
        return ColumnLook("boolean")
    formats = [each for each in find_formats(there) if _is_enough(sum(is_day(text, each) for text in there), there)]
    if formats:
        return ColumnLook("date", () if _USUAL_DAYS in formats else tuple(formats))
    spelled = _all([_plain_number(text, spelling) for text in there], _NUMBER)
    return ColumnLook("number" if spelled else "text")


def _all(texts: Sequence[str], pattern: re.Pattern[str]) -> bool:
    return _is_enough(sum(pattern.fullmatch(text) is not None for text in texts), texts)


def _is_enough(count: int, texts: Sequence[str]) -> bool:
    return count >= _ENOUGH * len(texts) > 0


def _may_be_number(text: str) -> bool:
    """Whether digits make up most of a text."""
    return 2 * sum(letter.isdigit() for letter in text) > len(text)


def _plain_number(text: str, spelling: Mapping[str, str]) -> str:
    for mark in ("currency", "thousands"):
        text = text.replace(spelling.get(mark, " "), "").strip()
    return text.replace(spelling.get("decimal", "."), ".")
