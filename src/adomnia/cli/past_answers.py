"""`adomnia answers`: what an analyst has paid for and got, page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from adomnia.cli.options import Folder, Format, Output

if TYPE_CHECKING:
    from adomnia.session.accounts import Past

ANSWERS_EXAMPLES = """Examples

adomnia answers examples/hospital --analyst alice

adomnia answers examples/hospital --after monday-1 --limit 20 --format json
"""


def answers(
    folder: Folder,
    analyst: Annotated[str | None, typer.Option(help="Whose; the first one of the catalog unless told.")] = None,
    after: Annotated[
        str | None, typer.Option(metavar="ID", help="Only those after the one of this request id.")
    ] = None,
    limit: Annotated[int, typer.Option(metavar="NUMBER", min=1, max=1000, help="So many at most.")] = 100,
    form: Output = Format.TABLE,
) -> None:
    """List what an analyst has paid for and got, oldest first; no data is read and nothing is spent."""
    from adomnia.cli import opening, pages
    from adomnia.session.accounts import list_pasts

    with opening.open_accounts(folder) as (catalog, ledger):
        found = list_pasts(ledger, analyst or catalog.analysts[0].name, after, limit)
    if form is Format.JSON:
        pages.show_json([_record(past) for past in found])
        return
    table = pages.table(("Request id", "Version", "Cost", "Question"))
    for past in found:
        table.add_row(past.request_id, str(past.version), _format_cost(past), "\n".join(past.questions))
    pages.show(table)
    if found:
        pages.show("", f"What follows, if anything does: --after {found[-1].request_id}")


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
