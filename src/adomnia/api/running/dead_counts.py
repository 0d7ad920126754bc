"""Adds up what dead workers counted: however often one is replaced, a scrape reads a bounded number of files."""

from __future__ import annotations

import fcntl
import os
import struct
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_LOCK = "counts.lock"
_DEAD = "dead"
_KINDS = ("counter", "histogram")


@contextmanager
def reading_counts(folder: Path) -> Iterator[None]:
    """Keep the files of counts as they are, for as long as the block reads them: none of them is added up twice."""
    with (folder / _LOCK).open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield


def add_up_dead(folder: Path, alive: Iterable[int]) -> None:
    """Add the counts of all workers but these to those of the dead, and delete their files.

    While somebody reads, or on a full disk, it is left for the next time.
    """
    with suppress(OSError), (folder / _LOCK).open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for kind in _KINDS:
            _add_up(folder, kind, {f"{kind}_{process}.db" for process in alive})


def _add_up(folder: Path, kind: str, alive: set[str]) -> None:
    total = folder / f"{kind}_{_DEAD}.db"
    ended = [path for path in folder.glob(f"{kind}_*.db") if path != total and path.name not in alive]
    if not ended:
        return
    counts: dict[str, float] = {}
    for path in (total, *ended):
        for key, value in _read(path):
            counts[key] = counts.get(key, 0.0) + value
    unnamed = total.with_suffix(".new")
    with unnamed.open("wb") as file:
        _write(file, counts)
    unnamed.replace(total)
    for path in ended:
        path.unlink()


def _read(path: Path) -> list[tuple[str, float]]:
    from prometheus_client.mmap_dict import MmapedDict  # not above: it slows the start of the parent

    if not path.exists() or not path.stat().st_size:
        return []
    return [(key, value) for key, value, _, _ in MmapedDict.read_all_values_from_file(path)]  # type: ignore[no-untyped-call]


def _write(file: IO[bytes], counts: dict[str, float]) -> None:
    """Write a file of counts in the form of prometheus_client: the bytes in use, then each key and its value.

    Not through its own class, which maps the file into memory: on a full disk that would end the parent by a signal.
    """
    body = b"".join(_encode(key.encode(), value) for key, value in counts.items())
    file.write(struct.pack("ii", 8 + len(body), 0) + body)
    file.flush()
    os.fsync(file.fileno())


def _encode(key: bytes, value: float) -> bytes:
    padded = key + b" " * (8 - (len(key) + 4) % 8)
    return struct.pack(f"i{len(padded)}sdd", len(key), padded, value, 0.0)
