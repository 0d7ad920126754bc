"""What an answer costs, counted: calls of Python functions, statements, rows that are read, waits for the disk.

None of it depends on the machine, its load or the time; what noise decides is drawn from the same bits every time.
"""

from __future__ import annotations

import gc
import os
import sqlite3
import sys
import threading
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import _lru_cache_wrapper
from typing import TYPE_CHECKING, Any

from adomnia.ledger import Ledger
from adomnia.pricing import vacuity
from adomnia.session.curator import Curator
from adomnia.session.ledgers import LEDGER
from kit import bits
from kit.altering import alter
from kit.hospital import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import CodeType, FrameType

    import duckdb
    import pytest

    from adomnia.catalog.model import Catalog
    from kit.hospital import Rows

MOST_WARM_UPS = 40
_STEPS = 10  # of SQLite's own machine, in which scans are seen whose rows nobody gets
# How often a thread looks whether it still has to wait is a matter of time; the rest is the meter itself.
_NOT_COUNTED = {threading.__file__, __file__, bits.__file__}


@dataclass(frozen=True)
class Costs:
    """How often: Python functions called, statements sent to each database, ledger rows read, writes made durable."""

    calls: int
    duckdb: int
    sqlite: int
    rows: int
    fsyncs: int

    def beyond(self, bounds: Costs) -> dict[str, tuple[int, int]]:
        """What is above its bound, with the bound."""
        found = {each.name: (getattr(self, each.name), getattr(bounds, each.name)) for each in fields(self)}
        return {name: (cost, bound) for name, (cost, bound) in found.items() if cost > bound}


class Meter:
    """Counts what is done for one question at a time, in the thread that asks and in the one that writes the ledger."""

    def __init__(self, begin: Callable[[], None]) -> None:
        self.counted: Counter[str] = Counter()
        self.functions: Counter[CodeType] = Counter()
        self._begin, self._on = begin, False

    def settle(self, ask: Callable[[], object]) -> Costs:
        """What asking costs once all that is remembered is remembered: three times the same in a row."""
        costs = [self.measure(ask) for _ in range(3)]
        while len(set(costs[-3:])) > 1:
            assert len(costs) < MOST_WARM_UPS, f"Equal questions do not come to cost the same: {costs}"
            costs.append(self.measure(ask))
        return costs[-1]

    def measure(self, ask: Callable[[], object]) -> Costs:
        """What asking once costs."""
        self.counted.clear()
        self.functions.clear()
        self._begin()
        self._on = True
        collects = gc.isenabled()
        gc.disable()  # what it ends may call functions, whenever it happens to run
        try:
            self.profile(ask)
        finally:
            self._on = False
            if collects:
                gc.enable()
        return Costs(sum(self.functions.values()), *(self.counted[each.name] for each in fields(Costs)[1:]))

    def profile(self, work: Callable[[], Any]) -> Any:
        """Do a part of the work, in whichever thread, and count its calls."""
        if not self._on:
            return work()
        sys.setprofile(self._count_call)
        try:
            return work()
        finally:
            sys.setprofile(None)

    def watch_ledger(self, ledger: Ledger) -> None:
        """Count what the writer of a ledger does for a group, and not how it waits for the next."""
        store = ledger._writer._store
        run = store.run
        store.run = lambda works: self.profile(lambda: run(works))

    def watch_sqlite(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        """Count the statements, rows and durable transactions of a connection."""
        changes = 0

        def trace(statement: str) -> None:
            nonlocal changes
            self.counted["sqlite"] += 1
            if statement.startswith("BEGIN"):
                changes = connection.total_changes
            if statement == "COMMIT" and connection.total_changes > changes:  # the log is waited for
                self.counted["fsyncs"] += 1

        def read(_cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> tuple[Any, ...]:
            self.counted["rows"] += 1
            return row

        def step() -> None:
            self.counted["steps"] += 1

        connection.set_trace_callback(trace)
        connection.set_progress_handler(step, _STEPS)
        connection.row_factory = read
        return connection

    def watch_duckdb(self, running: Any) -> None:
        """Count the statements that an engine runs."""
        open_cursor = running.cursor

        @contextmanager
        def cursor() -> Iterator[_Cursor]:
            with open_cursor() as opened:
                yield _Cursor(opened, self)

        running.cursor = cursor

    def _count_call(self, frame: FrameType, event: str, _given: object) -> None:
        if event == "call" and frame.f_code.co_filename not in _NOT_COUNTED:
            self.functions[frame.f_code] += 1


class _Cursor:
    def __init__(self, cursor: duckdb.DuckDBPyConnection, meter: Meter) -> None:
        self._cursor, self._meter = cursor, meter

    def execute(self, *given: Any) -> Any:
        self._meter.counted["duckdb"] += 1
        return self._cursor.execute(*given)

    def sql(self, *given: Any, **named: Any) -> Any:
        self._meter.counted["duckdb"] += 1
        return self._cursor.sql(*given, **named)

    def fetchall(self) -> Any:
        return self._cursor.fetchall()


def forget_all() -> None:
    """Empty all caches: what is equal to what somebody else has left there, and not the same, takes long to compare."""
    vacuity._INFORMATIVE.clear()
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "adomnia":
            for cache in (each for value in vars(module).values() for each in (value, *_list_enclosed(value))):
                if isinstance(cache, _lru_cache_wrapper):
                    cache.cache_clear()


def _list_enclosed(value: object) -> list[object]:
    """What a function remembers of where it was made, such as what it decorates."""
    return [cell.cell_contents for cell in getattr(value, "__closure__", None) or ()]


@contextmanager
def metered(
    catalog: Catalog, people: Rows, visits: Rows, folder: Path, patch: pytest.MonkeyPatch
) -> Iterator[tuple[Curator, Meter]]:
    """A curator over DuckDB in memory and a ledger in a file, and what counts all that it does."""
    connect, fsync = sqlite3.connect, os.fsync

    def draw_the_same() -> None:
        alter(curator, bits=bits.SeededBits(0))

    def count_fsync(descriptor: int) -> None:
        meter.counted["fsyncs"] += 1
        fsync(descriptor)

    forget_all()
    meter = Meter(draw_the_same)
    patch.setattr(sqlite3, "connect", lambda *given, **named: meter.watch_sqlite(connect(*given, **named)))
    patch.setattr(os, "fsync", count_fsync)
    engine = load(catalog, people, visits).inner
    meter.watch_duckdb(engine._running)
    ledger = Ledger.open(folder / LEDGER, catalog.budget, {each.name: each.budget for each in catalog.analysts})
    meter.watch_ledger(ledger)
    with Curator.open(catalog, engine, ledger, bits.SeededBits(0)) as curator:
        yield curator, meter
