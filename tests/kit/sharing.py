"""A file of SQLite that others use: one creates it just while it is being looked at, one looks at it and leaves."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kit.waiting import HANG_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pytest

_LOOK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
print(connection.execute(f"SELECT COUNT(*) FROM {sys.argv[2]}").fetchone()[0])
connection.close()
"""
_SECONDS = 0.5  # more than enough for whoever need not wait


@contextmanager
def created_meanwhile(patch: pytest.MonkeyPatch, create: Callable[[], object]) -> Iterator[None]:
    """Let another thread create the file while the next connection reads its facts; both must get through.

    Opening it is done by one at a time, so the other gets no further there: it is given time at every such reading.
    """
    begun = []

    def connect(*arguments, **options):
        connection = real(*arguments, **options)
        patch.setattr(sqlite3, "connect", real)  # for the other, and for all that come later

        def look(statement):
            if statement == "PRAGMA user_version":
                if not begun:
                    begun.append(others.submit(create))
                wait(begun, _SECONDS)

        connection.set_trace_callback(look)
        return connection

    real = sqlite3.connect
    with ThreadPoolExecutor(1) as others:
        patch.setattr(sqlite3, "connect", connect)
        yield
    begun[0].result()


def counted_elsewhere(path: Path, table: str) -> int:
    """How many rows another process sees, which then closes the file; as the last one, it would tidy it up."""
    return int(subprocess.check_output([sys.executable, "-c", _LOOK, str(path), table], timeout=HANG_SECONDS))
