"""The files that a source names: one, those of a folder, or those that match a pattern; and the ones beside it."""

from pathlib import Path

from adomnia.engines.sources.delta import LOG, list_live_files
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
