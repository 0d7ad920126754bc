"""Faults of a disk: errors of SQLite at chosen statements, here and in processes that are started, and small disks."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterator

VARIABLE = "ADOMNIA_TEST_FAULTS"
SITE = Path(__file__).with_name("fault_site")  # its sitecustomize.py installs the faults in processes that are started


def error_of(name: str) -> sqlite3.OperationalError:
    """The error that SQLite raises under this name."""
    error = sqlite3.OperationalError(f"injected {name}")
    error.sqlite_errorname, error.sqlite_errorcode = name, getattr(sqlite3, name)
    return error


class FaultyConnection(sqlite3.Connection):
    """A connection whose statements fail as a file says: one line a fault, the error and the beginning of statements.

    An error whose name begins with + comes after the statement was done. `done` lists what was executed.
    """

    done: ClassVar[list[tuple[int, str]]] = []

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        name = _fault_of(statement)
        FaultyConnection.done.append((id(self), statement))
        if name and not name.startswith("+"):
            raise error_of(name)
        cursor = super().execute(statement, *values)
        if name:
            raise error_of(name.removeprefix("+"))
        return cursor


def _fault_of(statement: str) -> str | None:
    try:
        lines = Path(os.environ[VARIABLE]).read_text().splitlines()
    except OSError:
        return None
    faults = [line.partition(" ") for line in lines]
    return next((name for name, _, begin in faults if statement.startswith(begin)), None)


def install() -> None:
    """Let every connection to a ledger that is opened from now on have the faults of the file that VARIABLE names."""
    connect = sqlite3.connect

    def connect_faulty(path: Any, *arguments: Any, **options: Any) -> sqlite3.Connection:
        factory = FaultyConnection if "ledger" in str(path) else sqlite3.Connection
        return connect(path, *arguments, **{"factory": factory, **options})

    sqlite3.connect = connect_faulty


@contextmanager
def faulty(monkeypatch: Any, path: Path) -> Iterator[Path]:
    """The file in which a test writes the faults of this process."""
    with monkeypatch.context() as patched:
        patched.setenv(VARIABLE, str(path))
        patched.setattr(sqlite3, "connect", sqlite3.connect)  # restored afterwards
        FaultyConnection.done.clear()
        install()
        yield path


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[Path | None]:
    """A disk of this size; None where this user may not mount one."""
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        yield None
        return
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(disk: Path) -> Path:
    """Take all room that is left; deleting the file gives it back."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (65_536, 512):
            try:
                while file.write(b"x" * size) == size:
                    pass
            except OSError:
                continue
    return filler


def make_read_only(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True, capture_output=True)


def make_writable(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True, capture_output=True)


@cache
def may_mount() -> bool:
    """Whether this user may mount a disk."""
    with TemporaryDirectory() as name, small_disk(Path(name) / "disk", "1m") as disk:
        return disk is not None


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """A folder in which nothing can be opened for writing, not even by root; for those who may mount."""
    with TemporaryDirectory() as view:  # made read-only where nobody uses it, and then put over the folder
        steps = ["--bind", str(folder), view], ["-o", "remount,bind,ro", view], ["--bind", view, str(folder)]
        for step in steps:
            subprocess.run(["mount", *step], check=True, capture_output=True)
        try:
            yield
        finally:
            subprocess.run(["umount", "-l", str(folder), view], check=True)
