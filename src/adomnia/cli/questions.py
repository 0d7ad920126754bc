"""What analysts type: `adomnia sql`, `price` and `explain`, `methods`, and `answers` for what was paid before."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path  # noqa: TC003 - Typer reads it
from typing import TYPE_CHECKING, Annotated

import typer

from adomnia.cli.options import AnswerFormat, Format, Output, PlaceText, TokenFile
from adomnia.cli.question_options import QuestionOptions, with_question_options
from adomnia.options import ASK, EXPLAIN, PRICE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.cli.dataset_places import Place
    from adomnia.session.accounts import Past

SQL_EXAMPLES = """Examples

adomnia sql examples/hospital "SELECT city, COUNT(*), AVG(salary) FROM people GROUP BY city" --epsilon 0.5

adomnia sql examples/hospital "SELECT COUNT(*) FROM visits WHERE cost > 1000" --error 200 --format json

adomnia sql examples/hospital "SELECT AVG(age) FROM people" --rho 0.01 --analyst bob

adomnia sql examples/hospital "SELECT sex, SUM(salary) FROM people GROUP BY sex" --epsilon 0.5 --mock

adomnia sql https://stats.example.org/hospital "SELECT COUNT(*) FROM people" --epsilon 0.1 --token-file token.txt

adomnia sql examples/hospital "SELECT city, AVG(salary) AS pay FROM people GROUP BY city" --epsilon 0.5 --plot pay.svg

adomnia sql examples/hospital "DESCRIBE people"

adomnia sql examples/hospital "SELECT diagnosis, COUNT(*) FROM visits GROUP BY 1" --rho 0.02 --delta 1e-9 --analyst bob
"""
PRICE_EXAMPLES = """Examples

adomnia price examples/hospital "SELECT city, AVG(salary) FROM people GROUP BY city" --epsilon 0.5

adomnia price examples/hospital "SELECT COUNT(*) FROM visits" --error 50 --confidence 0.99

adomnia price examples/hospital "SELECT AVG(salary) AS pay, COUNT(*) FROM people" --epsilon 1 --weight pay=3
"""
EXPLAIN_EXAMPLES = """Examples

adomnia explain examples/hospital "SELECT city, AVG(salary) FROM people GROUP BY city"

adomnia explain examples/hospital "SELECT SUM(cost), AVG(cost) FROM visits" --epsilon 0.5
"""
ANSWERS_EXAMPLES = """Examples

adomnia answers examples/hospital --analyst alice

adomnia answers examples/hospital --after monday-1 --limit 20 --format json
"""


@with_question_options(ASK)
def sql(
    asked: QuestionOptions,
    form: Annotated[AnswerFormat, typer.Option("--format", help="For people, or for programs.")] = AnswerFormat.TABLE,
    mock: Annotated[bool, typer.Option("--mock", help="Ask made-up rows: nothing is read or spent.")] = False,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the answer, too: a file that ends in .svg, .png or .html."),
    ] = None,
) -> None:
    """Ask a question: pay for it, and get a private answer with intervals.

    The same question at the same price is answered again from the ledger, free, with the same noise.
    """
    # Imported here, so that `adomnia --help` does not wait for the engine.
    from adomnia.cli import answers, dataset_places
    from adomnia.sql.reading.statements import is_explain, is_listing

    if plot is not None:
        answers.check_picture(plot, asked.text)  # before anything is paid
    if is_explain(asked.text):
        print_explanation(asked, Format.JSON if form is AnswerFormat.JSON else Format.TABLE)
        return
    options = asked.read(ASK)
    listing = is_listing(asked.text)
    opened = (
        dataset_places.open_to_quote(asked.where) if listing else dataset_places.open_to_ask(asked.where, mock=mock)
    )
    with opened as session:
        answer = session.sql(asked.text, **options)
    answers.print_answer(answer, form, mock)
    if plot is not None:
        answers.write_picture(answer, plot)


@with_question_options(PRICE)
def price(asked: QuestionOptions, form: Output = Format.TABLE) -> None:
    """Show the bill of a question before paying: every measurement, its noise, the error to expect.

    It follows from the catalog and from what was spent: no private data is read and nothing is spent.
    """
    from adomnia.cli import bills, dataset_places

    options = asked.read(PRICE)
    with dataset_places.open_to_quote(asked.where) as session:
        quote = session.price(asked.text, **options)
    bills.print_quote(quote, json=form is Format.JSON)


@with_question_options(EXPLAIN)
def explain(asked: QuestionOptions, form: Output = Format.TABLE) -> None:
    """Explain a question as a tree: whose rows, what is measured and why so much noise; with a price, what it buys.

    It follows from the catalog and from what was spent: no private data is read and nothing is spent.
    """
    print_explanation(asked, form)


def print_explanation(asked: QuestionOptions, form: Format) -> None:
    """Print the explanation of a question: a tree, or JSON."""
    from adomnia.cli import dataset_places, pages
    from adomnia.messages.surfaces import Surface

    options = asked.read(EXPLAIN)
    with dataset_places.open_to_quote(asked.where) as session:
        tree = session.explain(asked.text, **options).tree.in_words(Surface.COMMAND_LINE)
    if form is Format.JSON:
        pages.show_json(tree.record())
    else:
        pages.show(str(tree))


class PageFormat(StrEnum):
    """How methods are written."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "markdown"


