"""Everything that is wrong with a dataset before it is opened: its catalog, its views, and the headers of its files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from adomnia.catalog.document_keys import closest
from adomnia.catalog.model import EngineChoice, is_in_spark
from adomnia.catalog.read import examine
from adomnia.catalog.write import toml_string
from adomnia.engines.registry import load_engine
from adomnia.errors import Refusal
from adomnia.inspection.layouts import find_other_layout
from adomnia.session.curator import facts_in
from adomnia.sql.rows.blocks import check_view

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.catalog.document import Document
    from adomnia.catalog.model import Catalog, Table


@dataclass(frozen=True)
class CheckedFolder:
    """The catalog of a folder, where it can be read, and all problems in the order of its lines."""

    catalog: Catalog | None
    problems: tuple[Refusal, ...]


def check_folder(folder: Path) -> CheckedFolder:
    """Check the catalog of a folder; public files are read for what they declare, of private ones only headers."""
    found = examine(folder, facts_in(folder))
    problems = [*found.problems]
    said = {problem.position for problem in problems}  # of a public file that cannot be read it was said already
    choice = EngineChoice() if found.catalog is None else found.catalog.engine
    for table in found.tables:
        if is_in_spark(table.source):
            problems += _spark_faults(table, choice, found.document)
            continue
        problems += [
            fault for fault in _header_faults(folder, table, found.document, choice.name) if fault.position not in said
        ]
    if found.catalog is not None:
        problems += _view_faults(found.catalog, found.document)
    return CheckedFolder(found.catalog, tuple(sorted(problems, key=lambda problem: problem.position or (1, 1))))


def _header_faults(folder: Path, table: Table, document: Document, engine: str) -> Iterator[Refusal]:
    """What the columns of a file lack of those that are declared; no row is read."""
    if _header_fault(folder, table, engine) is None:
        return
    unreadable = _header_fault(folder, replace(table, columns=()), engine)
    try:
        place = table.locate(folder)
        written = find_other_layout(place, table.csv) if isinstance(place, Path) else {}
    except Refusal as fault:  # it has no header, or is not what its name says
        written, unreadable = {}, fault
    if written:
        keys = ", ".join(f"{key} = {toml_string(value)}" for key, value in written.items())
        why, fix = f"does not say how {table.source} is written", f"write csv = {{ {keys} }}"
        yield document.refusal(("tables", table.name, "csv"), why, fix)
    elif unreadable is not None:
        why = f"cannot be used: {unreadable.what} {unreadable.why}"
        yield document.refusal(("tables", table.name, "source"), why, unreadable.fix)
    else:
        yield from _column_faults(folder, table, document, engine)


def _spark_faults(table: Table, choice: EngineChoice, document: Document) -> Iterator[Refusal]:
    """What Spark finds of a table that only it reads; nothing where the catalog does not say which Spark."""
    if choice.name != "spark":
        return
    from adomnia.engines.spark.sources import check_header

    try:
        check_header(choice, table)
    except Refusal as fault:
        yield document.refusal(("tables", table.name, "source"), f"cannot be used: {fault.what} {fault.why}", fault.fix)


def _column_faults(folder: Path, table: Table, document: Document, engine: str) -> Iterator[Refusal]:
    names = load_engine().read_header(table.locate(folder), table.source_table, table.csv)
    for column in table.columns:
        fault = _header_fault(folder, replace(table, columns=(column,)), engine)
        if fault is not None:
            called = closest(column.name, names)
            fix = (
                fault.fix if called in {None, column.name} else f"write column = {toml_string(str(called))} in its line"
            )
            yield document.refusal(("tables", table.name, "columns", column.name), fault.why, fix)


def _header_fault(folder: Path, table: Table, engine: str) -> Refusal | None:
    try:
        load_engine(engine).check_header(table.locate(folder), table)
    except Refusal as fault:
        return fault
    return None


def _view_faults(catalog: Catalog, document: Document) -> Iterator[Refusal]:
    for view in catalog.views:
        try:
            check_view(catalog, view)
        except Refusal as fault:
            yield document.refusal(("views", view.name, "sql"), f"cannot be read: {fault.what} {fault.why}", fault.fix)
