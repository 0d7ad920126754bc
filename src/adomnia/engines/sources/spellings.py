"""How values that are spelled in a file are read: SQL from its text to the text that every reading takes.

Every expression is total. What is missing is NULL; what is not spelled as declared becomes a text that nothing can be
read from, so that it is counted as unreadable and is NULL in the index.
"""

import re

from adomnia.catalog.model import CsvFormat
from adomnia.engines.sources.texts import text_literal
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Day, Identity, Quantity, Text

_UNREADABLE = "'?'"
_BLANKS = "' \t\u00a0\u202f'"  # what stands between a number and its currency: a space, or one that breaks no line


def render_spelled(text: str, column: Column, csv: CsvFormat, days: str | None) -> str:
    """The text of a column in the usual spelling: 1234.5 for a number, 2024-01-31 for a day in the format `days`."""
    there = _leave_out_missing(text, column, csv)
    match column.kind:
        case Quantity():
            return _number(there, csv)
        case Day() if days is not None:
            return render_day(there, days)
    return there


def render_day(text: str, days: str) -> str:
    """A day in a format, as 2024-01-31."""
    digits = f"REGEXP_EXTRACT({text}, '^.*[0-9].*$')"  # DuckDB takes infinity and epoch for days as well
    read = f"CAST(TRY_CAST(TRY_STRPTIME(TRIM({digits}), {text_literal(days)}) AS DATE) AS VARCHAR)"
    return f"CASE WHEN {text} IS NOT NULL THEN COALESCE({read}, {_UNREADABLE}) END"


def _leave_out_missing(text: str, column: Column, csv: CsvFormat) -> str:
    """An empty field is missing, and of numbers, days and booleans also one of spaces; of the others a space counts."""
    if not isinstance(column.kind, Text | Identity):
        text = f"NULLIF(TRIM({text}, {_BLANKS}), '')"
    if not csv.null:
        return text
    return f"CASE WHEN TRIM({text}) NOT IN ({', '.join(map(text_literal, csv.null))}) THEN {text} END"


def _number(text: str, csv: CsvFormat) -> str:
    if csv.currency is not None:
        text = f"TRIM(REPLACE({text}, {text_literal(csv.currency)}, ''), {_BLANKS})"
    if csv.thousands is not None:
        text = _without_thousands(text, csv.thousands, csv.decimal)
    if csv.decimal != ".":
        pointed = f"REPLACE({text}, {text_literal(csv.decimal)}, '.')"
        text = f"CASE WHEN CONTAINS({text}, '.') THEN {_UNREADABLE} ELSE {pointed} END"
    return text


def _without_thousands(text: str, mark: str, decimal: str) -> str:
    """Without the marks where they part groups of digits, the last of three; anywhere else they are an error."""
    sign, point = re.escape(mark), re.escape(decimal)
    grouped = f"[+-]?[0-9]{{1,3}}({sign}[0-9]{{2,3}})*{sign}[0-9]{{3}}({point}[0-9]*)?"
    shape = f"REGEXP_FULL_MATCH({text}, {text_literal(grouped)})"
    quoted = text_literal(mark)
    plain = f"REPLACE({text}, {quoted}, '')"
    return f"CASE WHEN CONTAINS({text}, {quoted}) AND NOT {shape} THEN {_UNREADABLE} ELSE {plain} END"
