"""The page of the guided editor: a form for one part of the catalog, and what the change so far would do."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.console.catalog.catalog_file import CatalogFile
from adomnia.console.catalog.consequences import Consequence, list_consequences
from adomnia.console.catalog.differences import DiffLine, compare_lines
from adomnia.console.catalog.draft import CatalogDraft
from adomnia.console.catalog.effects import EPSILON, GROUP, ErrorEffect, carry_profiles, compare_errors
from adomnia.console.catalog.examining import ExaminedText, KnownSources, examine_text, parse_toml
from adomnia.console.catalog.parts import list_parts
from adomnia.console.rendering import Page
from adomnia.errors import Refusal
from adomnia.explaining.promises import promises

if TYPE_CHECKING:
    from adomnia.catalog.model import Catalog
    from adomnia.console.catalog.parts import EditorPart
    from adomnia.console.visits import Visit
    from adomnia.errors import Unavailable

__all__ = ["build_editor", "examine_draft", "start_draft"]


@dataclass(frozen=True)
class PromiseChange:
    """What the catalog promises about something, before and after."""

    about: str
    was: tuple[str, ...]
    becomes: tuple[str, ...]


@dataclass(frozen=True)
class CatalogPreview:
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
    file = CatalogFile(visit.curator.catalog.folder)
    disk = file.read()
    return CatalogDraft(file.read_kept(older) if older else disk.text, disk.identity, part or ("text" if older else ""))


def examine_draft(visit: Visit, draft: CatalogDraft) -> ExaminedText:
    """Everything that is wrong with a draft, whose files must be among those that are named already."""
    catalog, on_disk = visit.curator.catalog, {}
    with suppress(Refusal):  # what is no TOML names nothing
        on_disk = parse_toml(CatalogFile(catalog.folder).read().text)
    return examine_text(draft.text, catalog.folder, KnownSources.of(catalog, on_disk))


def build_editor(
    visit: Visit, draft: CatalogDraft, fault: Refusal | Unavailable | None = None, status: int = 200
) -> Page:
    """The editor with a draft, and the fault that kept it from being saved, if there is one."""
    disk, examined = CatalogFile(visit.curator.catalog.folder).read(), examine_draft(visit, draft)
    parts = list_parts(draft.content)
    part = draft.find_part()
    filling = {
        "draft": draft,
        "part": part,
        "menu": _group_parts(parts),
        "wrong": _group_problems(part, examined.problems),
        "preview": _build_preview(visit, disk.text, examined, moved=draft.base != disk.identity),
        "fault": fault,
        "epsilon": float(EPSILON),
        "group": GROUP,
    }
    return Page("catalog_edit.html", filling, status)


def _build_preview(visit: Visit, before: str, examined: ExaminedText, *, moved: bool) -> CatalogPreview:
    lines = tuple(compare_lines(before, examined.text))
    if examined.catalog is None or not lines:
        return CatalogPreview(examined.problems, lines, moved=moved)
    served = visit.curator.catalog
    after = carry_profiles(served, examined.catalog)
    users = frozenset(user.name for user in visit.services.access.users())
    return CatalogPreview(
        (),
        lines,
        tuple(compare_errors(served, after)),
        tuple(list_consequences(served, after, users)),
        tuple(_compare_promises(served, after)),
        moved,
    )


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
