"""`adomnia answers`: what an analyst has paid for and got, page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from adomnia.cli.options import Format, Output, PlaceText, TokenFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.cli.places import Place
    from adomnia.session.accounts import Past

ANSWERS_EXAMPLES = """Examples

adomnia answers examples/hospital --analyst alice

adomnia answers examples/hospital --after monday-1 --limit 20 --format json
"""


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
    from adomnia.cli.places import Place

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
    from adomnia.cli import opening, places
    from adomnia.session.accounts import list_pasts

    if place.is_address:
        with places.open_remote(place) as session:
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
