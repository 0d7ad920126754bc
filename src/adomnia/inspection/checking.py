"""Everything that is wrong with a dataset before it is opened: its catalog, its views, and the headers of its files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adomnia.catalog.read import examine
from adomnia.engines.registry import load_engine
from adomnia.errors import Refusal
from adomnia.session.curator import facts_in
from adomnia.sql.rows.blocks import check_view

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
    for table in found.tables:
        problems += _header_faults(folder, table, found.document)
    if found.catalog is not None:
        problems += _view_faults(found.catalog, found.document)
    return CheckedFolder(found.catalog, tuple(sorted(problems, key=lambda problem: problem.position or (1, 1))))


def _header_faults(folder: Path, table: Table, document: Document) -> Iterator[Refusal]:
    """What the columns of a file lack of those that are declared; no row is read."""
    if _header_fault(folder, table) is None:
        return
    unreadable = _header_fault(folder, replace(table, columns=()))
    if unreadable is not None:
        yield document.refusal(
            ("tables", table.name, "source"), f"cannot be used: {unreadable.what} {unreadable.why}", unreadable.fix
        )
        return
    for column in table.columns:
        fault = _header_fault(folder, replace(table, columns=(column,)))
        if fault is not None:
            yield document.refusal(("tables", table.name, "columns", column.name), fault.why, fault.fix)


def _header_fault(folder: Path, table: Table) -> Refusal | None:
    try:
        load_engine().check_header(folder / table.source, table)
    except Refusal as fault:
        return fault
    return None


def _view_faults(catalog: Catalog, document: Document) -> Iterator[Refusal]:
    for view in catalog.views:
        try:
            check_view(catalog, view)
        except Refusal as fault:
            yield document.refusal(("views", view.name, "sql"), f"cannot be read: {fault.what} {fault.why}", fault.fix)
