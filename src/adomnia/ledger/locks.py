"""Turns: whoever asks what somebody is just paying for waits for that answer. No claim of the ledger rests on them."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from struct import pack
from typing import Protocol


class Locks(Protocol):
    """Locks of subjects, which are numbers below 2**60, against other processes; at most until the process ends."""

    def hold(self, number: int) -> AbstractContextManager[None]:
        """Wait for the lock, and hold it."""

    def close(self) -> None:
        """Give up all of them."""


class MemoryLocks:
    """Nobody else can reach what is in memory."""

    def hold(self, number: int) -> AbstractContextManager[None]:  # noqa: ARG002
        return nullcontext()

    def close(self) -> None:
        """There is nothing to give up."""


class FileLocks:
    """Locks of bytes of an empty file. They belong to an open file and not to the process, whatever threads close."""

    def __init__(self, database: Path) -> None:
        self._path = f"{database}.lock"

    @contextmanager
    def hold(self, number: int) -> Iterator[None]:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.fcntl(descriptor, fcntl.F_OFD_SETLKW, pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, number, 1, 0))
            yield
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """They end with their holders."""
