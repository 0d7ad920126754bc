"""Temporary folders for rows of people: closed to other users, and cleared by the next process if one was killed."""

import fcntl
import os
import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp

_LOCK = ".lock"  # held by whoever uses a room


class Room:
    """A folder of this process, until it leaves."""

    def __init__(self, prefix: str, parent: str = "") -> None:
        place = Path(parent or gettempdir())
        _clear(place, prefix)
        self.path = Path(mkdtemp(prefix=prefix, dir=place))
        unlocked = self.path / f"{_LOCK}.new"
        self._held = unlocked.open("w")
        fcntl.flock(self._held, fcntl.LOCK_SH)
        unlocked.replace(self.path / _LOCK)  # a room whose lock nobody holds yet is not cleared by others

    def leave(self) -> None:
        """Remove it with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._held.close()


def _clear(place: Path, prefix: str) -> None:
    """Remove the rooms of this user whose processes have ended without leaving them."""
    for left in place.glob(f"{prefix}*"):
        with suppress(OSError):  # another's, in use, or gone meanwhile
            if left.lstat().st_uid != os.getuid() or left.is_symlink():
                continue
            with (left / _LOCK).open("r") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left, ignore_errors=True)
