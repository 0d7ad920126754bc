"""How well a catalog fits its data: exact counts of private rows, which nobody but their owner may see."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from adomnia.catalog.document import load
from adomnia.catalog.model import is_in_spark
from adomnia.catalog.read import FILE
from adomnia.engines.sources.state import find_index, find_place
from adomnia.errors import Refusal
from adomnia.explaining.promises import Promise
from adomnia.inspection.changes import Trials
from adomnia.inspection.columns import inspect_columns
from adomnia.inspection.people import inspect_people
from adomnia.inspection.repeats import find_repeats
from adomnia.session.curator import STATE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.catalog.document import Document
    from adomnia.catalog.model import Catalog
    from adomnia.engines.contract import ColumnReading
    from adomnia.inspection.changes import Mismatch
    from adomnia.inspection.people import PeopleOf

PRIVATE = "This is about your data: do not share it."


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
