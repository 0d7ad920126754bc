"""The dataset that is served: lent to whoever answers, and exchanged for a new version while questions go on."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING

from adomnia.catalog.read import FILE
from adomnia.errors import Failure, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from adomnia.session.curator import Curator

__all__ = ["Edition", "Served"]

WATCH_SECONDS = 1.0
_LONGEST_PAUSE = 63  # looks that are skipped between two tries of the same text


@dataclass(eq=False)
class Edition:
    """The dataset as one text of its catalog describes it; `identity` stands for that text."""

    curator: Curator
    identity: str
    _lent: int = field(default=0, repr=False)
    _retired: bool = field(default=False, repr=False)


class Served:
    """One folder, opened. Its catalog is looked at every second.

    A catalog that changed is opened beside the old one, whose questions go on, and then takes its place; the old one
    closes when the last of them ends. If it cannot be opened the old one stays, `problem` says why, and it is tried
    again, less and less often.
    """

    def __init__(
        self,
        folder: Path,
        opener: Callable[[Path], Curator],
        told: Callable[[str, str], None] = lambda _level, _why: None,
    ) -> None:
        self._folder, self._opener, self._told = folder, opener, told
        self._lock = Lock()
        self._ended = Event()
        self._served = self._tried = self._text()
        self._edition = self._opened(self._served)
        self._pause = self._skipped = 0
        self.problem: str | None = None
        self._watcher = Thread(target=self._watch, name="adomnia-catalog", daemon=True)

    def watch(self) -> None:
        """Look at the catalog from now on."""
        self._watcher.start()

    @contextmanager
    def lease(self) -> Iterator[Edition]:
        """The edition that is served now; it stays open until it is given back."""
        with self._lock:
            edition = self._edition
            edition._lent += 1
        try:
            yield edition
        finally:
            self._give_back(edition)

    @contextmanager
    def curator(self) -> Iterator[Curator]:
        with self.lease() as edition:
            yield edition.curator

    def look(self) -> None:
        """Exchange the edition if the catalog is not the one that is served."""
        self._compare(self._text())

    def _compare(self, text: bytes) -> None:
        if text == self._served:
            self.problem = None
        elif text != self._tried or self._skipped >= self._pause:
            self._try(text)
        else:
            self._skipped += 1

    def close(self) -> None:
        """Stop watching, and let go of the dataset once nobody has it."""
        self._ended.set()
        if self._watcher.is_alive():
            self._watcher.join()
        self._retire(self._edition)

    def _watch(self) -> None:
        before = self._served
        while not self._ended.wait(WATCH_SECONDS):
            text = self._text()
            if text == before:  # else somebody may be in the middle of writing it
                self._compare(text)
            before = text

    def _text(self) -> bytes:
        try:
            return (self._folder / FILE).read_bytes()
        except OSError:
            return b""

    def _opened(self, text: bytes) -> Edition:
        """What was opened is named after the text before: one that changed meanwhile is read again at the next look."""
        return Edition(self._opener(self._folder), sha256(text).hexdigest())

    def _try(self, text: bytes) -> None:
        again, self._tried, self._skipped = text == self._tried, text, 0
        self._pause = min(2 * self._pause + 1, _LONGEST_PAUSE) if again else 0
        try:
            fresh = self._opened(text)
        except (Refusal, Failure) as fault:
            self._keep(str(fault))
        except Exception as fault:  # noqa: BLE001 - whatever is wrong with the new version, the old one answers
            self._keep(f"The catalog could not be opened: {type(fault).__name__}.")
        else:
            self._served = text
            self._exchange(fresh)

    def _keep(self, why: str) -> None:
        if why != self.problem:
            self._told("error", why)
        self.problem = why

    def _exchange(self, fresh: Edition) -> None:
        with self._lock:
            former, self._edition = self._edition, fresh
        self.problem = None
        self._told("info", f"Serving version {fresh.curator.catalog.version}.")
        self._retire(former)

    def _give_back(self, edition: Edition) -> None:
        with self._lock:
            edition._lent -= 1
            last = edition._retired and not edition._lent
        if last:
            edition.curator.close()

    def _retire(self, edition: Edition) -> None:
        with self._lock:
            edition._retired = True
            free = not edition._lent
        if free:
            edition.curator.close()
