"""The folder beside the ledger: the key of the index, the index, and a record of which data each version stood for."""

import fcntl
import hashlib
import hmac
import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from time import time_ns
from types import MappingProxyType
from typing import Any, Protocol
from uuid import uuid4

from adomnia.catalog.model import USUAL_CSV, Catalog, Table
from adomnia.engines.sources.files import list_files
from adomnia.engines.sources.snapshots import Snapshots
from adomnia.errors import Failure, Refusal, Unavailable
from adomnia.noise import SystemBits

_log = logging.getLogger("adomnia.index")
_FILE = ".duckdb"
# Of the index, by its ending: raise one when layout or order change, and every index of that kind is built anew.
_FORMATS: Mapping[str, int] = MappingProxyType({_FILE: 5, ".spark": 6})
_KEY_BYTES = 32
# Beside the tables of an index that is a folder; no name of a table has a dot.
POINTER = "place.txt"  # where the tables are, if they are not in it
_USED = "used.lock"  # what is locked by whoever reads from it
_RACY_NANOSECONDS = 2 * 10**9  # a file that changed this shortly before it was read may change again unnoticed


class Fingerprints(Protocol):
    """Looks at tables that are in no file of this machine."""

    def fingerprint(self, url: str, name: str) -> str:
        """What tells the rows of a table from others."""
        ...


