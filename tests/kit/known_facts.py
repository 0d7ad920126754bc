"""The facts of public tables, found once for each text of a file: finding them takes longer than many a test."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from adomnia.engines.duckdb import DuckDB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.catalog.facts import Facts
    from adomnia.catalog.model import Table

_known: dict[tuple[Table, str, bytes], tuple[Facts, ...]] = {}


@contextmanager
def remembered_facts() -> Iterator[None]:
    """Remember what was found for as long as the process lives; a refusal is found anew."""
    find = DuckDB.find_facts

    def find_once(data: object, table: Table) -> tuple[Facts, ...]:
        if not isinstance(data, Path) or not data.is_file():
            return find(data, table)
        key = table, data.name, data.read_bytes()
        if key not in _known:
            _known[key] = find(data, table)
        return _known[key]

    with patch.object(DuckDB, "find_facts", staticmethod(find_once)):
        yield
