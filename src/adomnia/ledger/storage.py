"""How much of the ledger each analyst fills: counted with every debit, from public facts, and never given back.

The count stands beside the entries and not in them: nothing of it bears on what was spent. What was written before
there was a count is not in it.
"""

import sqlite3
from dataclasses import dataclass

from adomnia.errors import Refusal

__all__ = ["Storage", "charge", "prepare"]

_TABLE = "CREATE TABLE IF NOT EXISTS storage (analyst TEXT PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID"
_ADD = "INSERT INTO storage VALUES (?, ?) ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes"


@dataclass(frozen=True)
class Storage:
    """The bytes that a question counts for, and the most that all questions of its analyst may."""

    needed: int
    most: int


def prepare(connection: sqlite3.Connection) -> None:
    """Make room for the counts, in a ledger that has none yet."""
    connection.execute(_TABLE)


def charge(connection: sqlite3.Connection, analyst: str, storage: Storage) -> None:
    """Count what a question needs; a Refusal, and nothing is counted, where that is more than is left."""
    row = connection.execute("SELECT bytes FROM storage WHERE analyst = ?", (analyst,)).fetchone()
    left = storage.most - (0 if row is None else row[0])
    if storage.needed > left:
        needs = f"needs {storage.needed:,} bytes of the ledger, and {analyst} has {max(0, left):,} left"
        fix = f"ask for fewer groups or aggregates, or have the owner raise storage under [analysts.{analyst}]"
        raise Refusal("The question", f"{needs} of {storage.most:,}", fix, code="storage")
    connection.execute(_ADD, (analyst, storage.needed))
