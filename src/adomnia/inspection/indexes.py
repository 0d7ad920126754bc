"""Where the index of a dataset lies, and of when the rows in it are."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from adomnia.engines.sources.state import find_index, find_place
from adomnia.explaining.promises import Promise
from adomnia.session.curator import STATE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.catalog.model import Catalog


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
