"""Changes of a catalog, tried on the data: what is proposed to an owner really works."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.catalog.document import Document
from adomnia.catalog.read import examine_document
from adomnia.engines.registry import load_engine
from adomnia.errors import Refusal
from adomnia.inspection.changes import apply_changes
from adomnia.session.curator import facts_in

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adomnia.catalog.model import Catalog
    from adomnia.inspection.changes import Change


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
