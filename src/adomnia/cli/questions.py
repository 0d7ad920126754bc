"""`adomnia sql` and `adomnia price`: what analysts type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from adomnia.cli.options import (
    AnswerFormat,
    Confidence,
    Epsilon,
    Error,
    Folder,
    Format,
    Output,
    Rho,
    Text,
    number,
    share,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

SQL_EXAMPLES = """Examples

adomnia sql examples/hospital "SELECT city, COUNT(*), AVG(salary) FROM people GROUP BY city" --epsilon 0.5

adomnia sql examples/hospital "SELECT COUNT(*) FROM visits WHERE cost > 1000" --error 200 --format json

adomnia sql examples/hospital "SELECT AVG(age) FROM people" --rho 0.01 --analyst bob

adomnia sql examples/hospital "SELECT sex, SUM(salary) FROM people GROUP BY sex" --epsilon 0.5 --mock
"""
PRICE_EXAMPLES = """Examples

adomnia price examples/hospital "SELECT city, AVG(salary) FROM people GROUP BY city" --epsilon 0.5

adomnia price examples/hospital "SELECT COUNT(*) FROM visits" --error 50 --confidence 0.99
"""


def sql(  # noqa: PLR0913, PLR0917 - the options of a command
    folder: Folder,
    text: Text,
    epsilon: Epsilon = None,
    rho: Rho = None,
    error: Error = None,
    confidence: Confidence = "0.95",
    analyst: Annotated[str | None, typer.Option(help="Who asks and pays; otherwise the catalog's first.")] = None,
    form: Annotated[AnswerFormat, typer.Option("--format", help="For people, or for programs.")] = AnswerFormat.TABLE,
    mock: Annotated[bool, typer.Option("--mock", help="Ask made-up rows: nothing is read or spent.")] = False,
    request_id: Annotated[str | None, typer.Option(help="A name of your own for this request.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Pay again for new noise; do not replay.")] = False,
) -> None:
    """Ask a question: pay for it, and get a private answer with intervals.

    The same question at the same price is answered again from the ledger, free, with the same noise.
    """
    # Imported here, so that `adomnia --help` does not wait for the engine.
    from adomnia.cli import answers, opening

    payment = _payment(epsilon, rho, error, confidence)
    with (opening.rehearsal if mock else opening.dataset)(folder) as curator:
        session = opening.session(curator, analyst)
        answer = session.sql(text, **payment, request_id=request_id, replay=not fresh)
    match form:
        case AnswerFormat.TABLE:
            answers.print_table(answer, mock)
        case AnswerFormat.JSON:
            answers.print_json(answer, mock)
        case AnswerFormat.CSV:
            answers.print_csv(answer, mock)


def price(  # noqa: PLR0913, PLR0917 - the options of a command
    folder: Folder,
    text: Text,
    epsilon: Epsilon = None,
    rho: Rho = None,
    error: Error = None,
    confidence: Confidence = "0.95",
    form: Output = Format.TABLE,
) -> None:
    """Show the bill of a question before paying: every measurement, its noise, the error to expect.

    It follows from the catalog alone: no private data is read and nothing is spent.
    """
    from adomnia.cli import bills, opening

    payment = _payment(epsilon, rho, error, confidence)
    with opening.rehearsal(folder) as curator:
        quote = opening.session(curator, None).price(text, **payment)
    if form is Format.JSON:
        bills.print_json(quote)
    else:
        bills.print_table(quote)


def _payment(epsilon: str | None, rho: str | None, error: str | None, confidence: str) -> Mapping[str, Any]:
    bound = number("error", error)
    return {
        "epsilon": number("epsilon", epsilon),
        "rho": number("rho", rho),
        "error": None if bound is None else float(bound),
        "confidence": share("confidence", confidence),
    }
