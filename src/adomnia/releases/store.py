"""Where the releases of a dataset are kept: a folder each, or memory where the dataset has no folder."""

from __future__ import annotations

import logging
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adomnia.catalog.model import is_name
from adomnia.errors import Refusal
from adomnia.messages.texts import note_of
from adomnia.releases.arrays import Unpacker
from adomnia.releases.facts import ReleaseFacts
from adomnia.releases.folder import SUMMARY, read_folder, read_summary, write_folder
from adomnia.releases.parquet_files import FAULTS
from adomnia.releases.product_form import read_attributes

if TYPE_CHECKING:
    from pathlib import Path

    from adomnia.engines.contract import Progress
    from adomnia.messages.texts import Note
    from adomnia.releases.model import Release
    from adomnia.statistics.products import Attribute

FOLDER = "releases"  # in that of index and ledger
_OPEN = 8  # releases that stay in memory
_OWN = ".own"  # the folder of an analyst: no release can be called that
_log = logging.getLogger("adomnia.releases")


class _Key(NamedTuple):
    """Who bought a release, or None where everybody reads it, and its name in small letters."""

    buyer: str | None
    name: str


@dataclass(frozen=True)
class ReleaseEntry:
    """What is told of a release without opening it: its columns, its question, and how it was made."""

    name: str
    question: str
    facts: ReleaseFacts
    notes: tuple[Note, ...]
    attributes: tuple[Attribute, ...]

    @property
    def about(self) -> dict[str, Any]:
        """How it was made, in plain data."""
        return self.facts.to_record()

    @property
    def private(self) -> bool:
        """Whether one analyst alone bought it."""
        return bool(self.facts.private)

    @classmethod
    def of(cls, release: Release) -> ReleaseEntry:
        """What is told of a release that is open."""
        return cls(release.name, release.question, release.facts, release.notes, release.product.attributes)


class ReleaseStore:
    """Releases by their names, whatever the case of letters. The ledger decides which of them count.

    Every analyst has a folder of their own for what they bought: a name in it says nothing to anybody else.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._known: OrderedDict[_Key, Release] = OrderedDict()
        self._told: dict[Path, tuple[tuple[int, int], ReleaseEntry]] = {}  # with which file it was read from
        self._guard = Lock()

    def keep(self, release: Release, progress: Progress) -> None:
        """Keep a release for good, in the stead of one of the same name."""
        key = _key(release.name, release.facts.buyer)
        if self.folder is not None:
            write_folder(release, self._place(self.folder, key), progress)
        self._remember(key, release)

    def find(self, name: str, buyer: str | None = None) -> Release | None:
        """A published release, or one that an analyst bought; None where there is none that is whole."""
        key = _key(name, buyer)
        with self._guard:
            known = self._known.get(key)
        place = self._find_place(key)
        if known is not None or place is None:
            return known
        try:
            found = read_folder(place)
        except Refusal as fault:
            _log.warning("Release %s is not whole: %s", name, fault)
            return None
        self._remember(key, found)
        return found

    def describe(self, name: str, buyer: str | None = None) -> ReleaseEntry | None:
        """What is told of a release; None where there is none that is whole."""
        key = _key(name, buyer)
        with self._guard:
            known = self._known.get(key)
        if known is not None:
            return ReleaseEntry.of(known)
        place = self._find_place(key)
        if place is None:
            return None
        try:
            return self._read_entry(place)
        except (Refusal, *FAULTS) as fault:
            _log.warning("Release %s is not whole: %s", name, fault)
            return None

    def names(self, buyer: str | None = None) -> list[str]:
        """The names of all that is kept for everybody, or for an analyst; counted or not."""
        with self._guard:
            known = {key.name for key in self._known if key.buyer == buyer}
        place = None if self.folder is None else self._list_place(self.folder, buyer)
        if place is not None and place.is_dir():
            known |= {each.name for each in place.iterdir() if is_name(each.name)}
        return sorted(known)

    def separate(self) -> None:
        """Move what analysts bought to folders of their own: earlier versions kept all releases in one."""
        for name in self.names():
            entry = self.describe(name)
            buyer = None if entry is None else entry.facts.buyer
            if self.folder is None or buyer is None:
                continue
            place = self._place(self.folder, _key(name, buyer))
            with suppress(OSError):  # another process was first, or the disk is read-only
                place.parent.mkdir(exist_ok=True)
                self._place(self.folder, _key(name, None)).rename(place)

    def _read_entry(self, place: Path) -> ReleaseEntry:
        """What a folder tells, which is read again only if its file is another."""
        written = (place / SUMMARY).stat()
        file = written.st_ino, written.st_mtime_ns
        kept = self._told.get(place)
        if kept is not None and kept[0] == file:
            return kept[1]
        summary = read_summary(place)
        unpacker = Unpacker(np.zeros(0, np.int64), np.zeros(0, np.float64))
        attributes = read_attributes(unpacker.unpack({"attributes": summary["product"]["attributes"]}))
        facts = ReleaseFacts.from_record(unpacker.unpack(summary["about"]))
        notes = tuple(map(note_of, summary["notes"]))
        entry = ReleaseEntry(summary["name"], summary["question"], facts, notes, attributes)
        self._told[place] = file, entry
        return entry

    def _find_place(self, key: _Key) -> Path | None:
        """The folder of a release, if there is one."""
        if self.folder is None or not is_name(key.name):
            return None
        place = self._place(self.folder, key)
        return place if (place / SUMMARY).is_file() else None

    def _place(self, folder: Path, key: _Key) -> Path:
        return self._list_place(folder, key.buyer) / key.name

    @staticmethod
    def _list_place(folder: Path, buyer: str | None) -> Path:
        return folder if buyer is None else folder / f"{buyer}{_OWN}"

    def _remember(self, key: _Key, release: Release) -> None:
        with self._guard:
            self._known[key] = release
            self._known.move_to_end(key)
            while self.folder is not None and len(self._known) > _OPEN:
                self._known.popitem(last=False)


def _key(name: str, buyer: str | None) -> _Key:
    return _Key(buyer, name.lower())
