"""What does not fit between a catalog and its data, and changes of catalog.toml that were tried on the data."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from adomnia.catalog.document import Document
from adomnia.catalog.read import examine_document
from adomnia.catalog.write import toml_string
from adomnia.engines.registry import load_engine
from adomnia.errors import Refusal
from adomnia.session.curator import facts_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from adomnia.catalog.model import Catalog

Value: TypeAlias = str | int | tuple[str, ...] | dict[str, str]


@dataclass(frozen=True)
class Change:
    """One key that gets a value: `path` leads to it, and what is not there yet is added."""

    path: tuple[str, ...]
    value: Value


def say_changes(changes: Sequence[Change]) -> str:
    """What to write where; all changes are of one section.

    >>> say_changes([Change(("tables", "people", "csv", "decimal"), ",")])
    'decimal = "," in tables.people.csv'
    """
    keys = ", ".join(f"{change.path[-1]} = {_render(change.value)}" for change in changes)
    (section,) = {change.path[:-1] for change in changes}
    return f"{keys} in {'.'.join(section)}"


def apply_changes(content: dict[str, Any], changes: Iterable[Change]) -> dict[str, Any]:
    """A copy of the content of a catalog with the changes made.

    >>> apply_changes({}, [Change(("tables", "people", "csv", "decimal"), ",")])
    {'tables': {'people': {'csv': {'decimal': ','}}}}
    """
    changed = deepcopy(content)
    for change in changes:
        section = changed
        for name in change.path[:-1]:
            section = section.setdefault(name, {})
        section[change.path[-1]] = list(change.value) if isinstance(change.value, tuple) else change.value
    return changed


def _render(value: Value) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {toml_string(each)}' for key, each in value.items())} }}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(toml_string, value))}]"
    return toml_string(value) if isinstance(value, str) else str(value)


@dataclass(frozen=True)
class Mismatch:
    """One thing that does not fit: where, what it is, how many rows or keys it concerns, and what to do about it.

    `changes` of the catalog were tried on the data: with them, fewer rows or keys are concerned, `left` of them.
    """

    table: str
    column: str | None
    kind: str
    count: int
    says: str
    fix: str
    changes: tuple[Change, ...] = ()
    left: int | None = None
    line: int | None = None  # of the catalog


@dataclass(frozen=True)
class Trials:
    """The catalog of a folder, to be read again with changes."""

    folder: Path
    document: Document

    def read(self, changes: Sequence[Change]) -> Catalog | None:
        """The catalog with the changes, or None if it is none then."""
        content = apply_changes(self.document.content, changes)
        document = Document(self.document.file, self.document.text, content)
        return examine_document(document, self.folder, facts_in(self.folder)).catalog

    def count_unreadable(self, name: str, changes: Sequence[Change]) -> Counter[str]:
        """How many values of each column of a table cannot be read with the changes; none where they are refused."""
        catalog = self.read(changes)
        table = None if catalog is None else catalog.table(name)
        if table is None:
            return Counter()
        try:
            readings = load_engine().count_readings(table.locate(self.folder), table)
        except Refusal:
            return Counter()
        return Counter({reading.column: reading.unreadable for reading in readings})
