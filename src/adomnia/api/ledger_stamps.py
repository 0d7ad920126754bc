"""Remembers when the ledger was verified and backed up last, for all workers and for commands of the command line."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from adomnia.errors import Refusal
from adomnia.ledger.requests import now
from adomnia.session.ledgers import STATE

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.ledger.chain import Head

VERIFIED, BACKED_UP = "verified.json", "backed-up.json"


@dataclass(frozen=True)
class LedgerStamp:
    """When the ledger was looked at as a whole, up to which entry, and what was wrong, if anything."""

    at: str
    entries: int = 0
    head: str = ""
    problem: str = ""

    @property
    def timestamp(self) -> float:
        return datetime.fromisoformat(self.at).timestamp()


def remember_verified(folder: Path, verify: Callable[[], Head]) -> Head:
    """Verify a ledger and remember what was found; a refusal is remembered too, and raised again."""
    at = now()
    try:
        head = verify()
    except Refusal as refusal:
        _write(folder, VERIFIED, LedgerStamp(at, problem=str(refusal)))
        raise
    _write(folder, VERIFIED, LedgerStamp(at, head.sequence, head.hash))
    return head


def remember_backup(folder: Path, head: Head) -> None:
    """Remember that a copy of the ledger up to this entry was made and verified."""
    _write(folder, BACKED_UP, LedgerStamp(now(), head.sequence, head.hash))


def read_stamp(folder: Path, name: str) -> LedgerStamp | None:
    """What was remembered last; None if that is nothing, or what was written cannot be read."""
    try:
        stamp = LedgerStamp(**json.loads((folder / STATE / name).read_text()))
        is_time = stamp.timestamp > 0
    except (OSError, ValueError, TypeError):
        return None
    return stamp if is_time else None


def _write(folder: Path, name: str, stamp: LedgerStamp) -> None:
    """Write it in one step, readable by the owner of the files alone.

    Where the folder may not be written or is full, nothing is remembered; what was found counts all the same.
    """
    state = folder / STATE
    with suppress(OSError):
        with NamedTemporaryFile("w", dir=state, prefix=name, delete=False) as file:
            json.dump(asdict(stamp), file)
            file.flush()
            os.fsync(file.fileno())
        Path(file.name).replace(state / name)
