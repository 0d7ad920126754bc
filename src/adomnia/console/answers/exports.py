"""Answers as files: CSV for spreadsheets, JSON and Parquet for programs, with all digits as they were released."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from adomnia.api.replies import JSON, encode_answer
from adomnia.errors import Refusal
from adomnia.wire.tables import CSV, PARQUET, encode_csv, encode_parquet

if TYPE_CHECKING:
    from adomnia.api.replies import Pieces
    from adomnia.session.answer import Answer

FORMS = {"csv": CSV, "json": JSON, "parquet": PARQUET}
_LONGEST = 16  # characters of a request id in the name of a file


def check_form(form: str) -> str:
    """The media type of a form; a Refusal where there is none such."""
    if form not in FORMS:
        raise Refusal("The form of the file", "is none of csv, json and parquet", "name one of them", code="malformed")
    return FORMS[form]


def encode_file(answer: Answer, form: str, *, simultaneous: bool) -> Pieces:
    """All rows with their intervals; `simultaneous`: with those that hold all groups of a column at once."""
    if form == "json":
        return encode_answer(answer, simultaneous=simultaneous)
    if form == "parquet":
        return encode_parquet(answer, simultaneous=simultaneous)
    return encode_csv(answer, simultaneous=simultaneous)


def name_file(dataset: str, request_id: str, ending: str) -> str:
    """A plain name of ASCII letters, digits and hyphens.

    >>> name_file("hospital", "912ab289eeb786be00ff", "csv")
    'hospital-912ab289eeb786be.csv'
    """
    kept = [re.sub(r"[^A-Za-z0-9]+", "-", part)[:_LONGEST].strip("-") for part in (dataset, request_id)]
    return f"{'-'.join(filter(None, kept)) or 'answer'}.{ending}"
