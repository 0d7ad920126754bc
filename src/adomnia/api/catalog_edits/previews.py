"""What a changed text of the catalog would do, told before it is saved; and saving it, with the password."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.api.access import Role
from adomnia.api.authorization import check_password
from adomnia.api.catalog_edits.catalog_file import CatalogFile, KeptText
from adomnia.api.catalog_edits.consequences import Consequence, list_consequences
from adomnia.api.catalog_edits.effects import ErrorEffect, carry_profiles, compare_errors
from adomnia.api.catalog_edits.examining import ExaminedText, KnownSources, examine_text, parse_toml
from adomnia.api.requests import read_dataset
from adomnia.errors import Refusal, Unavailable
from adomnia.explaining.promises import promises
from adomnia.work import limit

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from adomnia.api.requests import Visit
    from adomnia.catalog.model import Catalog


@dataclass(frozen=True)
class PromiseChange:
    """What the catalog promises about something, before and after."""

    about: str
    was: tuple[str, ...]
    becomes: tuple[str, ...]


@dataclass(frozen=True)
class CatalogPreview:
    """What is wrong with a text; if nothing is, what follows from it for errors, for people, and for promises."""

    problems: tuple[Refusal, ...]
    effects: tuple[ErrorEffect, ...] = ()
    consequences: tuple[Consequence, ...] = ()
    changes: tuple[PromiseChange, ...] = ()


@dataclass(frozen=True)
class ServedText:
    """The text on disk, and whether it is served: "served", "opening", or "kept" where it cannot be opened.

    It is the state of one worker; each of all `workers` opens the text by itself. `problems` are those of the text, and
    `kept` are the texts that it replaced, the last one first.
    """

    text: str
    identity: str
    problems: tuple[Refusal, ...]
    state: str
    version: int
    workers: int
    problem: str
    kept: tuple[KeptText, ...]


def examine_draft(visit: Visit, text: str) -> ExaminedText:
    """Everything that is wrong with a text, whose files must be among those that are named already."""
    catalog, on_disk = visit.catalog, {}
    with suppress(Refusal):  # what is no TOML names nothing
        on_disk = parse_toml(CatalogFile(catalog.folder).read().text)
    return examine_text(text, catalog.folder, KnownSources.of(catalog, on_disk))


def preview_text(visit: Visit, text: str) -> CatalogPreview:
    """What a text would do in the place of the catalog that is served; nothing is saved."""
    examined, served = examine_draft(visit, text), visit.catalog
    if examined.catalog is None:
        return CatalogPreview(examined.problems)
    after = carry_profiles(served, examined.catalog)
    users = frozenset(user.name for user in visit.services.access.users())
    return CatalogPreview(
        (),
        tuple(compare_errors(served, after)),
        tuple(list_consequences(served, after, users)),
        tuple(_compare_promises(served, after)),
    )


def read_served_text(visit: Visit) -> ServedText:
    """The text on disk. Why it is not served is for the owner: it may be about rows."""
    file = CatalogFile(visit.catalog.folder)
    text, identity = "", file.identify()
    try:
        disk = file.read()
        text, identity = disk.text, disk.identity
        problems = examine_text(text, visit.catalog.folder).problems
    except (Refusal, Unavailable) as fault:
        problems = (Refusal(fault.what, fault.why, fault.fix),)
    return ServedText(text, identity, problems, *_find_state(visit, identity), tuple(file.list_kept()))


def read_older_text(visit: Visit, name: str) -> str:
    """A text that was replaced; a Refusal where none has that name."""
    return CatalogFile(visit.catalog.folder).read_kept(name)


def _find_state(visit: Visit, identity: str) -> tuple[str, int, int, str]:
    dataset, workers = visit.services.dataset, visit.services.settings.workers
    with dataset.lease() as edition:
        version = edition.curator.catalog.version
        if edition.identity == identity:
            return "served", version, workers, ""
    problem = dataset.find_problem(identity)
    if problem is None:
        return "opening", version, workers, ""
    return "kept", version, workers, problem if visit.visitor.role is Role.OWNER else "Its owner can see why."


def _compare_promises(before: Catalog, after: Catalog) -> list[PromiseChange]:
    said: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for side, catalog in enumerate((before, after)):
        for promise in promises(catalog):
            said[promise.about][side].append(promise.says)
    changes = []
    for about, (was, becomes) in said.items():
        gone, new = [each for each in was if each not in becomes], [each for each in becomes if each not in was]
        if gone or new:
            changes.append(PromiseChange(about, tuple(gone), tuple(new)))
    return changes


async def save_text(
    request: Request, dataset: str | None, write: Callable[[], str], began_from: str, password: str
) -> str:
    """Save the text that `write` gives, if the file is still the one that it began from; gives the file's identity."""
    await check_password(request, password)
    return await read_dataset(request, dataset, lambda visit: _save(visit, write, began_from))


def _save(visit: Visit, write: Callable[[], str], began_from: str) -> str:
    services, name = visit.services, visit.visitor.name
    if services.access.shared is not None:
        why = "is one of several copies: each host that shares the ledger has its own"
        fix = "put this text on each of them, as docs/cluster.md says"
        raise Refusal("The catalog", why, fix, code="owner_by_hand")
    with limit():
        text = write()
        examined = examine_draft(visit, text)
        if examined.problems:
            first = examined.problems[0]
            raise Refusal(first.what, first.why, first.fix, first.position)
        saved = CatalogFile(visit.catalog.folder).replace(text, began_from, name)
    services.logs.write("info", event="catalog", user=name, why="The catalog was saved over the network.")
    return saved.identity
