"""Releases as a page lists them, and how one is opened: for analysts by their session, for others what is published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from adomnia.api.actions.releases import list_releases, open_release
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from adomnia.api.requests import Visit
    from adomnia.releases.store import ReleaseEntry
    from adomnia.session.askable import AskableRelease

EVERYBODY = "everybody here"


@dataclass(frozen=True)
class ReleaseLine:
    """A release in the list; `columns` is empty where its folder is not whole."""

    name: str
    address: str
    method: str
    columns: tuple[str, ...]
    price: str
    made_by: str
    version: str
    readers: str
    private: bool


def list_lines(visit: Visit) -> tuple[ReleaseLine, ...]:
    """All that a visitor may read, the newest first; of those of analysts, an owner sees what is published."""
    return tuple(_describe(entry) for entry in reversed(list_releases(visit)))


def open_for(visit: Visit, name: str) -> AskableRelease:
    """A release that a visitor may read; a Refusal where there is none of that name."""
    try:
        return open_release(visit, name)
    except Refusal as refusal:
        if refusal.code != "unknown_release":
            raise
        fix = "choose one of the list at /releases"
        raise Refusal(refusal.what, refusal.why, fix, code="unknown_route") from None


def address_of_release(name: str, part: str = "") -> str:
    """The page of a release, or a file of it."""
    return f"/releases/{quote(name, safe='')}{part}"


def _describe(entry: ReleaseEntry) -> ReleaseLine:
    facts = entry.facts
    return ReleaseLine(
        name=entry.name,
        address=address_of_release(entry.name),
        method=facts.mechanism or "",
        columns=tuple(each.name for each in entry.attributes),
        price=facts.price or "",
        made_by=facts.made_by or "",
        version="" if facts.version is None else str(facts.version),
        readers="you alone" if entry.private else EVERYBODY,
        private=entry.private,
    )
