"""Where the rows of a table are, how a CSV file spells its values, and which engine runs questions about them."""

from __future__ import annotations

from contextlib import suppress
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from adomnia.catalog.document_keys import CSV, CSV_ENDINGS, DATABASE_ENDINGS, ENGINE, PATTERN
from adomnia.catalog.model import SPARK_CATALOG, USUAL_CSV, CsvFormat, EngineChoice, SourceColumn, is_in_spark
from adomnia.catalog.people import is_public
from adomnia.errors import Refusal
from adomnia.postgres import check_url, is_url

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from adomnia.catalog.document import Document
    from adomnia.catalog.model import Table

DEFAULT_SCHEMA = "public"
_PATH = ("engine",)


def check_source_url(document: Document, name: str) -> None:
    """Refuse a URL with a password, or one that is none; no message repeats it."""
    path = ("tables", name, "source")
    if is_url(document.at(*path)):
        try:
            check_url(document.at(*path), "")
        except Refusal as cause:
            raise document.refusal(path, cause.why, cause.fix) from None


def split_table_name(written: str) -> tuple[str, str]:
    """The schema and the name of a table in PostgreSQL: the first dot parts them.

    >>> split_table_name("people"), split_table_name("ward.people")
    (('public', 'people'), ('ward', 'people'))
    """
    schema, dot, name = written.partition(".")
    return (schema, name) if dot else (DEFAULT_SCHEMA, written)


def read_source_table(document: Document, name: str) -> str | None:
    """Read which table of a database is meant; only databases have tables."""
    path = ("tables", name)
    declared = document.at(*path)
    source = declared["source"]
    if is_in_spark(source) and is_public(declared):
        why = "is in Spark, and a public table is a file, which is read whenever the catalog is"
        raise document.refusal((*path, "source"), why, "export it to a Parquet or CSV file")
    is_database = is_url(source) or source == SPARK_CATALOG or _ends(source, DATABASE_ENDINGS)
    if is_database and "table" not in declared:
        why = "is a database, and nothing says which of its tables is meant"
        raise document.refusal((*path, "source"), why, f'add table = "{name}"')
    if "table" in declared and not is_database:
        why = f"is for databases, and {declared['source']} is none"
        fix = f"remove it, or name a file that ends in {_any(DATABASE_ENDINGS)} or a database of PostgreSQL"
        raise document.refusal((*path, "table"), why, fix)
    table: str | None = declared.get("table")
    return table


def read_csv_format(document: Document, name: str) -> CsvFormat:
    """Read how a CSV file spells its values."""
    path = ("tables", name, "csv")
    table = document.at(*path[:-1])
    if "csv" not in table:
        return USUAL_CSV
    declared = document.section(path, CSV)
    if "://" in table["source"] or not _ends(table["source"], CSV_ENDINGS):
        why = f"is for CSV files, and {table['source']} is none"
        raise document.refusal(path, why, f"remove it, or name a file that ends in {_any(CSV_ENDINGS)}")
    _check_marks(document, path, declared)
    return CsvFormat(**{**declared, "null": tuple(declared.get("null", ()))})


def read_source_columns(document: Document, name: str) -> tuple[tuple[str, SourceColumn], ...]:
    """Read which columns the source calls by another name, and whose days have a format of their own."""
    columns = document.at("tables", name).get("columns", {})
    return tuple(
        (column, SourceColumn(declared.get("column", column), declared.get("format")))
        for column, declared in columns.items()
        if isinstance(declared, dict) and ("column" in declared or "format" in declared)
    )


def check_sources(document: Document, folder: Path, names: Sequence[str]) -> None:
    """Refuse rows that a public and a private table share: what is read from a public table costs nothing."""
    tables: dict[str, dict[str, Any]] = {name: document.at("tables", name) for name in names}
    public = [name for name, table in tables.items() if is_public(table)]
    private = {name: table for name, table in tables.items() if name not in public}
    for name in public:
        for other, table in private.items():
            if _share(folder, tables[name], table):
                kind = "table" if is_url(table["source"]) else "file"
                why = f"is also the {kind} of {other}, which is private"
                raise document.refusal(("tables", name, "source"), why, f"give the public table a {kind} of its own")


