"""Tables of one's own as Arrow tables: from pandas, Polars, Arrow, DuckDB, dictionaries of columns, and files."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from adomnia.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_UNNAMED_INDEX = "__index_level_"  # what Arrow calls the index of a pandas table
_TEXTS = {"text", "category", "id"}


def is_table(data: object) -> bool:
    """Whether this is one whole table, and not a column of one."""
    if isinstance(data, str | Path | Mapping | pa.Table | pa.RecordBatch | pa.RecordBatchReader):
        return True
    return any(hasattr(data, name) for name in ("__dataframe__", "to_arrow_table", "collect_schema"))


def list_tables(data: object) -> dict[str, object] | None:
    """Tables by their names, where that is what was given; None for one table."""
    several = isinstance(data, Mapping) and bool(data) and all(map(is_table, data.values()))
    return {str(name): table for name, table in data.items()} if several and isinstance(data, Mapping) else None


def is_spelled(data: object) -> bool:
    """Whether every value is a text still to be read."""
    return isinstance(data, str | Path) and Path(data).suffix.lower() in _DELIMITERS


def read_frame(name: str, data: Any, choice: Sequence[str] | None, types: Mapping[str, str]) -> pa.Table:  # noqa: ANN401
    """The chosen columns as Arrow holds them; those that are to be texts may hold values of several types."""
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
        data = data[[column for column in choice if column in data.columns]]  # what is left out may be unreadable
    if hasattr(data, "collect_schema") and hasattr(data, "collect") and not hasattr(data, "__dataframe__"):
        data = data.collect()  # a Polars query
    if hasattr(data, "to_arrow_table"):
        data = data.to_arrow_table()  # a DuckDB relation
    try:
        return pa.table(_without_mixed_columns(data, types))
    except (pa.ArrowException, TypeError, ValueError, AttributeError):
        fault = _unreadable(name, data)
    raise fault  # out here it carries no cause, whose words may quote a row


def _read_file(path: Path) -> pa.Table:
    """A file as it is written: of CSV every value is a text, because what could be guessed would depend on the rows."""
    from pyarrow import csv as arrow_csv
    from pyarrow import parquet

    suffix = path.suffix.lower()
    if suffix not in {".parquet", *_DELIMITERS}:
        fix = "name a file that ends in .parquet, .csv or .tsv, or pass a table"
        raise Refusal(f"File {path.name}", "is of no kind that can be read", fix, code="bad_file")
    try:
        if suffix == ".parquet":
            return parquet.read_table(path)
        with path.open(encoding="utf-8-sig", newline="") as file:
            header = next(csv.reader(file, delimiter=_DELIMITERS[suffix]), [])
        texts = arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(header, pa.string()), null_values=[""], strings_can_be_null=True
        )
        layout = arrow_csv.ParseOptions(delimiter=_DELIMITERS[suffix], newlines_in_values=True)
        return arrow_csv.read_csv(path, parse_options=layout, convert_options=texts)
    except (OSError, ValueError, csv.Error, pa.ArrowException):
        pass
    fix = "check that it is there, and that it is a Parquet file or a CSV file in UTF-8 with a header"
    raise Refusal(f"File {path.name}", "cannot be read", fix, code="bad_file")


def _without_mixed_columns(data: Any, types: Mapping[str, str]) -> Any:  # noqa: ANN401 - any kind of table
    """A pandas table whose columns of mixed values are texts, where they were declared to be."""
    mixed = [name for name in _mixed_columns(data) if types.get(name) in _TEXTS]
    return data.assign(**{name: data[name].map(str, na_action="ignore") for name in mixed}) if mixed else data


def _mixed_columns(data: Any) -> Iterator[str]:  # noqa: ANN401 - any kind of table
    """The columns of a pandas table that hold values of several types."""
    if not _is_pandas(data):
        return
    for name, kind in data.dtypes.items():
        if str(kind) == "object":
            try:
                pa.array(data[name], from_pandas=True)
            except (pa.ArrowException, TypeError, ValueError):
                yield name


def _is_pandas(data: object) -> bool:
    return type(data).__module__.startswith("pandas") and hasattr(data, "columns")


def _unreadable(name: str, data: object) -> Refusal:
    mixed = [str(column) for column in _mixed_columns(data)]
    if mixed:
        why = "holds values of several types"
        fix = f'pass columns={{"{mixed[0]}": "text"}}, or leave it out: columns=[...]'
        return Refusal(f"Column {mixed[0]}", why, fix, code="bad_column")
    fix = "pass a table of pandas, Polars, Arrow or DuckDB, or the name of a file"
    why = "cannot be read as a table: its columns must have different names, one length, and values of one type each"
    return Refusal(f"Table {name}", why, fix, code="bad_table")
