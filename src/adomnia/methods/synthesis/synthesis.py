"""Synthetic rows from noisy tables: rows that are drawn from a model of them, and what a reader has to know."""

from collections.abc import Mapping, Sequence
from datetime import date
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np

from adomnia.messages.texts import Note, NoteTemplate, define_note
from adomnia.methods.contract import Parameter
from adomnia.methods.synthesis.attributes import ReleaseColumn
from adomnia.methods.synthesis.graphical.models import Model, draw_rows
from adomnia.methods.synthesis.noisy_tables import NoisyTables
from adomnia.noise.afterwards import Generator, follow
from adomnia.privacy.keys import Label
from adomnia.statistics.contract import ResultTable
from adomnia.statistics.products import Attribute, Places, Product

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


def expected_rows(columns: Sequence[ReleaseColumn]) -> ResultTable:
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


def decode_rows(
    attributes: Sequence[Attribute], rows: Places, generator: Generator
) -> dict[str, tuple[Label | None, ...]]:
    """The values of each column, from the places of its levels; None is missing."""
    return {
        attribute.name: decode_column(attribute, rows[:, place], generator)
        for place, attribute in enumerate(attributes)
    }


def decode_column(attribute: Attribute, places: Places, generator: Generator) -> tuple[Label | None, ...]:
    """The values of one column."""
    levels = attribute.levels
    if not attribute.edges:
        return tuple(levels[place] for place in places.tolist())
    drawn = _draw_steps(attribute, places, generator)
    return tuple(
        None if levels[place] is None else _read_step(attribute, step)
        for place, step in zip(places.tolist(), drawn.tolist(), strict=True)
    )


def find_step(attribute: Attribute) -> float:
    """What values inside of bins are multiples of: 1 of whole numbers and of days, else the grid of the column."""
    return 1.0 if attribute.sort in ("integer", "date") else attribute.step or _round_step(attribute.edges)


def _round_step(edges: Sequence[float]) -> float:
    """A power of ten that is at most a hundredth of a bin: where no step is declared, more digits would say nothing."""
    width = min(end - start for start, end in pairwise(edges))
    return float(10.0 ** np.floor(np.log10(width / 100)))


def _draw_steps(attribute: Attribute, places: Places, generator: Generator) -> Places:
    """For each row a multiple of the step that lies in its bin; where none does, the one below its lower end."""
    step, bins = find_step(attribute), len(attribute.edges) - 1
    # Of a bin its lower end belongs to it and its upper end does not. A hair is taken off, so that 0.3 / 0.1 is 3.
    ends = np.array([ceil(edge / step - 1e-9) for edge in attribute.edges], dtype=np.int64)
    inside = np.minimum(places, bins - 1)  # of those that are missing any: nobody reads it
    first, many = ends[inside], np.maximum(ends[inside + 1] - ends[inside], 1)
    return np.asarray(first + np.floor(generator.random(len(places)) * many).astype(np.int64))


def _read_step(attribute: Attribute, step: int) -> Label:
    if attribute.sort == "integer":
        return step
    if attribute.sort == "date":
        return date.fromordinal(step + 1)
    return _shorten(step, find_step(attribute))


def _shorten(steps: int, step: float) -> float:
    """The multiple, without the digits that doubles add to it."""
    digits = max(0, -int(np.floor(np.log10(step))) + _GUARD_DIGITS)
    return round(steps * step, digits)


_GUARD_DIGITS = 6  # below the step: of steps such as 0.125
