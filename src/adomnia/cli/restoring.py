"""`adomnia ledger restore`: how owners put a backup in the ledger's place, and say what was spent since."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - the type of an argument is read when commands are made
from typing import TYPE_CHECKING, Annotated

import typer

from adomnia.cli.options import Folder, Format, Lifetime, Output, parse_number
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from adomnia.privacy.events import Event

RESTORE_EXAMPLES = """Examples

adomnia ledger restore examples/hospital copies/monday.sqlite

adomnia ledger restore examples/hospital copies/monday.sqlite --spent dataset=0.7 --spent analyst:alice=0.7
"""


def restore(  # noqa: PLR0913, PLR0917 - each is an option
    folder: Folder,
    backup: Annotated[Path, typer.Argument(metavar="FILE", help="A backup; its anchor lies beside it.")],
    heads: Annotated[
        list[str] | None, typer.Option("--head", metavar="HEAD", help="A later head, kept as a witness.")
    ] = None,
    spent: Annotated[
        list[str] | None,
        typer.Option(metavar="ACCOUNT=EPSILON", help="The most that was spent since; all that was left if not given."),
    ] = None,
    spent_rho: Annotated[
        list[str] | None, typer.Option(metavar="ACCOUNT=RHO", help="The same for what was paid in rho.")
    ] = None,
    spent_delta: Annotated[
        list[str] | None, typer.Option(metavar="ACCOUNT=DELTA", help="The delta that went with it.")
    ] = None,
    lifetime: Lifetime = False,
    form: Output = Format.TABLE,
) -> None:
    """Put a backup in the ledger's place; what may have been spent since it was made counts as spent."""
    from adomnia.cli import pages
    from adomnia.ledger.chain import Head
    from adomnia.ledger.restore import Restoration
    from adomnia.ledger.restore import restore as put_in_place
    from adomnia.session.curator import read_catalog
    from adomnia.session.ledgers import find_declared

    gap = _read_gap(spent or (), spent_rho or (), spent_delta or ())
    witnesses = tuple(Head.parse(text) for text in heads or ())
    place, budget, analysts = find_declared(read_catalog(folder), lifetime)
    found = put_in_place(place, backup.resolve(), Restoration(budget, analysts, gap, witnesses))
    if form is Format.JSON:
        pages.show_json({"ok": True, "entries": found.sequence, "head": found.hash})
        return
    pages.show(f"The ledger is restored: {found.sequence:,} entries, the last with the hash {found.hash}.")
    pages.show("`adomnia budget` says what is left. What the accounts had left counts as spent where you did not say.")


def _read_gap(epsilons: Sequence[str], rhos: Sequence[str], deltas: Sequence[str]) -> dict[str, Event | None]:
    """What each account may have spent; one that is named with 0 has spent nothing."""
    options = {"spent": epsilons, "spent-rho": rhos, "spent-delta": deltas}
    parts = {option: _read_amounts(option, texts) for option, texts in options.items()}
    accounts = {account for amounts in parts.values() for account in amounts}
    return {account: _read_event(account, *(parts[option].get(account) for option in options)) for account in accounts}


def _read_amounts(option: str, texts: Sequence[str]) -> dict[str, Decimal | None]:
    found: dict[str, Decimal | None] = {}
    for text in texts:
        account, _, number = text.rpartition("=")
        amount = parse_number(option, number)
        if not account or account in found or amount is None or not amount.is_finite() or amount < 0:
            why = "is not an account and a number of at least 0, or names one twice"
            raise Refusal(f"--{option} {text!r}", why, f"write --{option} dataset=0.5 or analyst:alice=0.5")
        found[account] = amount
    return found


def _read_event(account: str, epsilon: Decimal | None, rho: Decimal | None, delta: Decimal | None) -> Event | None:
    """An event that costs at least as much as whatever was spent: sums bound sums, in epsilon and in rho."""
    from adomnia.privacy.events import Approximate, Composed, Concentrated, Pure

    events: list[Event] = []
    if epsilon:
        events.append(Approximate(epsilon, delta) if delta and not rho else Pure(epsilon))
    if rho:
        events.append(Concentrated(rho, delta or 0))
    if delta and not events:
        fix = "say also how much epsilon or rho went with it"
        raise Refusal(f"--spent-delta of {account}", "stands alone", fix)
    return Composed(events) if events else None
