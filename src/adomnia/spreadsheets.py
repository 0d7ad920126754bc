"""Texts in CSV files that no spreadsheet takes for a formula: they may be the words of somebody else.

A text that begins like a formula gets an apostrophe before it. Numbers stay numbers: a cell of another type is left as
it is. JSON, Arrow and Parquet, which no spreadsheet computes, have all texts as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["defuse", "defuse_table"]

_BEGINNINGS = ("=", "+", "-", "@", "\t", "\r", "\n")  # of a formula, or of a blank before one


def defuse(text: str) -> str:
    """A text that a spreadsheet shows as it is.

    >>> defuse("=1+1"), defuse("Oslo")
    ("'=1+1", 'Oslo')
    """
    return f"'{text}" if text.startswith(_BEGINNINGS) else text


def defuse_table(table: pa.Table) -> pa.Table:
    """A table whose texts and headings a spreadsheet shows as they are."""
    import pyarrow as pa

    columns = [_defuse_column(column) if _holds_texts(column.type) else column for column in table.columns]
    return pa.table(columns, names=list(map(defuse, table.column_names)))


def _holds_texts(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _defuse_column(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow.compute as pc

    pattern = f"^([{''.join(_BEGINNINGS).replace('-', '')}-])"
    return pc.replace_substring_regex(texts, pattern=pattern, replacement=r"'\1")
