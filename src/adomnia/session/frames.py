"""Tables of one's own as Arrow tables: from pandas, Polars, Arrow, DuckDB, dictionaries of columns, and files."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from adomnia.engines.registry import load_engine
from adomnia.errors import Refusal
from adomnia.session.conversions import write_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ENDINGS = {".parquet", ".csv", ".tsv"}
_UNNAMED_INDEX = "__index_level_"  # what Arrow calls the index of a pandas table
_TEXTS = {"text", "category", "id"}
_READ_FROM_TEXTS = {*_TEXTS, "integer", "number", "boolean"}  # alike from a value and from its text; days are not
_FAULTS = (pa.ArrowException, TypeError, ValueError, OverflowError)


def is_table(data: object) -> bool:
    """Whether this is one whole table, and not a column of one."""
    if isinstance(data, str | Path | Mapping | pa.Table | pa.RecordBatch | pa.RecordBatchReader):
        return True
    return any(hasattr(data, name) for name in ("__dataframe__", "to_arrow_table", "collect_schema"))


def list_tables(data: object) -> dict[str, object] | None:
    """Tables by their names, where that is what was given; None for one table."""
    several = isinstance(data, Mapping) and bool(data) and all(map(is_table, data.values()))
    return {str(name): table for name, table in data.items()} if several and isinstance(data, Mapping) else None


def read_frame(name: str, data: Any, choice: Sequence[str] | None, types: Mapping[str, str]) -> pa.Table:  # noqa: ANN401
    """The chosen columns as Arrow holds them; those with a declared type may hold values of several types."""
    table = _read_whole(name, data, choice, types)
    if choice is not None:
        for column in choice:
            if column not in table.column_names:
                raise unknown_column(column, table.column_names)
        return table.select(list(choice))
    named = [column for column in table.column_names if not column.startswith(_UNNAMED_INDEX)]
    return table if len(named) == table.num_columns else table.select(named)


def unknown_column(name: str, known: Sequence[str]) -> Refusal:
    """The refusal of a column that is declared, and not there."""
    fix = f"name one of its columns: {', '.join(known)}"
    return Refusal(f"Column {name}", "is not in the table", fix, code="unknown_column")


def _read_whole(name: str, data: Any, choice: Sequence[str] | None, types: Mapping[str, str]) -> pa.Table:  # noqa: ANN401
    if isinstance(data, str | Path):
        return _read_file(Path(data))
    if choice is not None and _is_pandas(data):
        data = _choose(data, choice)
    if _is_pandas(data) and not data.columns.is_unique:
        twice, fix = data.columns[data.columns.duplicated()][0], "rename all but one of them: df.columns = [...]"
        raise Refusal(f"Table {name}", f"has several columns called {twice}", fix, code="bad_table")
    if hasattr(data, "collect_schema") and hasattr(data, "collect") and not hasattr(data, "__dataframe__"):
        data = data.collect()  # a Polars query
    if hasattr(data, "to_arrow_table"):
        data = data.to_arrow_table()  # a DuckDB relation
    try:
        return pa.table(_without_mixed_columns(data, types))
    except (*_FAULTS, AttributeError):
        fault = _unreadable(name, data)
    raise fault  # out here it carries no cause, whose words may quote a row


def _read_file(path: Path) -> pa.Table:
    """A file as it is written: of CSV every value is a text, because what could be guessed would depend on the rows."""
    from pyarrow import parquet

    suffix = path.suffix.lower()
    if suffix not in _ENDINGS:
        fix = "name a file that ends in .parquet, .csv or .tsv, or pass a table"
        raise Refusal(f"File {path.name}", "is of no kind that can be read", fix, code="bad_file")
    with suppress(OSError, ValueError, pa.ArrowException, Refusal):
        return parquet.read_table(path) if suffix == ".parquet" else load_engine().read_texts(path)
    fix = (
        "check that it is there, and that it is a Parquet file, or a CSV file with a header, whose lines have as many "
        "columns as that, and close their quotes"
    )
    raise Refusal(f"File {path.name}", "cannot be read", fix, code="bad_file")


def _choose(data: Any, choice: Sequence[str]) -> Any:  # noqa: ANN401 - a table of pandas
    """The chosen columns of a pandas table: those that are left out may be unreadable."""
    names = {str(column): column for column in data.columns}
    for column in choice:
        if column not in names and column not in data.index.names:
            raise unknown_column(column, list(names))
    return data[[names[column] for column in choice if column in names]]


def _without_mixed_columns(data: Any, types: Mapping[str, str]) -> Any:  # noqa: ANN401 - any kind of table
    """A pandas table whose columns of mixed values are texts, where a type was declared for them.

    Of objects that are to be texts all are, mixed or not: what Arrow makes of one must not depend on others.
    """
    if not _is_pandas(data):
        return data
    objects = [name for name, kind in data.dtypes.items() if str(kind) == "object" and str(name) in types]
    plain = [name for name in objects if types[str(name)] in _TEXTS]
    mixed = [name for name in _unreadable_columns(data) if name in objects and types[str(name)] in _READ_FROM_TEXTS]
    spelled = data.copy(deep=False) if plain or mixed else data
    for name in dict.fromkeys([*plain, *mixed]):
        spelled[name] = data[name].map(_spell, na_action="ignore")
    return spelled


def _spell(value: Any) -> str:  # noqa: ANN401 - any object
    """The text of an object, whatever other rows hold; half a character, which no text in UTF-8 has, is replaced."""
    text = write_text(value.item() if type(value).__module__ == "numpy" else value)
    return text.encode("utf-8", "replace").decode()


def _unreadable_columns(data: Any) -> Iterator[str]:  # noqa: ANN401 - any kind of table
    """The columns of a pandas table that Arrow makes nothing of, such as those with values of several types."""
    for name in data.columns if _is_pandas(data) else ():
        try:
            pa.array(data[name], from_pandas=True)
        except _FAULTS:
            yield name


def _is_pandas(data: object) -> bool:
    return type(data).__module__.startswith("pandas") and hasattr(data, "columns")


def _unreadable(name: str, data: Any) -> Refusal:  # noqa: ANN401 - any kind of table
    for column in _unreadable_columns(data):
        held = str(data.dtypes[column])
        why, fix = f"holds {held}, which cannot be asked about", "convert it"
        if held == "object":
            why, fix = (
                "holds values of several types, or too large ones",
                f'pass columns={{"{column}": "text"}} or "number"',
            )
        return Refusal(f"Column {column}", why, f"{fix}, or leave it out: columns=[...]", code="bad_column")
    fix = "pass a table of pandas, Polars, Arrow or DuckDB, or the name of a file"
    why = "cannot be read as a table: its columns must have different names, one length, and values of one type each"
    return Refusal(f"Table {name}", why, fix, code="bad_table")
