"""Answers as files: CSV for spreadsheets, JSON and Parquet for programs, with all digits as they were released."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from adomnia.errors import Refusal
from adomnia.server.encoding import encode_answer
from adomnia.server.negotiation import JSON
from adomnia.wire.tables import CSV, PARQUET, encode_parquet, write_csv

if TYPE_CHECKING:
    from adomnia.server.encoding import Pieces
    from adomnia.session.answer import Answer

__all__ = ["FORMS", "check_form", "encode_file", "name_file"]

FORMS = {"csv": CSV, "json": JSON, "parquet": PARQUET}
# What a spreadsheet takes for a formula, or for the blank before one. A text that begins so gets an apostrophe.
_FORMULA = r"^([=+\-@\t\r\n])"
_HARMLESS = r"'\1"
_LONGEST = 16  # characters of a request id in the name of a file


def check_form(form: str) -> str:
    """The media type of a form; a Refusal where there is none such."""
    if form not in FORMS:
        raise Refusal("The form of the file", "is none of csv, json and parquet", "name one of them", code="malformed")
    return FORMS[form]


def encode_file(answer: Answer, form: str, *, together: bool) -> Pieces:
    """All rows with their intervals; `together`: with those that hold all groups of a column at once."""
    if form == "json":
        return encode_answer(answer, together=together)
    if form == "parquet":
        return encode_parquet(answer, together=together)
    return write_csv(make_harmless(answer.to_arrow(together=together)))


def make_harmless(table: pa.Table) -> pa.Table:
    """The table with texts and headings that no spreadsheet computes: they may be somebody else's words."""
    columns = [_quote_formulas(column) if pa.types.is_string(column.type) else column for column in table.columns]
    return pa.table(columns, names=[re.sub(_FORMULA, _HARMLESS, name) for name in table.column_names])


def name_file(dataset: str, request_id: str, ending: str) -> str:
    """A plain name of ASCII letters, digits and hyphens.

    >>> name_file("hospital", "912ab289eeb786be00ff", "csv")
    'hospital-912ab289eeb786be.csv'
    """
    kept = [re.sub(r"[^A-Za-z0-9]+", "-", part)[:_LONGEST].strip("-") for part in (dataset, request_id)]
    return f"{'-'.join(filter(None, kept)) or 'answer'}.{ending}"


def _quote_formulas(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.replace_substring_regex(texts, pattern=_FORMULA, replacement=_HARMLESS)
