"""`adomnia init`, `adomnia budget` and `adomnia ledger top-up`: what owners of data type."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adomnia.cli.options import Folder, Format, Lifetime, Output, PlaceText, TokenFile, parse_number
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from adomnia.cli.accounts import AccountSummary, LifetimeSummary
    from adomnia.cli.dataset_places import Place
    from adomnia.privacy.events import Event

INIT_EXAMPLES = """Examples

adomnia init study study/people.csv study/visits.parquet

adomnia init study study/people.csv --look

adomnia init study postgresql://db.example.org/hospital --table people --table visits

adomnia init study --from-smartnoise metadata.yaml
"""
BUDGET_EXAMPLES = """Examples

adomnia budget examples/hospital

adomnia budget examples/hospital --format json

adomnia budget https://stats.example.org/hospital --token-file token.txt
"""
TOP_UP_EXAMPLES = """Examples

adomnia ledger top-up examples/hospital --analyst alice --epsilon 0.5 --reason "second year of the study"

adomnia ledger top-up examples/hospital --dataset --epsilon 2 --delta 1e-7 --reason "board meeting of 3 May"
"""


def init(
    folder: Folder,
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE...", help="The files of the tables; or postgresql://..."),
    ] = None,
    table: Annotated[list[str] | None, typer.Option(help="A table of the URL; without one, all of them.")] = None,
    look: Annotated[
        bool,
        typer.Option(
            "--look", help="Look at the rows for types, formats and keys that repeat; never for bounds or values."
        ),
    ] = False,
    from_smartnoise: Annotated[Path | None, typer.Option(help="SmartNoise metadata in YAML, instead of files.")] = None,
) -> None:
    """Write a catalog.toml to fill in, from the headers of files, or the columns of tables, alone.

    No bound, value or budget is ever taken from the data, and whose presence is hidden is proposed, not decided: these
    lines are left for you.
    """
    from adomnia.catalog.read import FILE
    from adomnia.inspection.drafts import draft
    from adomnia.inspection.files import find_tables
    from adomnia.postgres import is_url

    target = folder / FILE
    if folder.is_file():
        why, fix = "is a file, and a dataset is a folder", f"name a folder first: adomnia init study {folder}"
        raise Refusal(f"{folder}", why, fix)
    if target.exists():
        raise Refusal(f"{target}", "is there already", "move it away, or name another folder")
    if bool(files) == (from_smartnoise is not None):
        why = "needs either files to describe or SmartNoise metadata"
        fix = f"write adomnia init {folder} FILE, or --from-smartnoise FILE"
        raise Refusal("adomnia init", why, fix)
    places = [file if is_url(file) else Path(file) for file in files or []]
    if table and not any(isinstance(place, str) for place in places):
        raise Refusal("--table", "is for databases of PostgreSQL", "leave it out, or name a postgresql:// URL")
    if from_smartnoise:
        text = _import_smartnoise(from_smartnoise)
    else:
        text = draft(folder.resolve().name, find_tables(folder, places, look, table or []))
    folder.mkdir(parents=True, exist_ok=True)
    with target.open("x", encoding="utf-8") as file:
        file.write(text)
    typer.echo(f"Wrote {target}. Fill in the lines that begin with #, then run: adomnia check {folder}")


def budget(place: PlaceText, token_file: TokenFile = None, form: Output = Format.TABLE) -> None:
    """Say who spent what, what is left, and what the next question costs if a policy sets its price.

    A server tells an analyst's own budget, and that of all together.
    """
    from adomnia.cli import accounts, pages
    from adomnia.cli.dataset_places import Place

    where = Place(place, None, token_file)
    from adomnia.pricing.bills import format_cost

    found, shared, charges = (_own_accounts(where), None, {}) if where.is_address else _all_accounts(where.folder)
    if form is Format.JSON:
        more = [] if shared is None else [accounts.lifetime_record(shared)]
        pages.show_json([*map(accounts.as_record, found), *more])
        return
    accounts.print_budgets(found)
    if charges:
        paid = ", ".join(f"{name} {format_cost(event)}" for name, event in charges.items())
        pages.show(f"Of that the dataset alone paid for releases: {paid}.")
    if shared is not None:
        accounts.print_lifetime(shared)


def _all_accounts(folder: Path) -> tuple[list[AccountSummary], LifetimeSummary | None, dict[str, Event]]:
    from adomnia.cli import opening
    from adomnia.cli.accounts import AccountSummary, LifetimeSummary
    from adomnia.releases.checks import list_charges

    with opening.open_accounts(folder) as (catalog, ledger):
        counts = {one.name: ledger.count_answers(one.name) for one in catalog.analysts}
        found = [AccountSummary(o.name, ledger.account(o.name), counts[o.name], o.policy) for o in catalog.analysts]
        total = AccountSummary(None, ledger.account(), sum(counts.values()), restored=ledger.restored())
        filters, declared, charges = ledger.lifetime(), catalog.ledger, list_charges(ledger)
    shared = LifetimeSummary(declared.lifetime, filters) if filters and declared and declared.lifetime else None
    return [*found, total], shared, charges


def _own_accounts(place: Place) -> list[AccountSummary]:
    from adomnia.cli.accounts import list_own
    from adomnia.cli.dataset_places import open_remote

    with open_remote(place) as session:
        return list_own(session)


def _import_smartnoise(metadata: Path) -> str:
    from adomnia.inspection.smartnoise import from_smartnoise

    try:
        text = metadata.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise Refusal(f"File {metadata}", "cannot be read", "name a YAML file in UTF-8") from None
    return from_smartnoise(text)


def top_up(  # noqa: PLR0913, PLR0917 - each is an option
    folder: Folder,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; it is kept in the ledger.")],
    analyst: Annotated[str | None, typer.Option(metavar="NAME", help="Whose budget.")] = None,
    dataset: Annotated[bool, typer.Option("--dataset", help="The dataset's own budget.")] = False,
    lifetime: Lifetime = False,
    epsilon: Annotated[str, typer.Option(metavar="NUMBER", help="How much epsilon to add.")] = "0",
    delta: Annotated[str, typer.Option(metavar="NUMBER", help="How much delta to add.")] = "0",
    form: Output = Format.TABLE,
) -> None:
    """Add to the budget of an analyst, the dataset, or all datasets that share an account, for good and at once."""
    from adomnia.cli import accounts, opening, pages
    from adomnia.explaining.balances import say_account
    from adomnia.session.ledgers import find_ledger

    if (analyst is not None) + dataset + lifetime != 1:
        raise Refusal("A top-up", "is for one account", "give either --analyst NAME, or --dataset, or --lifetime")
    find_ledger(folder)  # one in memory would forget it
    amounts = {"epsilon": parse_number("epsilon", epsilon) or 0, "delta": parse_number("delta", delta) or 0}
    with opening.open_accounts(folder) as (_, ledger):
        try:
            add = ledger.top_up_lifetime if lifetime else partial(ledger.top_up, analyst)
            account = add(reason, **amounts)
        except ValueError as error:
            fix = "add amounts that are not negative and not both 0, for a reason of 1 to 1,000 printable characters"
            raise Refusal("The top-up", f"is none: {error}", fix) from None
    budget = accounts.as_budget_record(account)
    if form is Format.JSON:
        pages.show_json({"analyst": analyst, **budget})
        return
    who = analyst or ("All datasets that share the account together" if lifetime else "The dataset")
    pages.show(f"{who} may spend {accounts.format_budget(account)} in all from now on. {say_account(account)}")
