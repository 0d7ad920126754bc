"""Whether the server can answer questions: each part that they need is tried again and again, as they would use it."""

from __future__ import annotations

import os
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING

from adomnia.api.running.worker_states import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from adomnia.api.access import Access
    from adomnia.api.running.served_dataset import ServedDataset
    from adomnia.api.running.worker_states import WorkerState, WorkerStates

_CHECK_SECONDS = 0.5
_STUCK_SECONDS = 5.0  # of one check, after which the part is taken for one that cannot be used
_LEAST_BYTES = 16 * 2**20
# Told to anybody who asks: no path, no number, no name.
LEDGER, INDEX, DISK = "the ledger cannot be used", "the index is not open", "its disk has little room left"
SHARED, DATA = "the shared database cannot be reached", "the database of its data cannot be reached"
USERS = "the file of users cannot be used"
MISSING = "not every worker serves"


def list_checks(dataset: ServedDataset, access: Access, folder: Path) -> Mapping[str, Callable[[], bool]]:
    """What is tried in every worker: the trouble, and whether it is absent. What raises is in trouble."""

    def is_ledger_usable() -> bool:
        with dataset.curator() as curator:
            curator.ledger.probe()
            return curator.ledger.trouble is None

    def is_index_open() -> bool:
        with dataset.curator() as curator:
            return curator.engine.is_open()

    def is_data_there() -> bool:
        with dataset.curator() as curator:
            return curator.engine.is_reachable()

    return {
        LEDGER: is_ledger_usable,
        INDEX: is_index_open,
        DISK: lambda: has_room(folder),
        USERS if access.shared is None else SHARED: access.is_usable,
        DATA: is_data_there,
    }


def has_room(folder: Path) -> bool:
    """Whether the disk of a folder has room for more entries, answers and files."""
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize >= _LEAST_BYTES and (disk.f_favail > 0 or disk.f_files == 0)


class _Check:
    """One part that is tried, and whether it can be used."""

    def __init__(self, is_absent: Callable[[], bool]) -> None:
        self._is_absent = is_absent
        self.failed = False
        self._began: float | None = None

    def run(self) -> None:
        self._began = monotonic()
        try:
            self.failed = not self._is_absent()
        except Exception:  # noqa: BLE001 - whatever it is, the part cannot be used
            self.failed = True
        self._began = None

    def is_in_trouble(self) -> bool:
        """Whether the last try failed, or does not end."""
        began = self._began
        return self.failed or (began is not None and monotonic() - began > _STUCK_SECONDS)


class Readiness:
    """Tries each part of this worker in a thread of its own; its event loop tells the others what was found."""

    def __init__(
        self, states: WorkerStates, place: int, checks: Mapping[str, Callable[[], bool]], report: Callable[[str], None]
    ) -> None:
        self._states, self._place, self._report = states, place, report
        self._checks = {trouble: _Check(is_absent) for trouble, is_absent in checks.items()}
        self._troubles: list[str] = []
        self._ended = Event()

    def watch(self) -> None:
        """Try everything from now on; a part that hangs keeps nobody from trying the others."""
        for check in self._checks.values():
            Thread(target=self._watch, args=(check,), name="adomnia-readiness", daemon=True).start()

    def close(self) -> None:
        self._ended.set()

    def check(self) -> None:
        """Try everything now."""
        for check in self._checks.values():
            check.run()

    def tell(self) -> None:
        """Tell the state of this worker; to be called by its event loop, whose life it proves."""
        former, self._troubles = self._troubles, [name for name, check in self._checks.items() if check.is_in_trouble()]
        bits = sum(1 << bit for bit, trouble in enumerate(self._checks) if trouble in self._troubles)
        self._states.write(self._place, Stage.SERVING, bits)
        for trouble in self._troubles:
            if trouble not in former:
                self._report(f"Not ready: {trouble}.")
        for trouble in former:
            if trouble not in self._troubles:
                self._report(f"Over: {trouble}.")

    def must_restart(self) -> bool:
        """Whether only another process in place of this one helps: an engine that broke takes no statement any more."""
        return self._checks[INDEX].failed

    def count_workers(self) -> tuple[int, int]:
        """How many workers serve, and how many there should be."""
        return len(self._list_serving()), self._states.places

    def list_problems(self) -> list[str]:
        """What is wrong with any worker, in words for anybody; nothing if all of them can answer."""
        serving = self._list_serving()
        found = [
            trouble for bit, trouble in enumerate(self._checks) if any(state.troubles >> bit & 1 for state in serving)
        ]
        return found + ([MISSING] if len(serving) < self._states.places else [])

    def _list_serving(self) -> list[WorkerState]:
        states = map(self._states.read, range(self._states.places))
        return [state for state in states if state.is_serving()]

    def _watch(self, check: _Check) -> None:
        while not self._ended.wait(_CHECK_SECONDS):
            check.run()
