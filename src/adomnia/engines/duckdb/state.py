"""The folder beside the ledger: the key of the index, the index, and a record of which data each version stood for."""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import time_ns
from typing import Any

from adomnia.catalog.model import USUAL_CSV, Catalog
from adomnia.engines.duckdb.files import list_files
from adomnia.errors import Failure, Refusal
from adomnia.noise import SystemBits

_FORMAT = 3  # of the index: raise it when layout or order change, and every index is built anew
_KEY_BYTES = 32
_RACY_NANOSECONDS = 2 * 10**9  # a file that changed this shortly before it was read may change again unnoticed


def fresh_key() -> bytes:
    """A new key for the order of rows."""
    return SystemBits().words(_KEY_BYTES // 8).tobytes()


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

    def index(self, catalog: Catalog, build: Callable[[Path], None]) -> Path:
        """The index of this catalog and its data, made by `build(file)` unless it is there already."""
        with self._alone():
            record = self._record()
            prints = _fingerprints(catalog, record["files"])
            _check_unchanged(catalog, _data(catalog, prints), record["versions"].get(str(catalog.version), {}))
            path = self.folder / f"index-{_identity(catalog, prints)}.duckdb"
            if not path.exists():
                self._build(path, build)
            record["versions"].setdefault(str(catalog.version), {}).update(_data(catalog, prints))
            record["files"] = prints
            _write_private(self.folder / "index.json", json.dumps(record, indent=1).encode())
        return path

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
        """In a room of its own, so that what is interrupted is never taken for an index."""
        room = self.folder / "building"
        shutil.rmtree(room, ignore_errors=True)
        room.mkdir(mode=0o700)
        try:
            build(room / "index.duckdb")
            (room / "index.duckdb").chmod(0o600)
            former = list(self.folder.glob("index-*.duckdb"))
            (room / "index.duckdb").replace(path)
            for old in former:
                old.unlink()
        finally:
            shutil.rmtree(room, ignore_errors=True)

    def _record(self) -> dict[str, Any]:
        path = self.folder / "index.json"
        return json.loads(path.read_bytes()) if path.exists() else {"versions": {}, "files": {}}

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One process at a time; the lock ends with the process, however it ends."""
        with (self.folder / "index.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _fingerprints(catalog: Catalog, known: dict[str, Any]) -> dict[str, Any]:
    """Size, time and hash of every file, public ones too; it is hashed again only where size or time say so."""
    return {
        table.name: _fingerprint_source(catalog.folder / table.source, known.get(table.name, {}))
        for table in catalog.tables
    }


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
                "raise `version` in catalog.toml, or put the old file back, read as it was",
            )


def _identity(catalog: Catalog, prints: dict[str, Any]) -> str:
    """A name for everything that an index depends on."""
    facts, data = [_FORMAT, catalog.version, catalog.unit], _data(catalog, prints)
    for table in catalog.tables:
        facts += [table.name, table.public, table.columns, table.repeats, table.link, data[table.name]]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:32]


def _write_private(path: Path, content: bytes) -> None:
    """All of it or nothing, readable by its owner alone."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:  # noqa: PTH123 - a mode
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
