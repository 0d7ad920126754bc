"""Where the ledger of a folder is that nobody else keeps elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.session.ledgers import LEDGER, STATE

if TYPE_CHECKING:
    from pathlib import Path


def find_ledger(folder: Path) -> Path:
    """The file of a ledger that is there."""
    path = (folder / STATE / LEDGER).resolve()
    assert path.is_file()
    return path
