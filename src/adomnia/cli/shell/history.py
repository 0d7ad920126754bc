"""The history of the shell: the last texts that were typed, in a file that its user alone can read."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit.history import History

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_ENTRIES = 1000
_LONGEST_ENTRY = 10_000  # characters; what is longer is not kept
_MOST_BYTES = 2**24  # of a file that is read at all


def history_file() -> Path:
    """The file in the folder for the state of programs."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "adomnia" / "history"


class FileHistory(History):
    """A line of JSON for each text, oldest first; where the file cannot be used, texts are remembered until the end."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._kept = self._open()

    def load_history_strings(self) -> Iterable[str]:
        return reversed(self._kept)

    def store_string(self, string: str) -> None:
        if len(string) <= _LONGEST_ENTRY:
            with suppress(OSError), os.fdopen(self._descriptor(os.O_APPEND), "ab") as file:
                file.write(_line(string))

    def _open(self) -> list[str]:
        """The entries; a file that has grown to twice as many is cut to the last of them."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(self._descriptor(0), "rb") as file:
                os.fchmod(file.fileno(), 0o600)
                lines = file.read(_MOST_BYTES).splitlines()
            entries = [entry for entry in map(_entry, lines) if entry is not None]
            if len(lines) > 2 * MOST_ENTRIES:
                self._rewrite(entries[-MOST_ENTRIES:])
        except OSError:
            return []
        return entries[-MOST_ENTRIES:]

    def _rewrite(self, entries: list[str]) -> None:
        fresh = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.writelines(map(_line, entries))
        fresh.replace(self._path)

    def _descriptor(self, flags: int) -> int:
        return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | flags, 0o600)


def _line(entry: str) -> bytes:
    return json.dumps(entry).encode() + b"\n"


def _entry(line: bytes) -> str | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, str) else None
