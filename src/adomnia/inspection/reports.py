# ruff: noqa: S608 - SQL is what this module writes, from names that are quoted
"""How well a catalog fits its data: exact counts of private rows, which nobody but their owner may see."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from adomnia.catalog.document import load
from adomnia.catalog.model import is_in_spark
from adomnia.catalog.read import FILE
from adomnia.engines.contract import index_name
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.index import IndexWriter, declare_categories
from adomnia.engines.index.columns import render_reading
from adomnia.engines.registry import load_engine
from adomnia.engines.sources.reading import file_source, make_runner, open_reader
from adomnia.engines.sources.state import find_index, find_place
from adomnia.errors import Refusal
from adomnia.explaining.promises import Promise
from adomnia.inspection.changes import Change, Mismatch, Trials, say_changes
from adomnia.inspection.layouts import read_encoding
from adomnia.inspection.people import inspect_people
from adomnia.inspection.repeats import find_repeats
from adomnia.inspection.spellings import find_formats, find_missing, find_number_spelling, may_be_decimals
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Day, Quantity, Text
from adomnia.session.curator import STATE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from adomnia.catalog.document import Document
    from adomnia.catalog.model import Catalog, Place, Table
    from adomnia.engines.contract import ColumnReading
    from adomnia.inspection.people import PeopleOf

PRIVATE = "This is about your data: do not share it."
Changes: TypeAlias = tuple[Change, ...]

_MOST_TEXTS = 200  # different ones that are looked at to understand a column
_EXAMPLES = 3
_READ, _RAW = "read", "raw"
_FIX_BY_HAND = "correct it in the file, or declare what the file holds; what cannot be read counts as missing"


@dataclass(frozen=True)
class DataReport:
    """How every column is read, whose rows there are, and what does not fit."""

    columns: tuple[ColumnReading, ...]
    people: tuple[PeopleOf, ...]
    mismatches: tuple[Mismatch, ...]


def inspect_data(catalog: Catalog) -> DataReport:
    """Read all files of a catalog, private ones too."""
    if any(is_in_spark(table.source) for table in catalog.tables):
        why = "looks at files and databases, and some tables are where only Spark reads"
        raise Refusal("--data", why, "leave it out: opening the dataset says what cannot be read")
    trials = Trials(catalog.folder, load(catalog.folder / FILE))
    readings: list[ColumnReading] = []
    mismatches: list[Mismatch] = []
    for table in catalog.tables:
        if table.columns:
            read, found = inspect_columns(catalog.folder, table, trials)
            readings += read
            mismatches += found
    people, found = inspect_people(catalog)
    found += find_repeats(catalog)
    lines = [replace(each, line=_find_line(trials.document, each)) for each in (*mismatches, *found)]
    return DataReport(tuple(readings), tuple(people), tuple(lines))


def _find_line(document: Document, mismatch: Mismatch) -> int:
    """The line of the catalog that a mismatch is about: that of its first change, or else of its column or table."""
    place = ("tables", mismatch.table, *(("columns", mismatch.column) if mismatch.column else ()))
    line, _ = document.place(mismatch.changes[0].path if mismatch.changes else place)
    return line


def describe_index(catalog: Catalog) -> Iterator[Promise]:
    """Of tables in databases, which change while they are asked about: when they were read, and how to do it again."""
    if not any(table.is_elsewhere for table in catalog.tables):
        return
    folder, ending = catalog.folder / STATE, f".{catalog.engine.name}"
    index = find_index(folder, catalog, ending)
    if index is not None:
        made = datetime.fromtimestamp(index.stat().st_mtime, UTC)
        place = find_place(index) if catalog.engine.index is not None else folder
        says = f"It lies in {place}, and has the rows of {made:%Y-%m-%d %H:%M} UTC. To read them again, raise version."
        yield Promise("the index", says)
    elif catalog.engine.name == "postgres":
        rows = f"it has the rows that were there when version {catalog.version} was first opened"
        where = f"or, where its role may not make one, in {folder}"
        yield Promise("the index", f"It lies in a schema of the database of these tables, {where}; {rows}.")
    else:
        place = catalog.engine.index or folder
        yield Promise("the index", f"There is none of version {catalog.version} yet: it will be made in {place}.")


def inspect_columns(folder: Path, table: Table, trials: Trials) -> tuple[list[ColumnReading], list[Mismatch]]:
    """The readings of all columns of a table, and what does not fit."""
    place = table.locate(folder)
    readings = list(load_engine().count_readings(place, table))
    before = Counter({reading.column: reading.unreadable for reading in readings})
    inspector = _Inspector(place, table, trials, before)
    pairs = zip(table.columns, readings, strict=True)
    return readings, [found for column, reading in pairs for found in inspector.inspect(column, reading)]


@dataclass(frozen=True)
class _Inspector:
    """A table, its file, how many values of each column are unreadable, and changes to try against that."""

    place: Place
    table: Table
    trials: Trials
    before: Counter[str]

    def inspect(self, column: Column, reading: ColumnReading) -> Iterator[Mismatch]:
        if reading.unreadable:
            yield self._explain_unreadable(column, reading)
        if reading.clamped:
            says = f"{_count(reading.clamped, reading)} lie outside of the bounds, and are moved to them"
            fix = "widen the bounds if public knowledge allows more; noise grows with them"
            yield Mismatch(self.table.name, column.name, "clamped", reading.clamped, says, fix)
        if reading.missing == reading.rows > 0:
            says = f"all {reading.rows:,} rows are empty"
            yield Mismatch(self.table.name, column.name, "empty", reading.rows, says, "remove the line of the column")

    def _explain_unreadable(self, column: Column, reading: ColumnReading) -> Mismatch:
        texts = _read_unreadable(self.place, self.table, column)
        kind = "undeclared" if reading.undeclared else "unreadable"
        what = "are not among the declared values" if reading.undeclared else f"cannot be read as {column.kind}"
        says = f"{_count(reading.unreadable, reading)} {what}, such as {_quote(texts)}"
        changes, left = self._find_best(column, self._propose_changes(column, texts))
        if not changes and reading.is_mostly_unreadable:
            changes, left = self._find_best(column, [self._declare_text(column)])
        if not changes:
            return Mismatch(self.table.name, column.name, kind, reading.unreadable, says, _FIX_BY_HAND)
        fix = _say_fix(changes, left) + _say_doubt(column, texts)
        return Mismatch(self.table.name, column.name, kind, reading.unreadable, says, fix, changes, left)

    def _find_best(self, column: Column, proposals: Iterable[Changes]) -> tuple[Changes, int]:
        """The changes that leave the fewest values unreadable, here and in the whole table; none if none helps."""
        best: Changes = ()
        least = self.before[column.name]
        for changes in proposals:
            after = self.trials.count_unreadable(self.table.name, changes)
            if after and after[column.name] < least and after.total() < self.before.total():
                best, least = changes, after[column.name]
            if least == 0:
                break
        return best, least

    def _propose_changes(self, column: Column, texts: list[str]) -> Iterator[Changes]:
        """Changes that might help, all that a column may need together first."""
        own, spelled = self._place(column), ("tables", self.table.name, "csv")
        known = self.table.csv.null
        missing = tuple(dict.fromkeys((*known, *find_missing(texts))))
        usual: Changes = (Change((*spelled, "null"), missing),) if len(missing) > len(known) else ()
        if isinstance(self.place, Path) and any("\N{REPLACEMENT CHARACTER}" in text for text in texts):
            usual = (Change((*spelled, "encoding"), read_encoding(self.place)), *usual)
        there = [text for text in texts if text.strip() not in missing]
        match column.kind:
            case Quantity():
                marks = find_number_spelling(there).items()
                yield (*usual, *(Change((*spelled, key), value) for key, value in marks))
            case Day():
                yield from ((*usual, Change((*own, "format"), written)) for written in find_formats(there))
            case Text(values=values) if values is not None:
                yield usual
                yield (*usual, Change((*own, "others"), "Other"))
        yield usual

    def _declare_text(self, column: Column) -> Changes:
        """The last resort: nothing that is a text is lost."""
        called = self.table.source_column(column.name).name
        line = {**({"column": called} if called != column.name else {}), "type": "text"}
        return (Change(self._place(column), line),)

    def _place(self, column: Column) -> tuple[str, ...]:
        return "tables", self.table.name, "columns", column.name


def _say_fix(changes: Changes, left: int) -> str:
    sections = dict.fromkeys(change.path[:-1] for change in changes)
    written = " and ".join(say_changes([each for each in changes if each.path[:-1] == own]) for own in sections)
    return f"{written} (then {left:,} are left)" if left else written


def _say_doubt(column: Column, texts: list[str]) -> str:
    """What texts do not tell: 3/4/1992 is in March or in April, and 1,234 is above a thousand or not."""
    formats = find_formats(texts) if isinstance(column.kind, Day) else []
    if len(formats) > 1:
        both = " and ".join(f'"{written}"' for written in formats)
        return f" ({both} read as many: say which is meant)"
    if isinstance(column.kind, Quantity) and may_be_decimals(texts):
        return ' (if 1,234 is not meant as 1234, write decimal = "," instead)'
    known = {_fold(value) for value in column.kind.values or ()} if isinstance(column.kind, Text) else ()
    alike = [text for text in texts if _fold(text) in known]
    if alike:
        differs = "differ from declared values only in spaces or case: write them in values as the file does"
        return f" ({_quote(alike)} {differs})"
    return ""


def _fold(text: str) -> str:
    return " ".join(text.split()).casefold()


def _read_unreadable(place: Place, table: Table, column: Column) -> list[str]:
    """The texts that cannot be read, the most frequent first."""
    read, raw = replace(column, name=_READ), Column(_RAW, Text())
    places = tuple((each.name, table.source_column(column.name)) for each in (read, raw))
    both = replace(table, columns=(read, raw), source_columns=places)
    with open_reader() as reader:
        writer = IndexWriter(make_runner(reader.connection), "memory.main", b"", DUCKDB)
        source = file_source(reader, place, both)
        declare_categories(writer, read)
        text = f"CAST({DUCKDB.quote(index_name(_RAW))} AS VARCHAR)"
        lost = f"{render_reading(read, DUCKDB)} IS NULL OR CONTAINS({text}, '\N{REPLACEMENT CHARACTER}')"
        rows = f"SELECT {text} AS text FROM {source.relation} WHERE {text} IS NOT NULL AND ({lost})"
        found = writer.run(f"SELECT text FROM ({rows}) GROUP BY text ORDER BY COUNT(*) DESC, text LIMIT {_MOST_TEXTS}")
    return [str(text) for (text,) in found]


def _count(count: int, reading: ColumnReading) -> str:
    return f"{count:,} of {reading.rows:,} rows"


def _quote(texts: list[str]) -> str:
    return ", ".join(f'"{text}"' for text in texts[:_EXAMPLES])
