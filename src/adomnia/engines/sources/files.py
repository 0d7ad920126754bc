"""The files that a source names: one, those of a folder or of a Delta table, or those that match a pattern.

What the log of a Delta table says in a way that we do not know is refused: to pass over it could bring deleted rows
back.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from adomnia.errors import Refusal

_PATTERN = frozenset("*?[")
_LOGS = ("-wal", "-journal", ".wal")  # what SQLite and DuckDB leave beside a database that is not closed


def list_files(path: Path) -> list[Path]:
    """The files in the order of their names; a Refusal where there are none."""
    found = _single(path) if path.is_file() else sorted(_matches(path))
    if not found:
        fix = "name a file, a folder with Parquet files or a pattern such as visits/*.parquet in the catalog"
        raise Refusal(f"Source {path.name}", "is not a file that can be read", fix)
    return found


def refuse_open_database(path: Path) -> None:
    """Refuse a database that another program has not finished writing: part of it lies in a file beside it."""
    for ending in _LOGS:
        beside = path.with_name(path.name + ending)
        if beside.is_file() and beside.stat().st_size:
            why = f"is not closed: {beside.name} holds a part of it"
            raise Refusal(f"Source {path.name}", why, "close the program that writes it, then open the dataset again")


def _matches(path: Path) -> list[Path]:
    if path.is_dir():
        _refuse_foreign(path)
        if (path / LOG).is_dir():
            return list_live_files(path)
        found = [each for each in path.rglob("*.parquet") if each.is_file() and not _is_hidden(each, path)]
        return _refuse_parts(found)
    if _PATTERN & set(path.name) and path.suffix.lower() == ".parquet":
        return _refuse_parts([each for each in path.parent.glob(path.name) if each.is_file()])
    return []


def _single(file: Path) -> list[Path]:
    return _refuse_parts([file]) if file.suffix.lower() == ".parquet" else [file]


def _refuse_parts(files: list[Path]) -> list[Path]:
    """Refuse files of a table whose records, in a folder above them, say which files count: these may be removed."""
    for folder in sorted({above for file in files for above in file.resolve().parents}):
        _refuse_foreign(folder)
        if (folder / LOG).is_dir():
            why = "is in a Delta table, whose log says which files count, and is not all of it"
            raise Refusal(f"Source {files[0].name}", why, f"name the folder {folder.name} as the source")
    return files


def _is_hidden(file: Path, folder: Path) -> bool:
    """Whether a file is none of the data's: what Spark has not finished writing, or keeps beside it."""
    parts = file.relative_to(folder).parts
    return any(part.startswith(".") or (part.startswith("_") and "=" not in part) for part in parts)


def _refuse_foreign(folder: Path) -> None:
    """Refuse a table whose own records say which files count, in a form that we do not read."""
    kinds = {".hoodie": "Hudi", "metadata/*.metadata.json": "Iceberg"}
    found = next((kind for pattern, kind in kinds.items() if any(folder.glob(pattern))), None)
    if found is not None:
        why = f"is a table of {found}, in which files may lie that were replaced"
        raise Refusal(f"Source {folder.name}", why, "read it as a table of Spark's catalog")


LOG = "_delta_log"
_COMMIT = re.compile(r"([0-9]{20})\.json")
_STAGED = re.compile(r"([0-9]{20})\..+\.json")  # a commit that whoever coordinates writers has not copied to its place
_STAGES = ("_commits", "_staged_commits")
_CHECKPOINT = re.compile(r"([0-9]{20})\.checkpoint(\.([0-9]{10})\.([0-9]{10}))?\.parquet")
_OTHER_CHECKPOINT = re.compile(r"[0-9]{20}\.checkpoint\..+")
_KNOWN_FEATURES = frozenset({"timestampNtz", "vacuumProtocolCheck"})  # what does not change how files are read
_FEATURES_SINCE = 3  # version of the protocol; the one before brought names of columns that are not those of files
_READ = ("protocol", "metaData", "add", "remove")


