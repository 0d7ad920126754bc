"""The dataset that is served: opened, lent to questions, and replaced by a new version while questions go on."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING

from adomnia.catalog.read import FILE
from adomnia.errors import AdomniaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from adomnia.session.curator import Curator

WATCH_SECONDS = 1.0
_LONGEST_PAUSE = 63  # checks that are skipped between two tries of the same catalog


@dataclass(eq=False)
class Edition:
    """The dataset, opened under one text of its catalog; `identity` is the hash of that text."""

    curator: Curator
    identity: str
    _leases: int = field(default=0, repr=False)
    _retired: bool = field(default=False, repr=False)


class ServedDataset:
    """The dataset of one folder. Its catalog is checked for changes every second.

    A changed catalog is opened beside the old edition, whose questions go on, and then replaces it; the old edition
    closes with the last of its questions. If the new one cannot be opened the old one stays, `problem` says why, and
    opening is tried again, less and less often.
    """

    def __init__(
        self,
        folder: Path,
        opener: Callable[[Path], Curator],
        report: Callable[[str, str], None] = lambda _level, _why: None,
    ) -> None:
        self._folder, self._opener, self._report = folder, opener, report
        self._lock = Lock()
        self._ended = Event()
        self._served = self._tried = self._read_catalog()
        self._edition = self._open(self._served)
        self._pause = self._skipped = 0
        self.problem: str | None = None
        self._refused = b""  # the text that the problem is about
        self._watcher = Thread(target=self._watch, name="adomnia-catalog", daemon=True)

    def watch(self) -> None:
        """Check the catalog from now on."""
        self._watcher.start()

    @contextmanager
    def lease(self) -> Iterator[Edition]:
        """The edition that is served now; it stays open at least until the block ends."""
        with self._lock:
            edition = self._edition
            edition._leases += 1
        try:
            yield edition
        finally:
            self._give_back(edition)

    @contextmanager
    def curator(self) -> Iterator[Curator]:
        with self.lease() as edition:
            yield edition.curator

    def reload(self) -> None:
        """Replace the edition if the catalog has changed."""
        self._compare(self._read_catalog())

    def find_problem(self, identity: str) -> str | None:
        """Why the catalog whose text has this hash could not be opened; None if it was not tried, or is served."""
        return self.problem if sha256(self._refused).hexdigest() == identity else None

    def _compare(self, text: bytes) -> None:
        if text == self._served:
            self.problem = None
        elif text != self._tried or self._skipped >= self._pause:
            self._try(text)
        else:
            self._skipped += 1

    def close(self) -> None:
        """Stop checking, and close the dataset once no question uses it."""
        self._ended.set()
        if self._watcher.is_alive():
            self._watcher.join()
        self._retire(self._edition)

    def _watch(self) -> None:
        before = self._served
        while not self._ended.wait(WATCH_SECONDS):
            text = self._read_catalog()
            if text == before:  # else somebody may be writing it just now
                self._compare(text)
            before = text

    def _read_catalog(self) -> bytes:
        try:
            return (self._folder / FILE).read_bytes()
        except OSError:
            return b""

    def _open(self, text: bytes) -> Edition:
        """Open the dataset. If the catalog changes meanwhile, its text is no longer this one and is opened again."""
        return Edition(self._opener(self._folder), sha256(text).hexdigest())

    def _try(self, text: bytes) -> None:
        again, self._tried, self._skipped = text == self._tried, text, 0
        self._pause = min(2 * self._pause + 1, _LONGEST_PAUSE) if again else 0
        try:
            fresh = self._open(text)
        except AdomniaError as fault:
            self._keep(text, str(fault))
        except Exception as fault:  # noqa: BLE001 - whatever is wrong with the new version, the old one answers
            self._keep(text, f"The catalog could not be opened: {type(fault).__name__}.")
        else:
            self._served = text
            self._replace(fresh)

    def _keep(self, text: bytes, why: str) -> None:
        """Go on with the old edition."""
        self._refused = text
        if why != self.problem:
            self._report("error", why)
        self.problem = why

    def _replace(self, fresh: Edition) -> None:
        with self._lock:
            former, self._edition = self._edition, fresh
        self.problem = None
        self._report("info", f"Serving version {fresh.curator.catalog.version}.")
        self._retire(former)

    def _give_back(self, edition: Edition) -> None:
        with self._lock:
            edition._leases -= 1
            last = edition._retired and not edition._leases
        if last:
            edition.curator.close()

    def _retire(self, edition: Edition) -> None:
        with self._lock:
            edition._retired = True
            unused = not edition._leases
        if unused:
            edition.curator.close()
