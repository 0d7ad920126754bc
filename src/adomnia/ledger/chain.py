"""The hash chain: each entry carries the hash of the one before it."""

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NamedTuple, Self

from adomnia.errors import Refusal
from adomnia.noise.bits import SystemBits

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
_HEAD = re.compile(r"([0-9]{1,20}):([0-9a-f]{64})")


class Head(NamedTuple):
    """A position in the chain: the number of entries up to it, and the hash of the last of them."""

    sequence: int
    hash: str

    def __str__(self) -> str:
        """How people write a head down, to compare it later."""
        return f"{self.sequence}:{self.hash}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what was written down, or refuse."""
        match = _HEAD.fullmatch(text)
        if match is None:
            fix = "copy what `adomnia ledger head` prints: a number, a colon and 64 hexadecimal digits"
            raise Refusal(f"Head {text[:100]!r}", "cannot be read", fix)
        return cls(int(match[1]), match[2])


GENESIS = Head(0, "0" * 64)


_RESTORE = "find the newer files, or restore a backup (`adomnia ledger restore`); docs/ledger.md says what to watch for"


def damage_refusal(why: str, fix: str = _RESTORE) -> Refusal:
    """The refusal of a ledger whose entries are not the ones that were written."""
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
