"""`adomnia ledger verify`, `head`, `export`, `backup` and `restore`: for owners and auditors.

All but `restore` work while the ledger is in use.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path  # noqa: TC003 - the type of an argument is read when commands are made
from typing import TYPE_CHECKING, Annotated

import typer

from adomnia.cli.options import Folder, Format, Lifetime, Output, parse_number
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from decimal import Decimal

    from adomnia.api.ledger_view import LedgerEntry
    from adomnia.ledger.chain import Head
    from adomnia.privacy.events import Event

app = typer.Typer(no_args_is_help=True, help="Check the ledger, list its entries, copy and restore it, add to budgets.")

_VERIFY_EXAMPLE = """Examples

adomnia ledger verify examples/hospital

adomnia ledger verify examples/hospital --head "$(cat witness.txt)"
"""
_HEAD_EXAMPLE = """Example

adomnia ledger head examples/hospital > witness.txt
"""
_EXPORT_EXAMPLES = """Examples

adomnia ledger export examples/hospital > entries.jsonl

adomnia ledger export examples/hospital --format csv --after 1000
"""
_JOIN_EXAMPLE = """Example

adomnia ledger join examples/hospital
"""
_BACKUP_EXAMPLE = """Example

adomnia ledger backup examples/hospital copies/monday.sqlite
"""


_SHARE_LEDGER = 'to keep it in PostgreSQL, add [ledger] with url = "postgresql://host/database" to catalog.toml'
RESTORE_EXAMPLES = """Examples

adomnia ledger restore examples/hospital copies/monday.sqlite

adomnia ledger restore examples/hospital copies/monday.sqlite --spent dataset=0.7 --spent analyst:alice=0.7
"""


class EntryFormat(StrEnum):
    """How entries are written."""

    JSON = "json"
    CSV = "csv"


@app.command(epilog=_VERIFY_EXAMPLE)
def verify(
    folder: Folder,
    heads: Annotated[
        list[str] | None, typer.Option("--head", metavar="HEAD", help="A head written down earlier; may be repeated.")
    ] = None,
    receipts: Annotated[
        list[str] | None, typer.Option("--receipt", metavar="HASH", help="The receipt of an answer; may be repeated.")
    ] = None,
    lifetime: Lifetime = False,
    form: Output = Format.TABLE,
) -> None:
    """Redo every hash, admission and total, and compare every stored answer with its hash."""
    from adomnia.api.ledger_stamps import remember_verified
    from adomnia.api.ledger_view import open_snapshot
    from adomnia.ledger.audit import check_witnesses, examine, list_restorations
    from adomnia.ledger.chain import Head
    from adomnia.session.ledgers import find_ledger

    witnesses = [Head.parse(text) for text in heads or ()]
    place = find_ledger(folder, lifetime)
    anchor = place.anchor.read()  # before the entries: read after them, it could be ahead of them

    def look() -> Head:
        head = examine(records, anchor)
        check_witnesses(records, witnesses, receipts or ())
        return head

    with open_snapshot(place) as records:
        head = look() if lifetime else remember_verified(folder, look)
        restorations = list_restorations(records)
    _say("The ledger is sound", head, form, restored=[{"entry": entry, "at": at} for entry, at in restorations])
    for entry, at in restorations if form is Format.TABLE else ():
        typer.echo(f"Entry {entry} of {at} put a backup in its place; what was spent since that backup is an estimate.")


@app.command(epilog=_HEAD_EXAMPLE)
def head(folder: Folder, lifetime: Lifetime = False, form: Output = Format.TABLE) -> None:
    """Say the newest entry's number and hash: kept elsewhere, they are a witness for `ledger verify --head`."""
    from adomnia.api.ledger_view import open_snapshot
    from adomnia.cli import pages
    from adomnia.ledger.journal import check_anchor, find_newest
    from adomnia.session.ledgers import find_ledger

    place = find_ledger(folder, lifetime)
    anchor = place.anchor.read()
    with open_snapshot(place) as records:
        newest = find_newest(records)
        check_anchor(records, newest, anchor)
    if form is Format.JSON:
        pages.show_json({"entries": newest.sequence, "head": newest.hash})
    else:
        typer.echo(newest)