METHODS_EXAMPLES = """Examples

adomnia methods

adomnia methods lm
"""


def methods(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="One method; without it, all are listed.")] = None,
    form: Annotated[PageFormat, typer.Option("--format", help="For people, programs, or a page.")] = PageFormat.TABLE,
) -> None:
    """List the methods: analyses that are asked like SELECT * FROM lm(people, formula => 'salary ~ age')."""
    # Imported here, so that `adomnia --help` does not wait for numpy.
    from adomnia.explaining.methods import MethodList, list_methods, render_reference

    found = list_methods()
    page = None if name is None else found.page(name)
    if form is PageFormat.JSON:
        typer.echo(json.dumps([each.record for each in found] if page is None else page.record, indent=2))
    elif form is PageFormat.MARKDOWN:
        typer.echo(render_reference(found if page is None else MethodList([page])), nl=False)
    else:
        typer.echo(repr(found if page is None else page))


def answers(  # noqa: PLR0913, PLR0917 - each is an option
    place: PlaceText,
    analyst: Annotated[str | None, typer.Option(help="Whose answers; default: the catalog's first analyst.")] = None,
    after: Annotated[
        str | None, typer.Option(metavar="ID", help="Only those after the one of this request id.")
    ] = None,
    limit: Annotated[int, typer.Option(metavar="NUMBER", min=1, max=1000, help="How many at most.")] = 100,
    token_file: TokenFile = None,
    form: Output = Format.TABLE,
) -> None:
    """List what an analyst has paid for and got, oldest first; no data is read and nothing is spent."""
    from adomnia.cli import pages
    from adomnia.cli.dataset_places import Place

    found = _find(Place(place, analyst, token_file), after, limit)
    if form is Format.JSON:
        pages.show_json([_record(past) for past in found])
        return
    show_pasts(found)
    if found:
        pages.show("", f"What follows, if anything does: --after {found[-1].request_id}")


def show_pasts(found: Sequence[Past]) -> None:
    """Print earlier answers, one a line."""
    from adomnia.cli import pages

    table = pages.table(("Request id", "Version", "Cost", "Question"))
    for past in found:
        table.add_row(past.request_id, str(past.version), _format_cost(past), "\n".join(past.questions))
    pages.show(table)


def _find(place: Place, after: str | None, limit: int) -> Sequence[Past]:
    """A page of what was answered, of a server's ledger or of a folder's, which alone is opened then."""
    from adomnia.cli import dataset_places, opening
    from adomnia.session.accounts import list_pasts

    if place.is_address:
        with dataset_places.open_remote(place) as session:
            return session.answers(after=after, limit=limit)
    with opening.open_accounts(place.folder) as (catalog, ledger):
        return list_pasts(ledger, place.analyst or catalog.analysts[0].name, after, limit)


def _record(past: Past) -> dict[str, object]:
    from adomnia.privacy.events import to_record

    about = {"request_id": past.request_id, "questions": list(past.questions), "version": past.version}
    return {**about, "cost": to_record(past.receipt.event), "receipt": past.receipt.hash}


def _format_cost(past: Past) -> str:
    """In epsilon where it was pure, else in rho, and with its delta."""
    from adomnia.privacy.amounts import DELTA_UNIT, EPSILON_UNIT, show_up
    from adomnia.privacy.filters import Spent
    from adomnia.privacy.losses import loss

    paid = Spent().plus(loss(past.receipt.event))
    name, units = ("epsilon", paid.epsilon_units) if paid.in_epsilon else ("rho", paid.rho_units)
    delta = f", delta {show_up(paid.delta_units * DELTA_UNIT)}" if paid.delta_units else ""
    return f"{name} {show_up(units * EPSILON_UNIT)}{delta}"
