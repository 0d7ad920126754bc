"""Peak memory of processes, and disk of folders: each work in a process of its own, so that none hides another."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_AGAIN_SECONDS = 0.5


def in_a_process_of_its_own(work: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401 - whatever it gives
    """What a function of a module gives in a new process, which ends with it."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def own_peak() -> int:
    """The most memory in bytes that this process held; what getrusage tells began with that of its parent."""
    return _field("self", "VmHWM") * 1024


class Watch:
    """Looks again and again at how much memory other processes hold, and how much disk a folder; keeps the most."""

    def __init__(self, folder: Path, head: Callable[[], int | None]) -> None:
        self.memory, self.disk = 0, 0
        self._folder, self._head, self._ended = folder, head, Event()
        self._watcher = Thread(target=self._look_on, daemon=True)

    def __enter__(self) -> Self:
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._watcher.join()
        self._look()

    def _look_on(self) -> None:
        while not self._ended.wait(_AGAIN_SECONDS):
            self._look()

    def _look(self) -> None:
        head = self._head()
        if head is not None:
            self.memory = max(self.memory, sum(_proportional(process) for process in list_family(head)))
        self.disk = max(self.disk, size_of(self._folder))


def list_family(head: int) -> Iterator[int]:
    """A process, and all that it started."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            parents[int(entry.name)] = _field(entry.name, "PPid")
    found = [head]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    yield from found


def size_of(folder: Path) -> int:
    """The bytes of all files in a folder."""
    return sum(_size(Path(place) / name) for place, _, names in os.walk(folder) for name in names)


def _size(path: Path) -> int:
    try:
        return path.stat().st_blocks * 512
    except OSError:  # it is gone already
        return 0


def _proportional(process: int) -> int:
    """The memory of a process in bytes; of what several share, its part."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


def _field(process: str, name: str) -> int:
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{name}:")), 0)
