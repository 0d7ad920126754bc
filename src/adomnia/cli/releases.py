"""`adomnia release`, `releases` and `preview`: making what everybody may read, listing it, and rows to look at."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads it
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adomnia.cli.options import Format, Output, PlaceText, TokenFile
from adomnia.cli.question_options import QuestionOptions, with_question_options
from adomnia.errors import Refusal
from adomnia.options import RELEASE

if TYPE_CHECKING:
    from adomnia.cli.dataset_places import Place
    from adomnia.session.askable import AskableRelease

RELEASE_EXAMPLES = """Examples

adomnia release examples/hospital ages "SELECT * FROM marginals((SELECT sex, city FROM people))" --epsilon 0.1

adomnia release examples/hospital me "SELECT * FROM marginals((SELECT sex FROM people))" --rho 1 --analyst bob --private

adomnia release examples/hospital sexes "SELECT * FROM marginals((SELECT sex FROM people))" --epsilon 0.1 --out sexes
"""
RELEASES_EXAMPLES = """Examples

adomnia releases examples/hospital

adomnia releases examples/hospital --format json
"""
PREVIEW_EXAMPLES = """Examples

adomnia preview examples/hospital people

adomnia preview examples/hospital visits --rows 5 --format json
"""


@with_question_options(
    RELEASE,
    text="SELECT * FROM a method that makes a release.",
    analyst="Who makes it; default: the owner, or whose token it is.",
)
def release(
    asked: QuestionOptions,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="What it is called for ever: releases.NAME in questions.")
    ],
    out: Annotated[Path | None, typer.Option("--out", metavar="FOLDER", help="Copy its folder to here, too.")] = None,
    form: Output = Format.TABLE,
) -> None:
    """Publish tables or made-up rows that answer questions for free ever after; the dataset's budget pays once.

    Made once, the same under the same name is free. What is published cannot be taken back.
    """
    from adomnia.cli import pages
    from adomnia.releases.tables import SCHEMA

    if out is not None and out.exists():
        raise Refusal(f"Folder {out}", "is there already", "name a new one")  # before anything is paid
    made = _make(asked.where, name, asked.text, asked.read(RELEASE))
    if out is not None:
        made.save(out)
    if form is Format.JSON:
        pages.show_json(_as_record(made))
    else:
        pages.show(repr(made))
        told = f"{SCHEMA}.{made.name}"
        pages.show(f"Ask it for nothing: SELECT COUNT(*) FROM {told}. DESCRIBE {told} lists its columns.")  # noqa: S608 - words for people


def releases(
    place: PlaceText,
    analyst: Annotated[str | None, typer.Option(help="With what this analyst bought.")] = None,
    token_file: TokenFile = None,
    form: Output = Format.TABLE,
) -> None:
    """List the releases of a dataset: their columns, how they were made, and what they cost."""
    from adomnia.cli import dataset_places, pages
    from adomnia.cli.dataset_places import Place

    with dataset_places.open_to_quote(Place(place, analyst, token_file)) as session:
        found = session.releases()
    if form is Format.JSON:
        columns = [[column.name for column in each.attributes] for each in found]
        pages.show_json(
            [
                {"name": each.name, "question": each.question, "columns": names, **each.about}
                for each, names in zip(found, columns, strict=True)
            ]
        )
    else:
        pages.show(repr(found))


def preview(  # noqa: PLR0913, PLR0917 - each is an option
    place: PlaceText,
    table: Annotated[str, typer.Argument(metavar="TABLE", help="A private table of the catalog.")],
    rows: Annotated[int, typer.Option(metavar="NUMBER", min=1, max=1000, help="How many rows at most.")] = 20,
    analyst: Annotated[str | None, typer.Option(help="Who looks; default: the catalog's first analyst.")] = None,
    token_file: TokenFile = None,
    form: Output = Format.TABLE,
) -> None:
    """Show a few rows of nobody that look like those of a table, to write questions against; nothing is spent.

    They are of the preview that the owner declared, or made up from the catalog alone: a note says which.
    """
    from adomnia.cli import answers, dataset_places
    from adomnia.cli.dataset_places import Place

    with dataset_places.open_to_ask(Place(place, analyst, token_file)) as session:
        found = session.preview(table, rows)
    if form is Format.JSON:
        answers.print_json(found)
    else:
        answers.print_table(found)


def _make(place: Place, name: str, text: str, options: dict[str, Any]) -> AskableRelease:
    from adomnia.cli import dataset_places, opening
    from adomnia.cli.opening import show_progress

    if place.is_address or place.analyst is not None:
        with dataset_places.open_to_ask(place) as session, show_progress("Making the release") as tell:
            return session.release(name, text, progress=tell, **options)
    if options.pop("private", False):
        raise Refusal("--private", "is for analysts, and nobody is named", "add --analyst NAME")
    with opening.open_dataset(place.folder) as curator, show_progress("Making the release") as tell:
        return curator.release(name, text, progress=tell, **options)


def _as_record(release: AskableRelease) -> dict[str, object]:
    rows = release.table.num_rows
    return {"name": release.name, "rows": rows, "columns": release.columns, "notes": release.notes, **release.about}
