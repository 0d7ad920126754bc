"""Verifies the ledger, and remembers when that was done last and what was found, for all workers."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from adomnia.errors import Refusal
from adomnia.session.curator import STATE

if TYPE_CHECKING:
    from adomnia.session.curator import Curator

__all__ = ["VERIFIED", "Verification", "read_last", "verify_ledger"]

VERIFIED = "verified.json"


@dataclass(frozen=True)
class Verification:
    """When every hash, admission and total was redone, up to which entry, and what was wrong, if anything."""

    at: str
    entries: int = 0
    head: str = ""
    problem: str = ""


def verify_ledger(curator: Curator) -> Verification:
    """Verify the whole ledger now, and remember what was found."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        head = curator.ledger.verify()
    except Refusal as refusal:
        found = Verification(at, problem=str(refusal))
    else:
        found = Verification(at, head.sequence, head.hash)
    _write(curator.catalog.folder / STATE, found)
    return found


def read_last(folder: Path) -> Verification | None:
    """What was found last; None if nobody looked, or what was written cannot be read."""
    try:
        return Verification(**json.loads((folder / STATE / VERIFIED).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def _write(state: Path, found: Verification) -> None:
    """Write it in one step, readable by the owner of the files alone."""
    with NamedTemporaryFile("w", dir=state, prefix=VERIFIED, delete=False) as file:
        json.dump(asdict(found), file)
    Path(file.name).replace(state / VERIFIED)
