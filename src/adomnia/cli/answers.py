"""An answer on the terminal: a table with intervals, JSON, or CSV."""

from __future__ import annotations

import re
import sys
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import typer

from adomnia.cli import pages
from adomnia.cli.options import AnswerFormat
from adomnia.errors import Refusal
from adomnia.figures.files import check_file
from adomnia.messages.surfaces import Surface
from adomnia.messages.texts import show_notes
from adomnia.plans.columns import KeyColumn, name_ends
from adomnia.pricing.bills import format_cost
from adomnia.privacy.events import to_record
from adomnia.session import display
from adomnia.spreadsheets import defuse
from adomnia.sql.reading.statements import is_explain, is_listing
from adomnia.tables import printable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from adomnia.plans.columns import Cell
    from adomnia.session.answer import Answer

_QUOTED = re.compile(r"""[",\r\n]|^\s|\s$""")
MADE_UP = "Made-up rows: nothing was read and nothing was spent. The real answer would cost"


def print_answer(
    answer: Answer, form: AnswerFormat, mock: bool = False, surface: Surface = Surface.COMMAND_LINE
) -> None:
    """Print an answer in the form that was chosen, its notes in the words of the surface."""
    answer = replace(answer, notes=show_notes(answer.notes, surface))
    {AnswerFormat.TABLE: print_table, AnswerFormat.JSON: print_json, AnswerFormat.CSV: print_csv}[form](answer, mock)


def check_picture(file: Path, text: str) -> None:
    """A Refusal, if the answer to a text could not be drawn into a file."""
    if is_explain(text) or is_listing(text):
        raise Refusal("A picture", "shows numbers, and this text asks for none", "leave --plot out")
    check_file(file)


def write_picture(answer: Answer, file: Path, surface: Surface = Surface.COMMAND_LINE) -> None:
    """Draw an answer into a file, its notes in the words of the surface."""
    written = replace(answer, notes=show_notes(answer.notes, surface)).plot(file)
    typer.echo(printable(f"Wrote {written}."), err=True)


def print_table(answer: Answer, mock: bool = False) -> None:
    """Values rounded to what their intervals deserve, then what they cost."""
    headings, rows = display.format_table(answer)
    shown = pages.table(headings, _numeric(answer))
    for row in rows:
        shown.add_row(*row)
    pages.show_answer(shown, "", *notes(answer, mock))


def print_json(answer: Answer, mock: bool = False) -> None:
    pages.show_json(as_record(answer, mock))


def print_csv(answer: Answer, mock: bool = False) -> None:
    """All digits, intervals in columns of their own; the cost goes to standard error."""
    ends = name_ends(answer.typed_columns)
    names = [name for column in answer.typed_columns for name in (column.name, *ends.get(column.name, ()))]
    rows = (",".join(map(_write_cell, record.values())) for record in answer.records())
    text = "".join(f"{line}\n" for line in (",".join(map(_write_cell, names)), *rows))
    sys.stdout.write(printable(text) if sys.stdout.isatty() else text)
    for line in notes(answer, mock):
        typer.echo(printable(line), err=True)


def as_record(answer: Answer, mock: bool = False) -> dict[str, object]:
    """The answer as plain data; amounts are exact texts."""
    receipt = answer.receipt  # none where nothing was paid: rows of public tables
    return {
        "rows": answer.records(),
        "confidence": answer.confidence,
        "cost": None if receipt is None else to_record(receipt.event),
        "left": {name: str(amount) for name, amount in answer.left._asdict().items()},
        "analyst": None if receipt is None else receipt.analyst,
        "request_id": None if receipt is None else receipt.request_id,
        "receipt": None if receipt is None else receipt.hash,
        "replayed": answer.replayed,
        "caps": [asdict(cap) for cap in answer.caps],
        "notes": list(answer.notes),
        "mock": mock,
    }


def notes(answer: Answer, mock: bool) -> list[str]:
    """What stands below the rows."""
    if mock and answer.cost is not None:
        return [f"{MADE_UP} {format_cost(answer.cost)}.", *(f"{cap}." for cap in answer.caps), *answer.notes]
    return display.format_footer(answer)


def _numeric(answer: Answer) -> Iterator[int]:
    place = 0
    for column in answer.typed_columns:
        if isinstance(column, KeyColumn):
            if any(isinstance(value, int | float) and not isinstance(value, bool) for value in column.values):
                yield place
            place += 1
        else:
            yield from (place, place + 1)
            place += 2


def _write_cell(value: Cell | None) -> str:
    """A cell of CSV: nothing is NULL, a text without characters is not, and no text is a formula."""
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    text = defuse(value) if isinstance(value, str) else str(value)
    plain = not isinstance(value, str) or (text and not _QUOTED.search(text))
    return text if plain else '"' + text.replace('"', '""') + '"'
