"""Rows to write questions against: of a cheap release that the owner declares, or made up from the catalog alone."""

from __future__ import annotations

import logging
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from adomnia.asking.batch import Batch
from adomnia.asking.releasing import OWNER, publish
from adomnia.errors import AdomniaError, Refusal
from adomnia.messages.texts import Note, NoteTemplate
from adomnia.methods.synthesis.synthesis import decode_rows
from adomnia.noise.afterwards import follow
from adomnia.options import CONFIDENCE
from adomnia.plans.columns import KeyColumn
from adomnia.pricing.questions import Question
from adomnia.privacy.amounts import show_up
from adomnia.privacy.events import Pure
from adomnia.privacy.filters import Left
from adomnia.session import mock
from adomnia.session.answer import Answer
from adomnia.work import limit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from adomnia.asking.asker import Dataset
    from adomnia.catalog.model import Catalog, Table
    from adomnia.engines.contract import Progress
    from adomnia.noise.afterwards import Generator
    from adomnia.privacy.events import Event
    from adomnia.privacy.keys import Label
    from adomnia.releases.model import Release
    from adomnia.session.queries import Queries

MOST_ROWS = 1000  # of a preview
_MADE_UP = NoteTemplate(
    "preview_made_up",
    "These rows are made up from the catalog alone and say nothing about the data. With preview = 0.05 under "
    "[tables.{table}] in the catalog, columns have about the values of the data.",
)
_OF_NOBODY = NoteTemplate(
    "preview_of_release",
    "These rows are of nobody: {columns} are drawn from the release {release}{paid}. Each column has about the values "
    "of the data, and has nothing to do with the others. They are for writing questions.",
)
_OTHERS = NoteTemplate("preview_partly_made_up", "{columns}: made up from the catalog alone.")
_LONGEST = 40  # letters of a table that are in the name of its preview
_NOTHING = Left(Fraction(0), Fraction(0), Fraction(0))
_log = logging.getLogger("adomnia.releases")


def name_preview(table: str, version: int) -> str:
    """What the preview of a table and a version of the data is called among releases."""
    short = table if len(table) <= _LONGEST else f"{table[:30]}_{sha256(table.encode()).hexdigest()[:9]}"
    return f"preview_{short}_{version}".lower()


def publish_previews(dataset: Dataset, progress: Progress) -> None:
    """Publish the previews that the catalog declares and that are not there yet; the dataset alone pays, once each.

    What fails is logged and stays paid: its name is used up, so that no later opening pays again.
    """
    for table in _list_declared(dataset.catalog):
        assert table.preview_epsilon is not None  # noqa: S101 - it is declared
        question = Question(_write_question(table), epsilon=table.preview_epsilon)
        name = name_preview(table.name, dataset.catalog.version)
        try:
            with limit():
                publish(dataset, name, Batch((question,), CONFIDENCE, dataset.catalog.version), None, progress)
        except AdomniaError as reason:
            _log.warning("Table %s has no preview: %s", table.name, reason)


def add_previews(charges: Mapping[str, Event], catalog: Catalog) -> dict[str, Event]:
    """What releases cost, with the previews that the next opening will pay for."""
    due = {
        name_preview(table.name, catalog.version): Pure(table.preview_epsilon)
        for table in _list_declared(catalog)
        if table.preview_epsilon is not None
    }
    return {**due, **charges}


def preview_table(session: Queries, name: str, rows: int) -> Answer:
    """A few rows of nobody, with all columns of a table; a note says what they are made of."""
    if type(rows) is not int or not 1 <= rows <= MOST_ROWS:
        raise ValueError(f"Session preview rows must be a whole number from 1 to {MOST_ROWS:,}, got {rows!r}.")
    catalog = session.catalog()
    table = _find_table(catalog, name)
    release = _find_preview(session, table, catalog.version)
    made_up = mock.make_rows(table, rows)
    values = {column.name: tuple(row[place] for row in made_up) for place, column in enumerate(table.columns)}
    if release is not None:
        values |= _draw_rows(release, rows)
    columns = tuple(KeyColumn(name, cells) for name, cells in values.items())  # type: ignore[arg-type]
    notes = tuple(_list_notes(table, release))
    return Answer(columns, np.arange(rows, dtype=np.intp), CONFIDENCE, None, False, _NOTHING, (), notes)


def _list_declared(catalog: Catalog) -> list[Table]:
    return [table for table in catalog.tables if table.preview_epsilon is not None]


def _write_question(table: Table) -> str:
    """Single columns alone: at prices as low as these, whatever is paid for pairs of them makes rows worse."""
    return f"SELECT * FROM marginals({table.name}, ways => 1, bins => 8)"  # noqa: S608 - a name of the catalog


def _find_table(catalog: Catalog, name: str) -> Table:
    private = [table for table in catalog.tables if not table.public]
    found = next((table for table in catalog.tables if table.name.lower() == name.lower()), None)
    if found is None:
        fix = f"name one of them: {', '.join(table.name for table in private)}"
        raise Refusal(f"Table {name[:100]}", "is not in the catalog", fix, code="unknown_table")
    if found.public:
        why, fix = "is public, and its rows are free", f"ask for rows of {found.name} itself, with SELECT *"
        raise Refusal(f"Table {found.name}", why, fix, code="public_table")
    return found


def _find_preview(session: Queries, table: Table, version: int) -> Release | None:
    """The preview that the owner published; not what anybody else gave its name."""
    name = name_preview(table.name, version)
    for entry in session.releases():
        same = entry.name == name and entry.question == _write_question(table)
        if same and not entry.private and entry.facts.made_by == OWNER:
            return session.open_release(name)
    return None


def _draw_rows(release: Release, number: int) -> dict[str, tuple[Label | None, ...]]:
    """Rows whose columns have nothing to do with each other; always the same, as the measurements say."""
    generator = follow(release.measurements, "preview")
    attributes = release.product.attributes
    places = np.stack([_draw_places(release, place, generator) for place in range(len(attributes))], axis=1)
    return {name: cells[:number] for name, cells in decode_rows(attributes, places, generator).items()}


def _draw_places(release: Release, place: int, generator: Generator) -> NDArray[np.int64]:
    counts = np.asarray(release.product.tables[place,], dtype=np.float64)
    shares = counts / counts.sum() if counts.sum() > 0 else np.full(len(counts), 1 / len(counts))
    return np.asarray(generator.choice(len(counts), MOST_ROWS, p=shares), dtype=np.int64)


def _list_notes(table: Table, release: Release | None) -> Iterator[Note]:
    if release is None:
        yield _MADE_UP(table=table.name)
        return
    cost = table.preview_epsilon
    paid = "" if cost is None else f" (epsilon {show_up(cost)} of the dataset's budget)"
    yield _OF_NOBODY(columns=list(release.columns), release=release.name, paid=paid)
    others = [column.name for column in table.columns if column.name not in release.columns]
    if others:
        yield _OTHERS(columns=others)