def _share(folder: Path, first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    in_postgres = [is_url(table["source"]) for table in (first, second)]
    if any(is_in_spark(table["source"]) for table in (first, second)):
        return False  # a public table is a file
    if any(in_postgres):
        return all(in_postgres) and _share_name(first, second)
    return _share_file((folder / first["source"]).resolve(), (folder / second["source"]).resolve(), first, second)


def _share_name(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Whether two tables in PostgreSQL have one name; different URLs may lead to one database."""
    one, two = (split_table_name(str(table.get("table", "")).lower()) for table in (first, second))
    return one == two


def _share_file(one: Path, two: Path, first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    if one == two or _list_inodes(one) & _list_inodes(two):
        tables = [str(table["table"]).lower() for table in (first, second) if "table" in table]
        return len(set(tables)) <= 1  # a database may have public tables beside private ones
    return _holds(one, two) or _holds(two, one)


def _list_inodes(source: Path) -> set[tuple[int, int]]:
    """The files that a source has now, as the disk knows them: links give one file several names."""
    found = [source]
    with suppress(OSError):
        if source.is_dir():
            found = list(source.rglob("*.parquet"))
        elif PATTERN & set(source.name):
            found = list(source.parent.glob(source.name))
        return {(status.st_dev, status.st_ino) for status in (file.stat() for file in found if file.is_file())}
    return set()  # who reads it will say that it cannot be read


def _holds(source: Path, other: Path) -> bool:
    """Whether a folder or a pattern takes in another source; of two patterns in one folder nobody can tell."""
    if source in other.parents:
        return True
    if source.parent != other.parent or not PATTERN & set(source.name):
        return False
    return fnmatchcase(other.name, source.name) or bool(PATTERN & set(other.name))


def _check_marks(document: Document, path: tuple[str, ...], declared: Mapping[str, Any]) -> None:
    """Refuse two marks that are one character: no value could be told from another."""
    marks = {"decimal": USUAL_CSV.decimal, "quote": USUAL_CSV.quote, **declared}
    for one, two in (("decimal", "thousands"), ("quote", "delimiter")):
        if marks[one] == marks.get(two):
            why = f"is the character of {one}, {'which is declared' if one in declared else 'unless that is declared'}"
            raise document.refusal((*path, two), why, f"write another, or another {one}")


def _ends(source: str, endings: tuple[str, ...]) -> bool:
    return source.lower().endswith(endings)


def _any(endings: tuple[str, ...]) -> str:
    return " or ".join(endings)


def read_engine(document: Document, tables: Sequence[Table]) -> EngineChoice:
    """Read the section, or choose: where all private tables are in one database of PostgreSQL, the index is too."""
    private = [table.source for table in tables if not table.public]
    in_postgres = all(map(is_url, private)) and len(set(private)) == 1
    in_spark = [table.name for table in tables if is_in_spark(table.source)]
    if in_spark and document.content.get("engine", {}).get("name") != "spark":
        why = "is where only Spark reads, and the engine is another one"
        raise document.refusal(("tables", in_spark[0], "source"), why, 'write name = "spark" in [engine]')
    if "engine" not in document.content:
        return EngineChoice("postgres" if in_postgres else EngineChoice.name)
    declared = document.section(_PATH, ENGINE)
    choice = EngineChoice(declared["name"], declared.get("url"), declared.get("index"))
    for key in ("url", "index"):
        if key in declared and choice.name != "spark":
            raise document.refusal((*_PATH, key), f"is for spark, and {choice.name} takes none", "remove it")
    if choice.name == "postgres" and private and not in_postgres:
        why = "needs all private tables in one database of PostgreSQL, under one URL"
        fix = 'name them by it, or write "duckdb", which reads all sources into an index of its own'
        raise document.refusal((*_PATH, "name"), why, fix)
    return choice
