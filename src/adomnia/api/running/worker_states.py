"""What each worker process does, and how often one was replaced, where all of them and their parent see it."""

from __future__ import annotations

import mmap
import os
import struct
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from time import monotonic
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pathlib import Path

HUNG_SECONDS = 10.0  # without a sign of life, after which a worker is taken for hung
_NUMBER = struct.Struct("<Q")
_FIELDS = 3  # milliseconds of the last sign of life, stage, troubles
_FILE = "workers"
_RESTARTS = "restarts"


class Stage(IntEnum):
    """How far a worker has come."""

    NONE = 0
    STARTING = 1
    SERVING = 2


@dataclass(frozen=True)
class WorkerState:
    """A worker: when it last gave a sign of life, how far it has come, and its troubles as bits."""

    seen: float
    stage: Stage
    troubles: int

    def is_serving(self) -> bool:
        return self.stage is Stage.SERVING and monotonic() - self.seen < HUNG_SECONDS


class WorkerStates:
    """The states of all workers; each writes at its own place, and the parent clears the place of one that died."""

    def __init__(self, memory: mmap.mmap, places: int) -> None:
        self._memory, self.places = memory, places

    @classmethod
    def open(cls, folder: Path, places: int) -> Self:
        size = places * _FIELDS * _NUMBER.size
        with (folder / _FILE).open("a+b") as file:
            # Room is taken now: on a disk that is full later, writing would end the process by a signal.
            os.posix_fallocate(file.fileno(), 0, size)
            return cls(mmap.mmap(file.fileno(), size), places)

    def write(self, place: int, stage: Stage, troubles: int = 0) -> None:
        """Give a sign of life."""
        for field, number in enumerate((round(1000 * monotonic()), stage, troubles)):
            start = (place * _FIELDS + field) * _NUMBER.size
            self._memory[start : start + _NUMBER.size] = _NUMBER.pack(number)

    def clear(self, place: int) -> None:
        """Forget a worker that died."""
        start = place * _FIELDS * _NUMBER.size
        self._memory[start : start + _FIELDS * _NUMBER.size] = bytes(_FIELDS * _NUMBER.size)

    def read(self, place: int) -> WorkerState:
        start = place * _FIELDS * _NUMBER.size
        seen, stage, troubles = (
            _NUMBER.unpack_from(self._memory, start + field * _NUMBER.size)[0] for field in range(_FIELDS)
        )
        return WorkerState(seen / 1000, Stage(stage), troubles)


class RestartCount:
    """The count of one running server. On a full disk it stays behind, and nothing else happens."""

    def __init__(self, folder: Path) -> None:
        self._count = 0
        self._file = os.open(folder / _RESTARTS, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
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
        count: int = _NUMBER.unpack((folder / _RESTARTS).read_bytes())[0]
    except (OSError, struct.error):
        return 0
    return count
