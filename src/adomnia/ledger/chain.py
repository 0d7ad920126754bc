"""The hash chain, in which each entry carries the hash of the one before it, and its anchor.

The anchor is a second file that remembers the newest entry, and the lock that lets one process at a time move it.
Whoever grants anything holds the lock from before its transaction until the anchor names the transaction's end. So the
anchor moves along one chain, whatever each process takes for the database; docs/proofs/ledger.md, section 7.
"""

import fcntl
import json
import os
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple, Self

from adomnia.errors import Refusal
from adomnia.ledger.failpoints import failpoint
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


_LINE = re.compile(r"([0-9]{20}) ([0-9a-f]{64})\n")
_POLL_SECONDS = 0.0005
_PATIENCE_SECONDS = 30.0


class LostAnchorRefusal(Refusal):
    """There is no anchor. It may come back with its folder, and is then compared with what is known."""


class LockedAnchor:
    """The anchor while nobody else may move it: the head that it remembers."""

    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor = descriptor
        self._path = path
        self.check()
        self.head = _decode(os.pread(descriptor, 1000, 0))

    def check(self) -> None:
        """Refuse if somebody put another file in its place: others would lock that one."""
        try:
            same = os.path.samestat(os.fstat(self._descriptor), self._path.stat())
        except FileNotFoundError:
            same = False
        if not same:
            raise damage_refusal("had its anchor replaced while it was open")

    def advance(self, head: Head) -> None:
        """Remember a later head, which is durable and whose chain goes through the present one.

        It is overwritten in place with equally many bytes, so a kill cannot leave half of it. It is not fsynced: after
        a power cut it may be behind.
        """
        os.pwrite(self._descriptor, _encode(head), 0)
        self.check()
        self.head = head


class Anchor:
    """A file beside the database that remembers the newest entry; it may be behind the chain, never ahead of it."""

    def __init__(self, database: Path) -> None:
        self.database = database
        self.path = database.with_name(f"{database.name}.anchor")
        self._draft = database.with_name(f"{database.name}.anchor.new")

    def exists(self) -> bool:
        return self.path.exists()

    def read(self) -> Head:
        """Read the remembered head. It was written after its entry, so entries that are read later include that one."""
        try:
            return _decode(self.path.read_bytes())
        except FileNotFoundError:
            raise _lost_refusal() from None

    def create(self, head: Head) -> None:
        """Create or replace the file, atomically and durably: the first entry is written only after it exists."""
        with os.fdopen(os.open(self._draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(_encode(head))
            file.flush()
            os.fsync(file.fileno())
        self._draft.replace(self.path)
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        failpoint("anchor-created")

    def remove(self) -> None:
        """Take back one that was created for a database which did not come about."""
        for path in (self._draft, self.path):
            path.unlink(missing_ok=True)

    @contextmanager
    def lock(self) -> Iterator[LockedAnchor]:
        """Hold the anchor against every other thread and process; refuses one that was lost, replaced or damaged."""
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            raise _lost_refusal() from None
        with lock_open_file(descriptor):
            yield LockedAnchor(descriptor, self.path)


class MemoryAnchor:
    """The anchor of a ledger in memory, which nobody else can reach."""

    def __init__(self) -> None:
        self.head = GENESIS

    def read(self) -> Head:
        return self.head

    @contextmanager
    def lock(self) -> Iterator["MemoryAnchor"]:
        yield self

    def advance(self, head: Head) -> None:
        self.head = head


@contextmanager
def lock_open_file(descriptor: int) -> Iterator[None]:
    """Hold a file, by its descriptor, against every other opening of it, and close it at the end."""
    try:
        _lock_patiently(descriptor)
        try:
            yield
        finally:
            # Not left to closing: a child that was forked meanwhile has the descriptor too, and with it the lock.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)


def _lock_patiently(descriptor: int) -> None:
    deadline = monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if monotonic() >= deadline:
                raise _busy_error() from None
            sleep(_POLL_SECONDS)


def _busy_error() -> sqlite3.OperationalError:
    """What SQLite says of a lock that it waited for in vain: nothing was written, and trying again is sound."""
    error = sqlite3.OperationalError("the anchor is locked")
    error.sqlite_errorcode, error.sqlite_errorname = sqlite3.SQLITE_BUSY, "SQLITE_BUSY"
    return error


def _lost_refusal() -> LostAnchorRefusal:
    return LostAnchorRefusal(*damage_refusal("has lost its anchor").args)


def _encode(head: Head) -> bytes:
    return f"{head.sequence:020d} {head.hash}\n".encode()


def _decode(content: bytes) -> Head:
    match = _LINE.fullmatch(content.decode("ascii", "replace"))
    if match is None:
        raise damage_refusal("has an anchor that cannot be read")
    return Head(int(match[1]), match[2])