@app.command(epilog=_EXPORT_EXAMPLES)
def export(
    folder: Folder,
    form: Annotated[EntryFormat, typer.Option("--format", help="JSON lines, or a table with a heading.")] = (
        EntryFormat.JSON
    ),
    after: Annotated[int, typer.Option(metavar="NUMBER", min=0, help="Only the entries after this one.")] = 0,
    lifetime: Lifetime = False,
) -> None:
    """List the entries, one a line: who paid how much, when, and what it came to. No answers are among them."""
    from adomnia.api.ledger_view import open_snapshot, read_entries
    from adomnia.ledger.journal import check_anchor, find_newest
    from adomnia.session.ledgers import find_ledger

    place = find_ledger(folder, lifetime)
    anchor = place.anchor.read()
    with open_snapshot(place) as records:
        for line in _WRITTEN[form](read_entries(records, after)):
            typer.echo(line, nl=False)
        check_anchor(records, find_newest(records), anchor)  # a list that was cut short is not the whole


@app.command(epilog=_BACKUP_EXAMPLE)
def backup(
    folder: Folder,
    target: Annotated[Path, typer.Argument(metavar="FILE", help="A file that does not exist yet.")],
    lifetime: Lifetime = False,
    form: Output = Format.TABLE,
) -> None:
    """Copy the ledger as it is at this moment, verify the copy, and give it an anchor of its own."""
    from adomnia.api.ledger_stamps import remember_backup
    from adomnia.api.ledger_view import open_snapshot
    from adomnia.ledger import audit
    from adomnia.session.ledgers import find_ledger

    with open_snapshot(find_ledger(folder, lifetime)) as records:
        head = audit.backup(records, target.resolve())
    if not lifetime:
        remember_backup(folder, head)
    _say(f"The copy {target} is sound", head, form)


@app.command(epilog=_JOIN_EXAMPLE)
def join(folder: Folder, form: Output = Format.TABLE) -> None:
    """Let this machine use a ledger in PostgreSQL that another machine created: verify it, and write an anchor."""
    from adomnia.cli import pages
    from adomnia.errors import Refusal
    from adomnia.ledger.postgres_place import PostgresPlace
    from adomnia.postgres import describe
    from adomnia.session.curator import read_catalog
    from adomnia.session.ledgers import locate_ledger

    place = locate_ledger(folder)
    if not isinstance(place, PostgresPlace):
        read_catalog(folder)  # a folder without a catalog is refused as such
        why, fix = "is a file on this machine, and only a ledger in PostgreSQL can be joined", _SHARE_LEDGER
        raise Refusal("The ledger of this dataset", why, fix)
    where, known, shares = describe(place.url), place.anchor.exists(), place.shared is not None
    head = place.join()
    if form is Format.TABLE and head.sequence == 0:
        pages.show(f"{where}, has no ledger of this dataset yet. The first question creates it.")
    else:
        done = "had joined the ledger before, and it is intact" if known else "has joined the ledger"
        _say(f"This machine {done} ({where})", head, form, lifetime=shares)
    if form is Format.TABLE and shares:
        pages.show("The lifetime account that it shares with other datasets was verified and joined too.")


def _say(sentence: str, head: Head, form: Format, **more: object) -> None:
    from adomnia.cli import pages

    if form is Format.JSON:
        pages.show_json({"ok": True, "entries": head.sequence, "head": head.hash, **more})
    else:
        pages.show(f"{sentence}: {head.sequence:,} entries, the last with the hash {head.hash}.")


def _json_lines(found: Iterator[LedgerEntry]) -> Iterator[str]:
    import json

    for entry in found:
        yield json.dumps(entry.record(), ensure_ascii=False, separators=(",", ":")) + "\n"


def _csv_lines(found: Iterator[LedgerEntry]) -> Iterator[str]:
    from adomnia.api.ledger_view import write_csv

    return write_csv(found)


_WRITTEN = {EntryFormat.JSON: _json_lines, EntryFormat.CSV: _csv_lines}


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
