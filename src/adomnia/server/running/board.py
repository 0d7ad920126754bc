"""Numbers that the processes of one server show one another: a small file of each, mapped into its memory."""

from __future__ import annotations

import fcntl
import mmap
import shutil
import struct
from threading import Lock
from typing import IO, TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Board", "open_room", "totals"]

SLOT = 160  # a number of 8 bytes, then the name of what it counts
SLOTS = 1024  # no caller can make up more names than there are routes and statuses, but nothing here may grow either
_NUMBER = struct.Struct("<d")
_SUFFIX = ".counts"
_ALIVE = "alive"
GAUGE = "~"  # begins the names of numbers that end with their process


class Board:
    """The numbers of one process. Whether it still lives is told by the lock on its file, which ends with it."""

    def __init__(self, file: IO[bytes]) -> None:
        file.truncate(SLOT * SLOTS)
        self._file = file
        self._memory = mmap.mmap(file.fileno(), SLOT * SLOTS)
        self._places: dict[str, int] = {}
        self._lock = Lock()

    @classmethod
    def open(cls, room: Path, process: int) -> Self:
        return cls(_locked(room / f"{process}{_SUFFIX}"))

    def add(self, name: str, amount: float = 1.0) -> None:
        with self._lock:
            place = self._place(name)
            if place is not None:
                _NUMBER.pack_into(self._memory, place, _NUMBER.unpack_from(self._memory, place)[0] + amount)

    def set(self, name: str, amount: float) -> None:
        with self._lock:
            place = self._place(name)
            if place is not None:
                _NUMBER.pack_into(self._memory, place, amount)

    def close(self) -> None:
        self._memory.close()
        self._file.close()

    def _place(self, name: str) -> int | None:
        """Where a number stands; the first time, the next free place is given its name."""
        place = self._places.get(name)
        if place is None:
            label = name.encode()
            if len(self._places) == SLOTS or len(label) > SLOT - _NUMBER.size:
                return None
            place = self._places[name] = SLOT * len(self._places)
            self._memory[place + _NUMBER.size : place + _NUMBER.size + len(label)] = label
        return place


def open_room(folder: Path, process: int) -> tuple[Path, IO[bytes]]:
    """A fresh folder for the numbers of one server, and the lock that says it lives; those of dead servers go away."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for room in folder.iterdir():
        # Nothing but what is surely a room of a server that is surely dead: this deletes.
        if room.name.isdigit() and _is_free(room / _ALIVE):
            shutil.rmtree(room, ignore_errors=True)
    # It gets its name once its lock is held: before that another server would take it for one of a dead server.
    unnamed, room = folder / f"new-{process}", folder / str(process)
    shutil.rmtree(unnamed, ignore_errors=True)
    unnamed.mkdir(mode=0o700)
    alive = _locked(unnamed / _ALIVE)
    unnamed.rename(room)
    return room, alive


def totals(room: Path) -> tuple[int, dict[str, float]]:
    """How many processes live, and the sum of their numbers: dead ones still count, but for what ended with them."""
    living = 0
    found: dict[str, float] = {}
    for path in sorted(room.glob(f"*{_SUFFIX}")):
        dead = _is_free(path)
        living += not dead
        for name, number in _numbers(path.read_bytes()):
            if not (dead and name.startswith(GAUGE)):
                found[name] = found.get(name, 0.0) + number
    return living, found


def _numbers(content: bytes) -> list[tuple[str, float]]:
    found = []
    for start in range(0, len(content) - SLOT + 1, SLOT):
        label = content[start + _NUMBER.size : start + SLOT].rstrip(b"\0")
        if not label:
            break
        found.append((label.decode(errors="replace"), _NUMBER.unpack_from(content, start)[0]))
    return found


def _locked(path: Path) -> IO[bytes]:
    """A file that nobody else holds."""
    file = path.open("w+b")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise
    return file


def _is_free(path: Path) -> bool:
    """Whether there is such a file and nobody holds its lock."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return True
    except OSError:
        return False
