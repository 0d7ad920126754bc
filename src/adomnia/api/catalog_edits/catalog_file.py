"""The catalog.toml on disk: what it is now, replacing it as a whole, and the texts that it replaced."""

from __future__ import annotations

import fcntl
import os
import re
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from errno import EDQUOT, ENOSPC
from hashlib import sha256
from typing import TYPE_CHECKING, Self
from urllib.parse import quote, unquote

from adomnia.catalog.read import FILE
from adomnia.errors import Refusal, Unavailable
from adomnia.session.curator import STATE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_KEPT_FOLDER = "catalogs"
_KEPT_NAME = re.compile(r"(?P<when>\d{8}T\d{12}Z)-(?P<who>[A-Za-z0-9_.~%-]{1,150})\.toml")
_LONGEST_WHO = 150
_TIME = "%Y%m%dT%H%M%S%fZ"
_MARK = "\ufeff"  # Windows editors put it at the beginning


@dataclass(frozen=True)
class TextOnDisk:
    """The text with plain line ends, and how the file spells it; `identity` is the hash of its bytes."""

    text: str
    identity: str
    marked: bool = False
    line_end: str = "\n"

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Read the bytes of a file; a refusal if they are no text."""
        try:
            text = content.decode()
        except UnicodeDecodeError:
            raise Refusal(FILE, "is not UTF-8 text", "save it as UTF-8 on the server's machine") from None
        plain = text.removeprefix(_MARK)
        line_end = "\r\n" if "\r\n" in plain and "\n" not in plain.replace("\r\n", "") else "\n"
        lines = plain.replace("\r\n", "\n") if line_end == "\r\n" else plain
        return cls(lines, sha256(content).hexdigest(), plain != text, line_end)

    def encode(self, text: str) -> bytes:
        """Another text, spelled as this one is, whatever line ends it came with."""
        lines = text if self.line_end == "\n" else text.replace("\r\n", "\n").replace("\n", self.line_end)
        return ((_MARK if self.marked else "") + lines).encode()


@dataclass(frozen=True)
class KeptText:
    """A text that was replaced: when, and by whom."""

    name: str
    when: str
    who: str


@dataclass(frozen=True)
class CatalogFile:
    """The catalog.toml of a folder."""

    folder: Path

    def read(self) -> TextOnDisk:
        """The text as it is now."""
        try:
            return TextOnDisk.from_bytes(self._path.read_bytes())
        except OSError:
            fix = "put it back on the server's machine"
            raise Unavailable(FILE, "cannot be read", fix) from None

    def identify(self) -> str:
        """The hash of the bytes on disk, whatever they are; of none if there is no file, as whoever serves it says."""
        try:
            return sha256(self._path.read_bytes()).hexdigest()
        except OSError:
            return sha256(b"").hexdigest()

    def replace(self, text: str, began_from: str, who: str) -> TextOnDisk:
        """Replace the text that an edit began from by another, all of it or nothing; the old one is kept.

        Refused if it is no longer the one on disk: somebody else's change would be lost.
        """
        try:
            with self._alone():
                before = self.read()
                if before.identity != began_from:
                    why = "is no longer the text that this edit began from: somebody else has changed it"
                    fix = "compare below with what is there now, then save again, or begin anew from the catalog page"
                    raise Refusal(FILE, why, fix, code="catalog_changed")
                content = before.encode(text)
                self._keep(before, who)
                self._write(content)
        except OSError as error:
            raise _disk_trouble(error) from error
        return TextOnDisk.from_bytes(content)

    def list_kept(self) -> list[KeptText]:
        """The texts that were replaced, the last one first."""
        folder = self.folder / STATE / _KEPT_FOLDER
        with suppress(OSError):
            found = [match for path in folder.iterdir() if (match := _KEPT_NAME.fullmatch(path.name))]
            return [_read_name(match) for match in sorted(found, key=lambda match: match[0], reverse=True)]
        return []

    def read_kept(self, name: str) -> str:
        """A text that was replaced."""
        missing = Refusal("The older text", "is not there", "choose one of the list", code="unknown_text")
        if not _KEPT_NAME.fullmatch(name):
            raise missing
        try:
            return TextOnDisk.from_bytes((self.folder / STATE / _KEPT_FOLDER / name).read_bytes()).text
        except OSError:
            raise missing from None

    @property
    def _path(self) -> Path:
        return (self.folder / FILE).resolve()  # a link to it stays a link

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One save at a time, in all workers; the lock ends with the process, however it ends."""
        with (self.folder / STATE / "catalog.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _keep(self, before: TextOnDisk, who: str) -> None:
        folder = self.folder / STATE / _KEPT_FOLDER
        folder.mkdir(mode=0o700, exist_ok=True)
        name = f"{datetime.now(UTC).strftime(_TIME)}-{quote(who, safe='')[:_LONGEST_WHO]}.toml"
        _write_whole(folder / name, before.encode(before.text), 0o600)

    def _write(self, content: bytes) -> None:
        path = self._path
        _write_whole(path, content, path.stat().st_mode & 0o7777)


def _write_whole(path: Path, content: bytes, mode: int) -> None:
    """All of it or nothing, also after a power cut; in a file of its own first, which nobody takes for the catalog."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:  # noqa: PTH123 - a mode
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _read_name(match: re.Match[str]) -> KeptText:
    when = datetime.strptime(match["when"], _TIME).replace(tzinfo=UTC)
    return KeptText(match[0], when.isoformat(), unquote(match["who"]))


def _disk_trouble(error: OSError) -> Unavailable:
    says = "has no room left on its disk" if error.errno in {ENOSPC, EDQUOT} else "cannot be written by the server"
    fix = "free some space, then save again" if error.errno in {ENOSPC, EDQUOT} else "let the server's user write it"
    return Unavailable(f"{FILE}, which is as it was,", says, fix)
