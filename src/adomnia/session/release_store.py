"""Where the releases of a dataset are kept: a folder each, or memory where the dataset has no folder."""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from adomnia.catalog.model import is_name
from adomnia.errors import Refusal
from adomnia.releases.arrays import Unpacker
from adomnia.releases.folder import SUMMARY, read_folder, read_summary, write_folder
from adomnia.releases.product_form import read_attributes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from adomnia.engines.contract import Progress
    from adomnia.releases.model import Release
    from adomnia.statistics.products import Attribute

__all__ = ["FOLDER", "ReleaseEntry", "ReleaseStore"]

FOLDER = "releases"  # in that of index and ledger
_OPEN = 8  # releases that stay in memory
_log = logging.getLogger("adomnia.releases")


@dataclass(frozen=True)
class ReleaseEntry:
    """What is told of a release without opening it: its columns, its question, and how it was made."""

    name: str
    question: str
    about: Mapping[str, Any]
    notes: tuple[str, ...]
    attributes: tuple[Attribute, ...]

    @property
    def private(self) -> bool:
        """Whether one analyst alone bought it."""
        return bool(self.about.get("private"))

    @classmethod
    def of(cls, release: Release) -> ReleaseEntry:
        """What is told of a release that is open."""
        return cls(release.name, release.question, release.about, release.notes, release.product.attributes)


class ReleaseStore:
    """Releases by their names, whatever the case of letters. The ledger decides which of them count."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._known: OrderedDict[str, Release] = OrderedDict()
        self._told: dict[str, tuple[tuple[int, int], ReleaseEntry]] = {}  # with which file it was read from
        self._guard = Lock()

    def keep(self, release: Release, progress: Progress) -> None:
        """Keep a release for good, in the stead of one of the same name."""
        if self.folder is not None:
            write_folder(release, self.folder / release.name.lower(), progress)
        self._remember(release)

    def find(self, name: str) -> Release | None:
        """A release, whoever made it; None where there is none that is whole."""
        with self._guard:
            known = self._known.get(name.lower())
        if known is not None or self.folder is None or not self._has(name):
            return known
        try:
            found = read_folder(self.folder / name.lower())
        except Refusal as fault:
            _log.warning("Release %s is not whole: %s", name, fault)
            return None
        self._remember(found)
        return found

    def describe(self, name: str) -> ReleaseEntry | None:
        """What is told of a release; None where there is none that is whole."""
        with self._guard:
            known = self._known.get(name.lower())
        if known is not None:
            return ReleaseEntry.of(known)
        if self.folder is None or not self._has(name):
            return None
        try:
            return self._read_entry(self.folder / name.lower())
        except (Refusal, OSError, ValueError, KeyError, TypeError) as fault:
            _log.warning("Release %s is not whole: %s", name, fault)
            return None

    def names(self) -> list[str]:
        """The names of all that is kept, counted or not."""
        with self._guard:
            known = set(self._known)
        if self.folder is not None and self.folder.is_dir():
            known |= {each.name for each in self.folder.iterdir() if is_name(each.name)}
        return sorted(known)

    def _read_entry(self, place: Path) -> ReleaseEntry:
        """What a folder tells, which is read again only if its file is another."""
        written = (place / SUMMARY).stat()
        file = written.st_ino, written.st_mtime_ns
        kept = self._told.get(place.name)
        if kept is not None and kept[0] == file:
            return kept[1]
        summary = read_summary(place)
        unpacker = Unpacker(np.zeros(0, np.int64), np.zeros(0, np.float64))
        attributes = read_attributes(unpacker.unpack({"attributes": summary["product"]["attributes"]}))
        told = summary["question"], unpacker.unpack(summary["about"]), tuple(summary["notes"])
        entry = ReleaseEntry(summary["name"], *told, attributes)
        self._told[place.name] = file, entry
        return entry

    def _has(self, name: str) -> bool:
        return self.folder is not None and is_name(name) and (self.folder / name.lower() / SUMMARY).is_file()

    def _remember(self, release: Release) -> None:
        with self._guard:
            self._known[release.name.lower()] = release
            self._known.move_to_end(release.name.lower())
            while self.folder is not None and len(self._known) > _OPEN:
                self._known.popitem(last=False)
