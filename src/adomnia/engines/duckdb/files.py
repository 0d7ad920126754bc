"""The files that a source names: one, those of a folder, or those that match a pattern; and the ones beside it."""

from pathlib import Path

from adomnia.errors import Refusal

_PATTERN = frozenset("*?[")
_LOGS = ("-wal", "-journal", ".wal")  # what SQLite and DuckDB leave beside a database that is not closed


def list_files(path: Path) -> list[Path]:
    """The files in the order of their names; a Refusal where there are none."""
    found = [path] if path.is_file() else sorted(_matches(path))
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
        return [each for each in path.rglob("*.parquet") if each.is_file()]
    if _PATTERN & set(path.name) and path.suffix.lower() == ".parquet":
        return [each for each in path.parent.glob(path.name) if each.is_file()]
    return []
