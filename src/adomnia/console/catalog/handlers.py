"""The catalog pages: reading, editing part by part, previewing what a change would do, and saving."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import partial
from typing import TYPE_CHECKING

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import RedirectResponse, Response

from adomnia.api.authorization import LOGIN_FAILED
from adomnia.api.catalog_edits.catalog_file import CatalogFile
from adomnia.api.catalog_edits.effects import EPSILON, GROUP
from adomnia.api.catalog_edits.previews import examine_draft, preview_text, save_text
from adomnia.api.problems import status_of
from adomnia.console.catalog.draft import CatalogDraft
from adomnia.console.catalog.overview import build_overview
from adomnia.console.catalog.parts import list_parts
from adomnia.console.forms import read_form
from adomnia.console.frame import show
from adomnia.console.rendering import Page
from adomnia.errors import Refusal, Unavailable
from adomnia.work import spend

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.api.catalog_edits.consequences import Consequence
    from adomnia.api.catalog_edits.effects import ErrorEffect
    from adomnia.api.catalog_edits.previews import PromiseChange
    from adomnia.api.requests import Visit
    from adomnia.console.catalog.parts import EditorPart

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


@dataclass(frozen=True)
class DraftPreview:
    """What a draft would do: what is wrong with it, the lines it changes, and what follows for errors and people.

    `moved`: the file on disk is no longer the one that the edit began from.
    """

    problems: tuple[Refusal, ...]
    lines: tuple[DiffLine, ...]
    effects: tuple[ErrorEffect, ...] = ()
    consequences: tuple[Consequence, ...] = ()
    changes: tuple[PromiseChange, ...] = ()
    moved: bool = False


def start_draft(visit: Visit, part: str, older: str) -> CatalogDraft:
    """The text on disk, or an older one that it replaced, about to be edited."""
    file = CatalogFile(visit.catalog.folder)
    disk = file.read()
    return CatalogDraft(file.read_kept(older) if older else disk.text, disk.identity, part or ("text" if older else ""))


def build_editor(
    visit: Visit, draft: CatalogDraft, fault: Refusal | Unavailable | None = None, status: int = 200
) -> Page:
    """The editor with a draft, and the fault that kept it from being saved, if there is one."""
    preview = _build_preview(visit, draft)
    parts = list_parts(draft.content)
    part = draft.find_part()
    filling = {
        "draft": draft,
        "part": part,
        "menu": _group_parts(parts),
        "wrong": _group_problems(part, preview.problems),
        "preview": preview,
        "fault": fault,
        "epsilon": float(EPSILON),
        "group": GROUP,
    }
    return Page("catalog_edit.html", filling, status)


def _build_preview(visit: Visit, draft: CatalogDraft) -> DraftPreview:
    disk = CatalogFile(visit.catalog.folder).read()
    lines, moved = tuple(compare_lines(disk.text, draft.text)), draft.base != disk.identity
    if not lines:
        return DraftPreview(examine_draft(visit, draft.text).problems, (), moved=moved)
    found = preview_text(visit, draft.text)
    return DraftPreview(found.problems, lines, found.effects, found.consequences, found.changes, moved)


def _group_parts(parts: list[EditorPart]) -> dict[str, list[EditorPart]]:
    menu: dict[str, list[EditorPart]] = {}
    for part in parts:
        menu.setdefault(part.heading, []).append(part)
    return menu


def _group_problems(part: EditorPart, problems: tuple[Refusal, ...]) -> dict[str, list[Refusal]]:
    """The problems of the fields that are shown, by the names of their fields."""
    return {
        field.name: [each for each in problems if each.what.startswith(f"{field.dotted} in ")] for field in part.fields
    }


_AROUND = 2


_MOST_LINES = 400


_LINES_OF_A_STEP = 5


@dataclass(frozen=True)
class DiffLine:
    """A line of both texts, or of one: "-" was there, "+" is there now, and "..." stands for those left out."""

    sign: str
    before: int | None
    after: int | None
    text: str


def compare_lines(before: str, after: str) -> list[DiffLine]:
    """The lines that differ, in their order; none if the texts are the same.

    >>> [(line.sign, line.text) for line in compare_lines("a = 1", "a = 2")]
    [('-', 'a = 1'), ('+', 'a = 2')]
    """
    old, new = before.splitlines(), after.splitlines()
    spend((len(old) + len(new)) // _LINES_OF_A_STEP)
    lines: list[DiffLine] = []
    for group in SequenceMatcher(None, old, new, autojunk=True).get_grouped_opcodes(_AROUND):
        if lines:
            lines.append(DiffLine("...", None, None, ""))
        for tag, *places in group:
            lines.extend(_list_lines(tag, old, new, *places))
    return [*lines[:_MOST_LINES], DiffLine("...", None, None, "")] if len(lines) > _MOST_LINES else lines


def _list_lines(  # noqa: PLR0913, PLR0917 - as difflib tells it
    tag: str, old: list[str], new: list[str], start: int, end: int, new_start: int, new_end: int
) -> Iterator[DiffLine]:
    if tag == "equal":
        for offset, text in enumerate(old[start:end], 1):
            yield DiffLine("", start + offset, new_start + offset, text)
        return
    for place, text in enumerate(old[start:end], start + 1):
        yield DiffLine("-", place, None, text)
    for place, text in enumerate(new[new_start:new_end], new_start + 1):
        yield DiffLine("+", None, place, text)