def list_live_files(table: Path) -> list[Path]:
    """The files of the newest version, by their names; a Refusal where the log says what we do not read."""
    live: set[Path] = set()
    try:
        for action in _replay(table / LOG):
            _check_action(table, action)
            if added := action.get("add"):
                live.add(_locate(table, added["path"]))
            if removed := action.get("remove"):
                live.discard(_locate(table, removed["path"]))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, pa.ArrowException):
        raise _refusal(table, f"has a log that cannot be read ({LOG})", "repair the table") from None
    if any(not file.is_file() for file in live):
        raise _refusal(table, "lacks files that its log names", "repair the table")
    return sorted(live)


def _replay(log: Path) -> Iterator[Mapping[str, Any]]:
    """All that the log says, in its order: the last checkpoint, then every commit after it."""
    names = sorted(each.name for each in log.iterdir())
    commits = {int(found[1]): name for name in names if (found := _COMMIT.fullmatch(name))}
    parts = [found for name in names if (found := _CHECKPOINT.fullmatch(name))]
    whole = [int(part[1]) for part in parts if _is_whole(part, parts)]
    begun = max(whole, default=-1)
    others = [name for name in names if _OTHER_CHECKPOINT.fullmatch(name) and not _CHECKPOINT.fullmatch(name)]
    if not commits and begun < 0:
        raise ValueError("A log must have a commit or a checkpoint, got none.")
    last = max([begun, *commits])
    if any(version not in commits for version in range(begun + 1, last + 1)):
        how = "in a form of checkpoints" if others else "of which a commit is missing"
        fix = "write a classic checkpoint, or read it as a table of Spark's catalog"
        raise _refusal(log.parent, f"has a log {how} that we do not read", fix)
    if any(version > last for version in _list_staged(log)):
        why = "has commits that are not in their places yet: a catalog knows which of them count"
        raise _refusal(log.parent, why, "read it as a table of Spark's catalog")
    chosen = [part for part in parts if int(part[1]) == begun and _is_whole(part, parts)]
    single = [part for part in chosen if part[2] is None]
    for part in single or chosen:
        yield from _read_checkpoint(log / part[0])
    for version in range(begun + 1, last + 1):
        for line in (log / commits[version]).read_text(encoding="utf-8").splitlines():
            if line.strip():
                yield json.loads(line)


def _list_staged(log: Path) -> Iterator[int]:
    """The versions of commits that wait for their place in the log."""
    for stage in _STAGES:
        yield from (int(found[1]) for each in (log / stage).glob("*.json") if (found := _STAGED.fullmatch(each.name)))


def _is_whole(part: re.Match[str], parts: list[re.Match[str]]) -> bool:
    """Whether all parts of a checkpoint are there."""
    alike = {other[3] for other in parts if (other[1], other[4]) == (part[1], part[4])}
    return part[4] is None or len(alike) == int(part[4])


def _read_checkpoint(path: Path) -> Iterator[Mapping[str, Any]]:
    file = pq.ParquetFile(path)
    names = [name for name in _READ if name in file.schema_arrow.names]
    for batch in file.iter_batches(columns=names):
        yield from batch.to_pylist()


def _check_action(table: Path, action: Mapping[str, Any]) -> None:
    protocol, about = action.get("protocol") or {}, action.get("metaData") or {}
    version, features = protocol.get("minReaderVersion") or 1, set(protocol.get("readerFeatures") or ())
    settings = dict(about.get("configuration") or {})
    unknown = sorted(features - _KNOWN_FEATURES) if version == _FEATURES_SINCE else []
    if version > _FEATURES_SINCE:
        unknown = [f"readers of version {version}"]
    if settings.get("delta.columnMapping.mode", "none") != "none":
        unknown = ["columnMapping"]
    if (action.get("add") or {}).get("deletionVector") is not None:
        unknown = ["deletionVectors"]
    if unknown:
        why = f"is a Delta table with what we do not read ({', '.join(unknown)})"
        raise _refusal(table, why, "read it as a table of Spark's catalog, or rewrite it without")


def _locate(table: Path, written: str) -> Path:
    """A file of the table: a path within it, spelled as in a URL."""
    parts = urlsplit(written)
    path = Path(unquote(written))
    if parts.scheme or path.is_absolute() or ".." in path.parts:
        fix = "copy the table as a whole, or read it as a table of Spark's catalog"
        raise _refusal(table, "is a Delta table with files elsewhere", fix)
    return table / path


def _refusal(table: Path, why: str, fix: str) -> Refusal:
    return Refusal(f"Source {table.name}", why, fix)
