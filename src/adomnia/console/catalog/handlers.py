"""The handlers of the catalog pages: reading, editing, previewing and saving."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import RedirectResponse, Response

from adomnia.api.actions.passwords import LOGIN_FAILED
from adomnia.api.catalog_edits.catalog_file import CatalogFile
from adomnia.api.catalog_edits.previews import save_text
from adomnia.api.problems import status_of
from adomnia.console.catalog.draft import CatalogDraft
from adomnia.console.catalog.editor import build_editor, start_draft
from adomnia.console.catalog.overview import build_overview
from adomnia.console.forms import read_form
from adomnia.console.frame import show
from adomnia.errors import Refusal, Unavailable

if TYPE_CHECKING:
    from adomnia.api.requests import Visit
    from adomnia.console.rendering import Page

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
    form = await read_form(request)
    draft = CatalogDraft.from_fields(form)
    try:
        await save_text(request, None, lambda: draft.apply().text, draft.base, form.get("password", ""))
    except (Refusal, Unavailable) as fault:
        return await show(request, partial(_show_fault, draft=draft, fault=fault))
    return RedirectResponse(f"{_PAGE}?saved=yes", 303)


def _preview(visit: Visit, draft: CatalogDraft) -> Page:
    try:
        return build_editor(visit, draft.apply())
    except Refusal as fault:
        return build_editor(visit, draft, fault, status_of(fault))


def _show_fault(visit: Visit, draft: CatalogDraft, fault: Refusal | Unavailable) -> Page:
    """The editor again, with nothing lost, and why it was not saved."""
    with suppress(Refusal):  # of what was typed, which is the fault then, and stays typed
        draft = draft.apply()
    if fault.code == "catalog_changed":  # the page compares with what is there now: saving again means that
        draft = replace(draft, base=CatalogFile(visit.catalog.folder).read().identity)
    elif fault.code == LOGIN_FAILED:
        fault = Refusal("The password", "is not yours", "type it again", code=LOGIN_FAILED)
    return build_editor(visit, draft, fault, status_of(fault))
