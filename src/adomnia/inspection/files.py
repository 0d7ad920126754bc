"""What files and databases show of tables before there is a catalog: headers, and how text files are written."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from adomnia.catalog.model import USUAL_CSV
from adomnia.catalog.sources import DEFAULT_SCHEMA, split_table_name
from adomnia.catalog.write import as_name
from adomnia.engines.registry import load_engine
from adomnia.engines.sources.databases import is_sqlite
from adomnia.engines.sources.snapshots import Snapshots
from adomnia.errors import Refusal
from adomnia.inspection.found_tables import FoundTable
from adomnia.inspection.layouts import find_layout, find_other_layout, is_text_file, names_columns
from adomnia.inspection.looks import look_at_keys, look_at_table
from adomnia.postgres import check_url, describe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
