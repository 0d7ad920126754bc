"""A file of SQLite that somebody else creates just while it is being looked at."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pytest

_SECONDS = 0.5  # more than enough for whoever need not wait


@contextmanager
def created_meanwhile(patch: pytest.MonkeyPatch, create: Callable[[], object]) -> Iterator[None]:
    """Let another thread create the file after the next connection read its first fact; both must get through."""
    begun = []

    def connect(*arguments, **options):
        connection = real(*arguments, **options)
        patch.setattr(sqlite3, "connect", real)  # for the other, and for all that come later

        def look(statement):
            if statement == "PRAGMA user_version" and not begun:
                begun.append(others.submit(create))
                wait(begun, _SECONDS)

        connection.set_trace_callback(look)
        return connection

    real = sqlite3.connect
    with ThreadPoolExecutor(1) as others:
        patch.setattr(sqlite3, "connect", connect)
        yield
    begun[0].result()