def fresh_key() -> bytes:
    """A new key for the order of rows."""
    return SystemBits().words(_KEY_BYTES // 8).tobytes()


def find_index(folder: Path, catalog: Catalog, ending: str = _FILE) -> Path | None:
    """The index of a catalog as its data was last read, if there is one; nothing is read for this."""
    path = folder / "index.json"
    known = _read_record(path)["files"] if path.exists() else {}
    if any(not _is_known(catalog, table, known.get(table.name, {})) for table in catalog.tables):
        return None
    index = folder / _name_index(catalog, known, ending)
    return index if index.exists() else None


def find_place(index: Path) -> str:
    """Where the tables of an index lie that is a folder: in it, or where it points to."""
    pointer = index / POINTER
    return pointer.read_text() if pointer.exists() else f"file:{index}"


class State:
    """Files that nobody but the curator should read: the folder is closed to other users."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder = folder
        self.spill = folder / "spill"

    def key(self) -> bytes:
        """The key of the order of rows: drawn once for a dataset, shown to nobody."""
        path = self.folder / "index.key"
        if not path.exists():
            _write_private(path, fresh_key())
        key = path.read_bytes()
        if len(key) != _KEY_BYTES:
            raise Failure()
        return key

    def index(
        self,
        catalog: Catalog,
        build: Callable[[Path, Any], None],
        ending: str = _FILE,
        look: Callable[[], AbstractContextManager[Fingerprints]] = Snapshots,
        *,
        anew: bool = False,
    ) -> Path:
        """The index of this catalog and its data, made by `build(path, snapshots)` unless it is there already.

        `look` opens what tables elsewhere are looked at with. While an index is there, nobody is asked whether their
        rows are still those that its version stands for. One that could not be opened is made `anew`; it stays until
        then: the cause may pass, and rows elsewhere may not be those any more.
        """
        with self._alone(), look() as snapshots:
            return self._index(catalog, build, ending, snapshots, anew=anew)

    def hold_index(
        self,
        catalog: Catalog,
        build: Callable[[Path, Any], None],
        ending: str,
        look: Callable[[], AbstractContextManager[Fingerprints]],
    ) -> tuple[Path, Callable[[], None]]:
        """The same of an index that is a folder, and what lets go of it.

        It is not removed before that is called, or the process ends; nor between its being found and its being held.
        """
        with self._alone(), look() as snapshots:
            path = self._index(catalog, build, ending, snapshots)
            held = (path / _USED).open("w")
            fcntl.flock(held, fcntl.LOCK_SH)
        return path, held.close

    def _index(
        self,
        catalog: Catalog,
        build: Callable[[Path, Any], None],
        ending: str,
        snapshots: Fingerprints,
        *,
        anew: bool = False,
    ) -> Path:
        record = self._record()
        prints = _fingerprints(catalog, record["files"])
        stamp = hmac.new(self.key(), b"index", "sha256").hexdigest()
        usable = record.get("key", stamp) == stamp and not anew  # another key orders rows in another way
        named = all(prints.values())  # else an index has no name yet
        seen = self._find_whole(_name_index(catalog, prints, ending), record) if usable and named else {}
        if not seen:  # what is built again is of the same rows as before
            prints |= _fingerprint_databases(catalog, snapshots)
        path = self.folder / _name_index(catalog, prints, ending)
        _check_unchanged(catalog, _data(catalog, prints), record["versions"].get(str(catalog.version), {}))
        if usable and not named:
            seen = self._find_whole(path.name, record)

        def build_unchanged(unfinished: Path) -> None:
            build(unfinished, snapshots)
            _check_still(catalog, prints)

        if not seen:
            if anew:
                _log.warning("The index cannot be opened and is built again.")
            elif usable and path.exists():
                _log.warning("The index is damaged and is built again.")
            self._build(path, build_unchanged)
            seen = _look_at(path, {})
        record["index"] = seen
        record["versions"].setdefault(str(catalog.version), {}).update(_data(catalog, prints))
        record["files"], record["key"] = prints, stamp
        _write_private(self.folder / "index.json", json.dumps(record, indent=1).encode())
        return path

    def _find_whole(self, name: str, record: dict[str, Any]) -> dict[str, Any]:
        """What is seen of an index that is as it was built; nothing where there is none."""
        known = record.get("index", {})
        seen = _look_at(self.folder / name, known)
        return seen if _is_whole(seen, known, name) else {}

    @contextmanager
    def opening(self, index: Path) -> Iterator[Path]:
        """A name of its own for one opening: DuckDB opens a name once in a process, and a new catalog may want it too.

        The name is gone as soon as the file is open; one that is found here was left by a process that died.
        """
        with self._alone():
            for left in self.folder.glob("open-*.duckdb"):
                left.unlink()
            own = self.folder / f"open-{time_ns()}.duckdb"
            own.hardlink_to(index)
            try:
                yield own
            finally:
                own.unlink()

    def _build(self, path: Path, build: Callable[[Path], None]) -> None:
        """In a room of its own, so that what is interrupted is never taken for an index.

        The name is new each time: where a process was killed, a server may still write what that process asked for.
        """
        room = self.folder / "building"
        shutil.rmtree(room, ignore_errors=True)
        room.mkdir(mode=0o700, exist_ok=True)
        try:
            built = room / f"index-{uuid4().hex}{path.suffix}"
            build(built)
            built.chmod(0o700 if built.is_dir() else 0o600)
            former = set(self.folder.glob(f"index-*{path.suffix}")) - {path}
            if path.is_dir():  # a folder is not replaced by another; whoever reads from a damaged one fails anyway
                path.replace(room / f"former-{path.name}")
            built.replace(path)
            for old in former:
                _remove(old, room)
        finally:
            shutil.rmtree(room, ignore_errors=True)

    def drop_files(self) -> None:
        """Remove indexes in files, where the index lies in a database now: rows of people stay there."""
        with self._alone():
            for old in self.folder.glob(f"index-*{_FILE}"):
                old.unlink()

    def public_prints(self, catalog: Catalog) -> dict[str, str]:
        """Hashes of the files of public tables."""
        files = [table for table in catalog.tables if table.public and not table.is_elsewhere]
        return {table.name: _fingerprint_source(catalog.folder / table.source, {})["sha256"] for table in files}

    def known_prints(self, catalog: Catalog) -> dict[str, str]:
        """What the rows of tables in a database were like when an index of this version was built there."""
        found: dict[str, str] = self._record().get("databases", {}).get(str(catalog.version), {})
        return found

    def keep_prints(self, catalog: Catalog, prints: dict[str, str]) -> None:
        """Remember what the rows of tables in a database are like."""
        with self._alone():
            record = self._record()
            record.setdefault("databases", {})[str(catalog.version)] = prints
            _write_private(self.folder / "index.json", json.dumps(record, indent=1).encode())

    def _record(self) -> dict[str, Any]:
        path = self.folder / "index.json"
        return _read_record(path) if path.exists() else {"versions": {}, "files": {}}

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One process at a time; the lock ends with the process, however it ends."""
        with (self.folder / "index.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _remove(index: Path, room: Path) -> None:
    """Remove an index; a folder only if nobody reads from it: its files are opened again and again.

    It goes into the room as a whole: of one whose removal is interrupted, nothing is left under its name.
    """
    if index.is_file():
        index.unlink()
        return
    with (index / _USED).open("w") as used, suppress(BlockingIOError):
        fcntl.flock(used, fcntl.LOCK_EX | fcntl.LOCK_NB)
        index.replace(room / f"former-{index.name}")


def _read_record(path: Path) -> dict[str, Any]:
    """What is known of data and index. It is not made up anew: it says which data a version stands for."""
    with suppress(ValueError, OSError):
        record = json.loads(path.read_bytes())
        if isinstance(record, dict) and all(isinstance(record.get(part), dict) for part in ("files", "versions")):
            return record
    why, fix = "is damaged", "put it back from a backup, or remove it if no data has changed since; then open again"
    raise Refusal(f"The file {path.name} in the folder {path.parent.name}", why, fix)


def _look_at(index: Path, known: dict[str, Any]) -> dict[str, Any]:
    """What tells an index from a damaged one, with its name; nothing where there is none.

    Of a file its hash, which is computed again only where size or time say so. Of a folder the sizes of its files.
    """
    if index.is_dir():
        files = sorted(file for file in index.rglob("*") if file.is_file() and file.parent != index)  # of its tables
        return {"name": index.name, "sizes": {str(file.relative_to(index)): file.stat().st_size for file in files}}
    return {"name": index.name, **_fingerprint(index, known)} if index.exists() else {}


def _is_whole(seen: dict[str, Any], known: dict[str, Any], name: str) -> bool:
    """Whether an index is as it was built; one that an earlier version built is taken as it is."""
    same = (seen.get(part) == known.get(part) for part in ("sha256", "sizes"))
    return known.get("name") != name or all(same)


def _fingerprints(catalog: Catalog, known: dict[str, Any]) -> dict[str, Any]:
    """Size, time and hash of every file, public ones too; it is hashed again only where size or time say so.

    Of a table in a database what is known of it under this version, if anything.
    """
    found = {}
    for table in catalog.tables:
        place, before = table.locate(catalog.folder), known.get(table.name, {})
        if isinstance(place, Path):
            found[table.name] = _fingerprint_source(place, before)
        else:
            found[table.name] = before if _is_known(catalog, table, before) else {}
    return found


def _is_known(catalog: Catalog, table: Table, before: dict[str, Any]) -> bool:
    """Whether what is known of a table is of this version of it; of a file, whether anything is known."""
    return bool(before) and (not table.is_elsewhere or before.items() >= _address(catalog, table).items())


def _fingerprint_databases(catalog: Catalog, snapshots: Fingerprints) -> dict[str, Any]:
    """Hashes of all tables in databases, as they are now."""
    found = {}
    for table in catalog.tables:
        if table.is_elsewhere:
            rows = snapshots.fingerprint(table.source, table.source_table or "")
            found[table.name] = {**_address(catalog, table), "sha256": hashlib.sha256(rows.encode()).hexdigest()}
    return found


def _address(catalog: Catalog, table: Table) -> dict[str, Any]:
    """Where a table is, and for which version it was read there."""
    return {"url": table.source, "table": table.source_table, "version": catalog.version}


def _fingerprint_source(path: Path, known: dict[str, Any]) -> dict[str, Any]:
    """Of one file its own; of several also their names, so that one more or less is a change."""
    if path.is_file():
        return _fingerprint(path, known)
    before = known.get("files", {})
    names = {str(file.relative_to(path.parent)): file for file in list_files(path)}
    files = {name: _fingerprint(file, before.get(name, {})) for name, file in names.items()}
    listed = json.dumps([(name, file["sha256"]) for name, file in files.items()])
    return {"files": files, "sha256": hashlib.sha256(listed.encode()).hexdigest()}


def _fingerprint(path: Path, known: dict[str, Any]) -> dict[str, Any]:
    try:
        status, now = path.stat(), time_ns()
        seen = {"size": status.st_size, "modified": status.st_mtime_ns}
        if known.items() >= seen.items() and known["modified"] < known["read"] - _RACY_NANOSECONDS:
            return known
        with path.open("rb") as file:
            return {**seen, "read": now, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}
    except OSError:
        raise Refusal(
            f"Source {path.name}", "is not a file that can be read", "correct its name in the catalog"
        ) from None


def _data(catalog: Catalog, prints: dict[str, Any]) -> dict[str, str]:
    """A hash of the data of each table: of its files, and of how they are read if that is declared."""
    found = {}
    for table in catalog.tables:
        found[table.name] = prints[table.name]["sha256"]
        if (read := (table.source_table, table.source_columns, table.csv)) != (None, (), USUAL_CSV):
            found[table.name] = hashlib.sha256(f"{found[table.name]} {read!r}".encode()).hexdigest()
    return found


def _check_unchanged(catalog: Catalog, data: dict[str, str], known: dict[str, str]) -> None:
    for name, digest in data.items():
        if known.get(name, digest) != digest:
            raise Refusal(
                f"The data of table {name}",
                f"changed, and version {catalog.version} stands for what it was",
                "raise `version` in catalog.toml, or put the old data back, read as it was",
            )


def _check_still(catalog: Catalog, prints: dict[str, Any]) -> None:
    """Refuse an index of files that changed while it was built: its tables could be of two moments."""
    for name, now in _fingerprints(catalog, prints).items():
        if now["sha256"] != prints[name]["sha256"]:
            why = "changed while the index was built from it"
            raise Unavailable(f"The data of table {name}", why, "open the dataset again when nobody writes it")


def _name_index(catalog: Catalog, prints: dict[str, Any], ending: str = _FILE) -> str:
    """The name of a file or a folder that tells everything that an index depends on."""
    layout = _FORMATS.get(ending, _FORMATS[_FILE])
    facts, data = [layout, catalog.version, catalog.unit], _data(catalog, prints)
    for table in catalog.tables:
        facts += [table.name, table.public, table.columns, table.repeats, table.link, data[table.name]]
    return f"index-{hashlib.sha256(repr(facts).encode()).hexdigest()[:32]}{ending}"


def _write_private(path: Path, content: bytes) -> None:
    """All of it or nothing, readable by its owner alone."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:  # noqa: PTH123 - a mode
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
