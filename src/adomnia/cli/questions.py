"""`adomnia sql`, `adomnia price` and `adomnia explain`: what analysts type."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads it
from typing import Annotated

import typer

from adomnia.cli.options import AnswerFormat, Format, Output
from adomnia.cli.question_options import QuestionOptions, with_question_options

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


@with_question_options
def sql(  # noqa: PLR0913, PLR0917 - its options
    asked: QuestionOptions,
    form: Annotated[AnswerFormat, typer.Option("--format", help="For people, or for programs.")] = AnswerFormat.TABLE,
    mock: Annotated[bool, typer.Option("--mock", help="Ask made-up rows: nothing is read or spent.")] = False,
    request_id: Annotated[str | None, typer.Option(help="A name of your own for this request.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Pay again for new noise; do not replay.")] = False,
    anyway: Annotated[bool, typer.Option("--anyway", help="Pay even if it would say almost nothing.")] = False,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the answer, too: a file that ends in .svg, .png or .html."),
    ] = None,
) -> None:
    """Ask a question: pay for it, and get a private answer with intervals.

    The same question at the same price is answered again from the ledger, free, with the same noise.
    """
    # Imported here, so that `adomnia --help` does not wait for the engine.
    from adomnia.asking.listings import is_listing
    from adomnia.cli import answers, places
    from adomnia.explaining.explanations import is_explain

    if plot is not None:
        answers.check_picture(plot, asked.text)  # before anything is paid
    if is_explain(asked.text):
        print_explanation(asked, Format.JSON if form is AnswerFormat.JSON else Format.TABLE)
        return
    payment = asked.payment()
    listing = is_listing(asked.text)
    opened = places.open_to_quote(asked.where) if listing else places.open_to_ask(asked.where, mock=mock)
    with opened as session:
        answer = session.sql(asked.text, **payment, request_id=request_id, replay=not fresh, anyway=anyway)
    answers.print_answer(answer, form, mock)
    if plot is not None:
        answers.write_picture(answer, plot)


@with_question_options
def price(
    asked: QuestionOptions,
    together: Annotated[bool, typer.Option("--together", help="Show errors that hold in all groups at once.")] = False,
    form: Output = Format.TABLE,
) -> None:
    """Show the bill of a question before paying: every measurement, its noise, the error to expect.

    It follows from the catalog and from what was spent: no private data is read and nothing is spent.
    """
    from adomnia.cli import bills, places

    payment = asked.payment()
    with places.open_to_quote(asked.where) as session:
        quote = session.price(asked.text, **payment, together=together)
    bills.print_quote(quote, json=form is Format.JSON)


@with_question_options
def explain(asked: QuestionOptions, form: Output = Format.TABLE) -> None:
    """Explain a question as a tree: whose rows, what is measured and why so much noise; with a price, what it buys.

    It follows from the catalog and from what was spent: no private data is read and nothing is spent.
    """
    print_explanation(asked, form)


def print_explanation(asked: QuestionOptions, form: Format) -> None:
    """Print the explanation of a question: a tree, or JSON."""
    from adomnia.cli import pages, places
    from adomnia.explaining.surfaces import reword_tree
    from adomnia.messages.surfaces import Surface

    payment = asked.payment()
    with places.open_to_quote(asked.where) as session:
        tree = reword_tree(session.explain(asked.text, **payment).tree, Surface.COMMAND_LINE)
    if form is Format.JSON:
        pages.show_json(tree.record())
    else:
        pages.show(str(tree))
