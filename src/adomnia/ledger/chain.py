"""The hash chain: each entry carries the hash of the one before it; a second file, the anchor, has the newest hash."""

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

__all__ = ["GENESIS", "Anchor", "Head", "damage_refusal", "decode_entry", "digest", "encode_entry"]

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
_ANCHOR = re.compile(r"([0-9]{20}) ([0-9a-f]{64})\n")


class Head(NamedTuple):
    """A position in the chain: the number of entries up to it, and the hash of the last of them."""

    sequence: int
    hash: str


GENESIS = Head(0, "0" * 64)


def damage_refusal(why: str) -> Refusal:
    """The refusal of a ledger whose entries are not the ones that were written."""
    fix = "put back the newest backup of the database together with its anchor; docs/ledger.md says what to watch for"
    return Refusal("The ledger", why, fix)


def digest(content: bytes) -> str:
    """Compute the SHA-256 of some bytes, in lower-case hexadecimal digits."""
    return sha256(content).hexdigest()


def encode_entry(head: Head, kind: str, fields: Mapping[str, Any]) -> str:
    """Write the next entry as JSON with sorted keys and no spaces, so that one entry has one text."""
    # Without salt whoever holds two receipts could guess what others asked between them, and hash to confirm it.
    salt = SystemBits().words(2).tobytes().hex()
    entry = {"sequence": head.sequence + 1, "previous": head.hash, "kind": kind, "salt": salt, **fields}
    return _CANONICAL.encode(entry)


def decode_entry(head: Head, body: str) -> tuple[Head, dict[str, Any]]:
    """Read the text of the next entry: the new head and the entry. Refuses a text that does not follow the head."""
    try:
        entry = json.loads(body)
        previous = Head(entry["sequence"] - 1, entry["previous"])
    except (ValueError, KeyError, TypeError) as error:
        raise damage_refusal(f"has an entry {head.sequence + 1} that cannot be read") from error
    if previous != head:
        raise damage_refusal(f"was changed: entry {head.sequence + 1} does not follow from the one before it")
    return Head(head.sequence + 1, digest(body.encode())), entry


class Anchor:
    """A file beside the database that remembers the newest entry; it may be behind the chain, never ahead of it."""

    def __init__(self, database: Path) -> None:
        self.path = database.with_name(f"{database.name}.anchor")

    def read(self) -> Head:
        """Read the remembered head. It was written after its entry, so entries that are read later include that one."""
        try:
            return _decode_anchor(self.path.read_bytes())
        except FileNotFoundError:
            raise damage_refusal("has lost its anchor") from None

    def create(self, head: Head) -> None:
        """Create the file, atomically and durably: the first entry is written only after it exists."""
        draft = self.path.with_name(f"{self.path.name}.new")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(_encode_anchor(head))
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
        """Remember a head that is durable, unless another process has remembered a later one.

        It is overwritten in place with equally many bytes, so a kill cannot leave half of it. It is not fsynced: after
        a power cut it may be behind.
        """
        with self.path.open("r+b", buffering=0) as file:
            if _decode_anchor(file.read()).sequence < head.sequence:
                file.seek(0)
                file.write(_encode_anchor(head))


def _encode_anchor(head: Head) -> bytes:
    return f"{head.sequence:020d} {head.hash}\n".encode()


def _decode_anchor(content: bytes) -> Head:
    match = _ANCHOR.fullmatch(content.decode("ascii", "replace"))
    if match is None:
        raise damage_refusal("has an anchor that cannot be read")
    return Head(int(match[1]), match[2])
