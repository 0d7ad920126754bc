"""`adomnia sql`, `adomnia price` and `adomnia explain`: what analysts type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from adomnia.cli.options import (
    Analyst,
    AnswerFormat,
    Confidence,
    Delta,
    Effort,
    Epsilon,
    Error,
    Folder,
    Format,
    Output,
    Rho,
    Rows,
    Text,
    Together,
    Weights,
    number,
    rows,
    share,
    weights,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SQL_EXAMPLES = """Examples

adomnia sql examples/hospital "SELECT city, COUNT(*), AVG(salary) FROM people GROUP BY city" --epsilon 0.5

adomnia sql examples/hospital "SELECT COUNT(*) FROM visits WHERE cost > 1000" --error 200 --format json

adomnia sql examples/hospital "SELECT AVG(age) FROM people" --rho 0.01 --analyst bob

adomnia sql examples/hospital "SELECT sex, SUM(salary) FROM people GROUP BY sex" --epsilon 0.5 --mock

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


def sql(  # noqa: PLR0913, PLR0917 - the options of a command
    folder: Folder,
    text: Text,
    epsilon: Epsilon = None,
    rho: Rho = None,
    error: Error = None,
    delta: Delta = None,
    weight: Weights = None,
    size: Rows = None,
    effort: Effort = "normal",
    confidence: Confidence = "0.95",
    analyst: Analyst = None,
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
    from adomnia.explaining.explanations import is_explain

    payment = _payment((epsilon, rho, error, delta), weight, size, (effort, confidence))
    if is_explain(text):
        explain_to((folder, analyst), text, payment, Format.JSON if form is AnswerFormat.JSON else Format.TABLE)
        return
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
    delta: Delta = None,
    weight: Weights = None,
    size: Rows = None,
    effort: Effort = "normal",
    confidence: Confidence = "0.95",
    analyst: Analyst = None,
    together: Together = False,
    form: Output = Format.TABLE,
) -> None:
    """Show the bill of a question before paying: every measurement, its noise, the error to expect.

    It follows from the catalog and from what was spent: no private data is read and nothing is spent.
    """
    from adomnia.cli import bills, opening

    payment = _payment((epsilon, rho, error, delta), weight, size, (effort, confidence))
    with opening.quoting(folder, analyst) as session:
        quote = session.price(text, **payment, together=together)
    if form is Format.JSON:
        bills.print_json(quote)
    else:
        bills.print_table(quote)


def explain(  # noqa: PLR0913, PLR0917 - the options of a command
    folder: Folder,
    text: Text,
    epsilon: Epsilon = None,
    rho: Rho = None,
    error: Error = None,
    delta: Delta = None,
    weight: Weights = None,
    size: Rows = None,
    effort: Effort = "normal",
    confidence: Confidence = "0.95",
    analyst: Analyst = None,
    form: Output = Format.TABLE,
) -> None:
    """Explain a question as a tree: whose rows, what is measured and why so much noise; with a price, what it buys.

    It follows from the catalog and from what was spent: no private data is read and nothing is spent.
    """
    payment = _payment((epsilon, rho, error, delta), weight, size, (effort, confidence))
    explain_to((folder, analyst), text, payment, form)


def explain_to(asker: tuple[Path, str | None], text: str, payment: Mapping[str, Any], form: Format) -> None:
    """Print the tree of a question, as it is to an analyst of a dataset."""
    from adomnia.cli import opening, pages

    with opening.quoting(*asker) as session:
        tree = session.explain(text, **payment).tree
    if form is Format.JSON:
        pages.show_json(tree.record())
    else:
        pages.show(str(tree))


def _payment(
    price: tuple[str | None, ...], weight: list[str] | None, size: str | None, way: tuple[str, str]
) -> Mapping[str, Any]:
    (epsilon, rho, error, delta), (effort, confidence) = price, way
    bound = number("error", error)
    return {
        "epsilon": number("epsilon", epsilon),
        "rho": number("rho", rho),
        "error": None if bound is None else float(bound),
        "weights": weights(weight) or None,
        "rows": rows(size),
        "delta": number("delta", delta),
        "effort": effort,
        "confidence": share("confidence", confidence),
    }
