"""Whether the server can answer questions: the ledger, the index, the disk and what hosts share are looked at."""

from __future__ import annotations

import os
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING

from adomnia.server.running.worker_states import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from adomnia.server.access import Access
    from adomnia.server.running.served_dataset import ServedDataset
    from adomnia.server.running.worker_states import WorkerState, WorkerStates

__all__ = ["Readiness", "list_checks"]

_CHECK_SECONDS = 0.5
_STUCK_SECONDS = 5.0
_LEAST_BYTES = 16 * 2**20
# Told to anybody who asks: no path, no number, no name.
LEDGER, INDEX, DISK = "the ledger cannot be written", "the index is not open", "its disk has little room left"
SHARED, DATA = "the shared database cannot be reached", "the database of its data cannot be reached"
USERS = "the file of users cannot be used"
STUCK, MISSING = "its checks do not end", "not every worker serves"
_TROUBLES = (LEDGER, INDEX, DISK, STUCK, SHARED, DATA, USERS)


def list_checks(dataset: ServedDataset, access: Access, folder: Path) -> Mapping[str, Callable[[], bool]]:
    """What is looked at in every worker: the trouble, and whether it is absent."""

    def is_ledger_writable() -> bool:
        with dataset.curator() as curator:
            return curator.ledger.trouble is None

    def is_index_open() -> bool:
        with dataset.curator() as curator:
            return curator.engine.is_open()

    def is_data_there() -> bool:
        with dataset.curator() as curator:
            return curator.engine.is_reachable()

    return {
        LEDGER: is_ledger_writable,
        INDEX: is_index_open,
        DISK: lambda: has_room(folder),
        USERS if access.shared is None else SHARED: access.is_usable,
        DATA: is_data_there,
    }


def has_room(folder: Path) -> bool:
    """Whether the disk of a folder has room for more entries, answers and files."""
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize >= _LEAST_BYTES and (disk.f_favail > 0 or disk.f_files == 0)


class Readiness:
    """Checks this worker in a thread of its own; its event loop tells the others what was found."""

    def __init__(
        self, states: WorkerStates, place: int, checks: Mapping[str, Callable[[], bool]], report: Callable[[str], None]
    ) -> None:
        self._states, self._place, self._checks, self._report = states, place, checks, report
        self._troubles: frozenset[str] = frozenset()
        self._checked = monotonic()
        self._ended = Event()
        self._watcher = Thread(target=self._watch, name="adomnia-readiness", daemon=True)

    def watch(self) -> None:
        """Check from now on."""
        self._watcher.start()

    def close(self) -> None:
        self._ended.set()

    def check(self) -> None:
        """Look at everything now; what raises is in trouble."""
        found = frozenset(trouble for trouble, is_absent in self._checks.items() if not _holds(is_absent))
        for trouble in sorted(found - self._troubles):
            self._report(f"Not ready: {trouble}.")
        for trouble in sorted(self._troubles - found):
            self._report(f"Over: {trouble}.")
        self._troubles, self._checked = found, monotonic()

    def tell(self) -> None:
        """Tell the state of this worker; to be called by its event loop, whose life it proves."""
        troubles = self._troubles | ({STUCK} if monotonic() - self._checked > _STUCK_SECONDS else frozenset())
        bits = sum(1 << bit for bit, trouble in enumerate(_TROUBLES) if trouble in troubles)
        self._states.write(self._place, Stage.SERVING, bits)

    def must_restart(self) -> bool:
        """Whether only another process in place of this one helps: an engine that broke takes no statement any more."""
        return INDEX in self._troubles

    def count_workers(self) -> tuple[int, int]:
        """How many workers serve, and how many there should be."""
        return len(self._list_serving()), self._states.places

    def list_problems(self) -> list[str]:
        """What is wrong with any worker, in words for anybody; nothing if all of them can answer."""
        serving = self._list_serving()
        bits = [1 << bit for bit in range(len(_TROUBLES)) if any(state.troubles >> bit & 1 for state in serving)]
        found = [trouble for bit, trouble in enumerate(_TROUBLES) if 1 << bit in bits]
        return found + ([MISSING] if len(serving) < self._states.places else [])

    def _list_serving(self) -> list[WorkerState]:
        states = map(self._states.read, range(self._states.places))
        return [state for state in states if state.is_serving()]

    def _watch(self) -> None:
        while not self._ended.wait(_CHECK_SECONDS):
            self.check()


def _holds(is_absent: Callable[[], bool]) -> bool:
    try:
        return is_absent()
    except Exception:  # noqa: BLE001 - whatever it is, the thing that is looked at cannot be used
        return False
