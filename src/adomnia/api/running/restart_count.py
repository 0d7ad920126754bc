"""How often a worker was replaced: written by the parent, and read by workers for their metrics."""

from __future__ import annotations

import os
import struct
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["RestartCount", "read_restarts"]

_NUMBER = struct.Struct("<Q")
_FILE = "restarts"


class RestartCount:
    """The count of one running server. On a full disk it stays behind, and nothing else happens."""

    def __init__(self, folder: Path) -> None:
        self._count = 0
        self._file = os.open(folder / _FILE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self._write()

    def add(self) -> None:
        """Count one more."""
        self._count += 1
        self._write()

    def close(self) -> None:
        os.close(self._file)

    def _write(self) -> None:
        with suppress(OSError):
            os.pwrite(self._file, _NUMBER.pack(self._count), 0)


def read_restarts(folder: Path) -> int:
    """How many workers were replaced since the server started."""
    try:
        count: int = _NUMBER.unpack((folder / _FILE).read_bytes())[0]
    except (OSError, struct.error):
        return 0
    return count
