"""The page of the guided editor: a form for one part of the catalog, and what the change so far would do."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from adomnia.api.catalog_edits.catalog_file import CatalogFile
from adomnia.api.catalog_edits.effects import EPSILON, GROUP
from adomnia.api.catalog_edits.previews import examine_draft, preview_text
from adomnia.console.catalog.draft import CatalogDraft
from adomnia.console.catalog.parts import list_parts
from adomnia.console.rendering import Page
from adomnia.work import spend

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.api.catalog_edits.consequences import Consequence
    from adomnia.api.catalog_edits.effects import ErrorEffect
    from adomnia.api.catalog_edits.previews import PromiseChange
    from adomnia.api.requests import Visit
    from adomnia.console.catalog.parts import EditorPart
    from adomnia.errors import Refusal, Unavailable


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
