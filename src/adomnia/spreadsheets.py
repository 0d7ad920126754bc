"""Texts in CSV files that no spreadsheet takes for a formula: they may be the words of somebody else.

A text that begins like a formula gets an apostrophe before it. So does a part of it that would be a cell by itself
where a spreadsheet parts cells by semicolons or tabs, and does not find our quotes at their beginnings. Numbers stay
numbers: a cell of another type is left as it is. JSON, Arrow and Parquet, which no spreadsheet computes, have all texts
as they are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

_SIGNS = "=+@＝＋＠－-"  # noqa: RUF001 - of a formula; the wide ones count as well where Chinese or Japanese is written
# What is found, and what stands in its place: of a whole text, and of what follows the end of a cell in it.
_RULES = ((rf"^([\t\r\n{_SIGNS}])", r"'\1"), (rf"""([;\t\r\n]"*)([{_SIGNS}])""", r"\1'\2"))


def defuse(text: str) -> str:
    """A text that a spreadsheet shows as it is.

    >>> defuse("=1+1"), defuse("Oslo")
    ("'=1+1", 'Oslo')
    """
    for found, instead in _RULES:
        text = re.sub(found, instead, text)
    return text


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

    for found, instead in _RULES:
        texts = pc.replace_substring_regex(texts, pattern=found, replacement=instead)
    return texts
