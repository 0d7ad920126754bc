"""Saves a text of the catalog: with the password, if nothing is wrong with it, and if nobody else has changed it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.api.actions.passwords import check_password
from adomnia.api.catalog_edits.catalog_file import CatalogFile
from adomnia.api.catalog_edits.previews import examine_draft
from adomnia.api.requests import read_dataset
from adomnia.errors import Refusal
from adomnia.work import limit

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from adomnia.api.requests import Visit


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
