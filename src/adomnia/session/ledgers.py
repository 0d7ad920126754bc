"""Where the ledger of a dataset is, and opening it with the budgets that the catalog declares."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from adomnia.catalog.document import load
from adomnia.catalog.ledgers import read_ledger
from adomnia.catalog.read import FILE
from adomnia.errors import Refusal
from adomnia.ledger import Ledger
from adomnia.ledger.chain import Anchor
from adomnia.ledger.ledger_places import MEMORY, FilePlace
from adomnia.ledger.owner import DeclaredPeople
from adomnia.ledger.postgres_place import ANCHORED, PostgresPlace
from adomnia.ledger.schema import explain_errors

if TYPE_CHECKING:
    from adomnia.catalog.model import Catalog, SharedLedger
    from adomnia.ledger.ledger_places import LastingPlace, LedgerPlace
    from adomnia.privacy.filters import Budget

__all__ = [
    "LEDGER",
    "MEMORY",
    "STATE",
    "find_declared",
    "find_ledger",
    "find_shared",
    "locate_ledger",
    "open_ledger",
    "place_ledger",
]

STATE = ".adomnia"  # the folder beside the catalog that holds index and ledger
LEDGER = "ledger.sqlite"


def place_ledger(catalog: Catalog) -> LastingPlace:
    """Where the ledger of a dataset is, or is going to be."""
    return _find_place(catalog.folder, catalog.name, catalog.ledger)


def locate_ledger(folder: Path) -> LastingPlace:
    """The same for a folder, of whose catalog nothing else is read or has to be right."""
    if not (folder / FILE).exists():
        return _find_place(folder, "", None)
    document = load(folder / FILE)
    dataset = document.content.get("dataset")
    name = str(dataset.get("name", "")) if isinstance(dataset, dict) else ""
    return _find_place(folder, name, read_ledger(document, name))


def find_ledger(folder: Path, lifetime: bool = False) -> LastingPlace:
    """The place of the ledger of a folder; refuse if there is none yet, because nobody has asked a question.

    With `lifetime`, that of the account that the dataset shares with others.
    """
    place = find_shared(locate_ledger(folder)) if lifetime else locate_ledger(folder)
    with explain_errors():
        if not place.exists():
            raise Refusal(f"Folder {folder}", "has no ledger", "name a folder whose data was asked about before")
    return place


def find_shared(place: LastingPlace) -> LastingPlace:
    """Where the account is that a dataset shares with others, or a refusal."""
    shared = place.shared if isinstance(place, PostgresPlace) else None
    if shared is None:
        raise Refusal("The dataset", "shares no account with others", "name one under [ledger]: lifetime = ...")
    return shared


def find_declared(catalog: Catalog, lifetime: bool) -> tuple[LastingPlace, Budget, dict[str, Budget]]:
    """The place of a ledger, its budget as the catalog declares it, and the budgets of those who spend from it.

    They are analysts; with `lifetime`, the dataset itself in the account that it shares with others.
    """
    place = place_ledger(catalog)
    if not lifetime:
        return place, catalog.budget, {analyst.name: analyst.budget for analyst in catalog.analysts}
    shared = find_shared(place)
    assert isinstance(place, PostgresPlace)  # noqa: S101 - no other place has a shared account
    budget = None if catalog.ledger is None else catalog.ledger.lifetime_budget
    assert budget is not None  # noqa: S101 - whoever names the account declares it
    return shared, budget, {place.member: catalog.budget}


def open_ledger(catalog: Catalog, place: str | Path | LedgerPlace) -> Ledger:
    """The ledger with the budgets that the catalog declares."""
    analysts = {analyst.name: analyst.budget for analyst in catalog.analysts}
    shared = None if isinstance(place, str | Path) else catalog.ledger
    lifetime = None if shared is None else shared.lifetime_budget
    return Ledger.open(place, catalog.budget, analysts, lifetime, describe_people(catalog))


def describe_people(catalog: Catalog) -> DeclaredPeople:
    """Whose rows the tables of a catalog hold."""
    links = {table.name: catalog.resolve_link(table.link) for table in catalog.tables if not table.public}
    written = {
        name: "" if link is None else f"{link.column} -> {link.parent}.{link.parent_column}"
        for name, link in links.items()
    }
    return DeclaredPeople(catalog.version, str(catalog.unit), written)


def _find_place(folder: Path, dataset: str, shared: SharedLedger | None) -> LastingPlace:
    """The one place that a dataset pays from: what was spent in another one would be forgotten."""
    state = (folder / STATE).resolve()
    path, elsewhere = state / LEDGER, state / ANCHORED
    if Anchor(elsewhere if shared is None else path).exists():
        used, said = ("PostgreSQL", "no [ledger]") if shared is None else (LEDGER, "[ledger]")
        fix = "let the catalog say where it was; docs/ledger.md says how to move it"
        raise Refusal(f"Folder {folder}", f"has a ledger in {used} already, and the catalog has {said}", fix)
    if shared is None:
        return FilePlace(path)
    return PostgresPlace(shared.url, shared.schema, dataset, state, shared.lifetime)
