"""Putting a restored file in the place of a ledger: the old files are moved aside, and stay as evidence."""

import os
from itertools import count
from pathlib import Path

from adomnia.errors import Refusal
from adomnia.ledger.anchor import Anchor
from adomnia.ledger.chain import Head
from adomnia.ledger.failpoints import reach

__all__ = ["SUFFIXES", "in_use_refusal", "put_in_place"]

SUFFIXES = ("", "-wal", "-shm")  # of the files that are one database


def put_in_place(path: Path, draft: Path, saved: Head) -> None:
    """Move the old files aside and the new ones to their names.

    There is an anchor all the time, and it remembers entries. So a ledger that is cut off between two steps opens only
    if it is the restored one, and restoring again is sound.
    """
    anchor, aside = Anchor(path), _find_free_name(path)
    if anchor.exists():
        os.link(anchor.path, Anchor(aside).path)
    else:
        anchor.create(saved)
    for suffix in SUFFIXES:
        old = Path(f"{path}{suffix}")
        if old.exists():
            old.rename(f"{aside}{suffix}")
    reach("old-moved")
    draft.rename(path)
    reach("draft-moved")
    anchor.create(Anchor(draft).read())


def in_use_refusal() -> Refusal:
    """The refusal to replace what others have open."""
    return Refusal("The ledger", "is in use", "stop every process that uses it, then restore again")


def _find_free_name(path: Path) -> Path:
    names = (path.with_name(f"{path.name}.replaced-{number}") for number in count(1))
    return next(name for name in names if not name.exists() and not Anchor(name).exists())
