"""The folder in which the worker processes of one running server share their counters."""

from __future__ import annotations

import fcntl
import shutil
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""Tells workers the folder. prometheus_client looks at it while it is imported, so the parent has to set it."""

_LOCK = "alive"


def open_run_folder(parent: Path, process: int) -> tuple[Path, IO[bytes]]:
    """Create an empty folder for one server, and a lock file that is held as long as that server lives.

    Folders that dead servers left behind are deleted.
    """
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for folder in parent.iterdir():
        # This deletes, so only folders that certainly belong to a server that certainly ended.
        if folder.name.isdigit() and _is_unlocked(folder / _LOCK):
            shutil.rmtree(folder, ignore_errors=True)
    # It is renamed once its lock is held: earlier, another server would take it for that of a dead one.
    unnamed, folder = parent / f"new-{process}", parent / str(process)
    shutil.rmtree(unnamed, ignore_errors=True)
    unnamed.mkdir(mode=0o700)
    lock = _open_locked(unnamed / _LOCK)
    unnamed.rename(folder)
    return folder, lock


def remove_gauges(folder: Path, process: int) -> None:
    """Forget what a dead worker was doing; what it has counted stays counted."""
    from prometheus_client.multiprocess import mark_process_dead  # not above: it slows the start of the parent

    mark_process_dead(process, str(folder))  # type: ignore[no-untyped-call]


def _open_locked(path: Path) -> IO[bytes]:
    """Create a file and lock it."""
    file = path.open("w+b")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise
    return file


def _is_unlocked(path: Path) -> bool:
    """Whether the file exists and no process holds its lock."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return True
    except OSError:
        return False
