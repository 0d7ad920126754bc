"""The chain: every entry carries the hash of the one before it, and a second file, the anchor, the newest hash."""

import json
import os
import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from adomnia.errors import Refusal
from adomnia.ledger.failpoints import reach
from adomnia.noise.bits import SystemBits

__all__ = ["GENESIS", "Anchor", "Head", "broken", "digest", "followed", "linked"]

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
_ANCHOR = re.compile(r"([0-9]{20}) ([0-9a-f]{64})\n")


class Head(NamedTuple):
    """A place in the chain: how many entries lead to it, and the hash of the last of them."""

    sequence: int
    hash: str


GENESIS = Head(0, "0" * 64)


def broken(why: str) -> Refusal:
    """What the owner is told when the entries are not the ones that were written."""
    fix = "put back the newest backup of the database together with its anchor; docs/ledger.md says what to watch for"
    return Refusal("The ledger", why, fix)


def digest(content: bytes) -> str:
    """SHA-256, as lower-case hexadecimal digits."""
    return sha256(content).hexdigest()


def linked(head: Head, kind: str, fields: Mapping[str, Any]) -> str:
    """The text of the next entry: JSON with sorted keys and no spaces, so that one entry has one text."""
    # Without salt whoever holds two receipts could guess what others asked between them, and hash to confirm it.
    salt = SystemBits().words(2).tobytes().hex()
    entry = {"sequence": head.sequence + 1, "previous": head.hash, "kind": kind, "salt": salt, **fields}
    return _CANONICAL.encode(entry)


def followed(head: Head, body: str) -> tuple[Head, dict[str, Any]]:
    """The entry and the new head, if this is the text that comes next."""
    try:
        entry = json.loads(body)
        place = Head(entry["sequence"] - 1, entry["previous"])
    except (ValueError, KeyError, TypeError) as error:
        raise broken(f"has an entry {head.sequence + 1} that cannot be read") from error
    if place != head:
        raise broken(f"was changed: entry {head.sequence + 1} does not follow from the one before it")
    return Head(head.sequence + 1, digest(body.encode())), entry


class Anchor:
    """The file beside the database that remembers the newest entry: it may lag behind the chain, never lead it."""

    def __init__(self, database: Path) -> None:
        self.path = database.with_name(f"{database.name}.anchor")

    def read(self) -> Head:
        """The remembered head. Read before the entries it cannot be ahead of them: it was written after them."""
        try:
            return _parsed(self.path.read_bytes())
        except FileNotFoundError:
            raise broken("has lost its anchor") from None

    def create(self, head: Head) -> None:
        """Write the file for the first time: whole or not at all, and durable, because entries come after it."""
        draft = self.path.with_name(f"{self.path.name}.new")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(_written(head))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.path)
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        reach("anchor-created")

    def advance(self, head: Head) -> None:
        """Remember a durable head, unless another process has remembered a later one.

        In place and of fixed length: a kill cannot tear it. No fsync of its own: after a power cut it lags.
        """
        with self.path.open("r+b", buffering=0) as file:
            if _parsed(file.read()).sequence < head.sequence:
                file.seek(0)
                file.write(_written(head))


def _written(head: Head) -> bytes:
    return f"{head.sequence:020d} {head.hash}\n".encode()


def _parsed(content: bytes) -> Head:
    match = _ANCHOR.fullmatch(content.decode("ascii", "replace"))
    if match is None:
        raise broken("has an anchor that cannot be read")
    return Head(int(match[1]), match[2])
