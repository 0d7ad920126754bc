"""The handlers of the catalog pages: reading, editing, previewing and saving."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import RedirectResponse, Response

from adomnia.api.access.login_attempts import LOGIN_FAILED
from adomnia.api.problems import status_of
from adomnia.api.routes.requests import address_of, run_in_pool, services_of, visitor_of
from adomnia.console.catalog.catalog_file import CatalogFile
from adomnia.console.catalog.draft import CatalogDraft
from adomnia.console.catalog.editor import build_editor, examine_draft, start_draft
from adomnia.console.catalog.overview import build_overview
from adomnia.console.forms import read_form
from adomnia.console.visits import Visit, show
from adomnia.errors import Refusal, Unavailable
from adomnia.work import limit

if TYPE_CHECKING:
    from adomnia.api.access import Visitor
    from adomnia.api.services import Services
    from adomnia.console.rendering import Page

__all__ = ["catalog_page", "edit_catalog", "preview_catalog", "save_catalog"]

_PAGE = "/owner/catalog"


async def catalog_page(request: Request) -> Response:
    """The catalog that is served, and its check."""
    return await show(request, build_overview)


async def edit_catalog(request: Request) -> Response:
    """The editor, with the text on disk or an older one."""
    part, older = request.query_params.get("part", ""), request.query_params.get("from", "")
    return await show(request, lambda visit: build_editor(visit, start_draft(visit, part, older)))


async def preview_catalog(request: Request) -> Response:
    """What the change so far would do; nothing is saved."""
    draft = CatalogDraft.from_fields(await read_form(request))
    return await show(request, lambda visit: _preview(visit, draft))


async def save_catalog(request: Request) -> Response:
    """Save the draft once the password is right, and lead to the page that says whether it is served."""
    form, services, visitor = await read_form(request), services_of(request), visitor_of(request)
    draft, address = CatalogDraft.from_fields(form), address_of(request)
    try:
        await services.password_pool.run(
            address, lambda: services.access.check_password(visitor.name, form.get("password", ""), address)
        )
        await run_in_pool(request, lambda: _save(services, visitor, draft))
    except (Refusal, Unavailable) as fault:
        return await show(request, partial(_show_fault, draft=draft, fault=fault))
    return RedirectResponse(f"{_PAGE}?saved=yes", 303)


def _preview(visit: Visit, draft: CatalogDraft) -> Page:
    try:
        return build_editor(visit, draft.apply())
    except Refusal as fault:
        return build_editor(visit, draft, fault, status_of(fault))


def _save(services: Services, visitor: Visitor, draft: CatalogDraft) -> None:
    """Save a draft with which nothing is wrong, if the file is still the one that it began from."""
    if services.access.shared is not None:
        why = "is one of several copies: each host that shares the ledger has its own"
        raise Refusal(
            "The catalog", why, "put this text on each of them, as docs/cluster.md says", code="owner_by_hand"
        )
    with services.dataset.curator() as curator, limit():
        done = draft.apply()
        examined = examine_draft(Visit(services, visitor, curator), done)
        if examined.problems:
            first = examined.problems[0]
            raise Refusal(first.what, first.why, first.fix, first.position)
        CatalogFile(curator.catalog.folder).replace(done.text, done.base, visitor.name)
    services.logs.write("info", event="catalog", user=visitor.name, why="The catalog was saved by a page.")


def _show_fault(visit: Visit, draft: CatalogDraft, fault: Refusal | Unavailable) -> Page:
    """The editor again, with nothing lost, and why it was not saved."""
    with suppress(Refusal):  # of what was typed, which is the fault then, and stays typed
        draft = draft.apply()
    if fault.code == "catalog_changed":  # the page compares with what is there now: saving again means that
        draft = replace(draft, base=CatalogFile(visit.curator.catalog.folder).read().identity)
    elif fault.code == LOGIN_FAILED:
        fault = Refusal("The password", "is not yours", "type it again", code=LOGIN_FAILED)
    return build_editor(visit, draft, fault, status_of(fault))
