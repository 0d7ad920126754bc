"""Synthetic rows from noisy tables: rows that are drawn from a model of them, and what a reader has to know."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from adomnia.messages.notes import Note, NoteTemplate, define_note
from adomnia.methods.contract import Parameter
from adomnia.methods.synthesis.attributes import ReleaseColumn
from adomnia.methods.synthesis.decoding import decode_rows
from adomnia.methods.synthesis.graphical.models import Model
from adomnia.methods.synthesis.graphical.rows import draw_rows
from adomnia.methods.synthesis.noisy_tables import NoisyTables
from adomnia.noise.afterwards import follow
from adomnia.statistics.contract import ResultTable
from adomnia.statistics.products import Product

MOST_ROWS = 1_000_000  # that are written where nobody says how many
_FORESEEN = 2  # rows of a table that only shows which columns there are
_LISTED = 6  # tables that a note names

SIZE = Parameter(
    "size",
    "integer",
    "how many rows are drawn; about as many as there are if not said",
    lower=1,
    upper=10 * MOST_ROWS,
)


def synthesize(
    columns: Sequence[ReleaseColumn], model: Model, noisy: NoisyTables, size: int | None, about: Mapping[str, Any]
) -> ResultTable:
    """Rows that are drawn from a model, in a table and as a product. What chance decides follows from the noise."""
    attributes = tuple(column.attribute for column in columns)
    number = size or min(max(round(model.total), 1), MOST_ROWS)
    rows = draw_rows(model, number, follow(noisy.released, "rows"))
    labels = decode_rows(attributes, rows, follow(noisy.released, "values"))
    names = [attribute.name for attribute in attributes]
    measured = [
        {"columns": [names[place] for place in table], "deviation": noisy.deviation(table)} for table in noisy.tables
    ]
    product = Product(
        attributes,
        noisy.residuals,
        noisy.tails,
        rows,
        about={**about, "total": float(model.total), "measured": measured},
    )
    return ResultTable(labels, {}, _notes(number, model.total, noisy, names), product=product)  # type: ignore[arg-type]  # of None


def foresee_rows(columns: Sequence[ReleaseColumn]) -> ResultTable:
    """A table of the same columns with a few rows of no meaning, before anything is measured."""
    attributes = tuple(column.attribute for column in columns)
    rows = np.zeros((_FORESEEN, len(columns)), dtype=np.int32)
    labels = decode_rows(attributes, rows, follow([], "foreseen"))
    return ResultTable(labels, {}, (_DRAWN_LATER,))  # type: ignore[arg-type]  # of None


def _notes(number: int, total: float, noisy: NoisyTables, names: Sequence[str]) -> tuple[Note, ...]:
    together = [" x ".join(names[place] for place in table) for table in noisy.tables if len(table) > 1]
    more = f" and {len(together) - _LISTED} others" if len(together) > _LISTED else ""
    measured = _TOGETHER(tables=together[:_LISTED], more=more) if together else _NOTHING_TOGETHER
    return _OF_MODEL(number=number, rows=max(round(total), 0)), measured, GOOD_FOR, DRAWN


_OF_MODEL = NoteTemplate(
    "rows_of_model",
    "These {number:,} rows are of nobody: they are drawn from a model of noisy counts. There are about {rows:,} rows "
    "of data.",
)
_GUESSED = "How other columns go together is guessed from that, and may be far off."
_TOGETHER = NoteTemplate("measured_together", f"Measured together were {{tables}}{{more}}. {_GUESSED}")
_NOTHING_TOGETHER = define_note("nothing_together", f"No columns were measured together. {_GUESSED}")
_DRAWN_LATER = define_note("drawn_once_measured", "Rows are drawn once the data is measured.")
GOOD_FOR = define_note(
    "synthetic_good_for",
    "They are good for counts and shares of many rows. They are not good for rare values and outliers, and a test or "
    "an interval that takes them for data is too sure of itself.",
)
DRAWN = define_note(
    "drawn_from_measurements",
    "What chance decides in drawing them follows from what was measured: the same measurements give the same rows.",
)
