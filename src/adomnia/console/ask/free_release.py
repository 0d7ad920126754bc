"""Releases that answer a question for nothing: those that it names, and those that the quote of another tells of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.messages.fixes import FROM_RELEASE
from adomnia.messages.texts import Fix

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class FreeRelease:
    """Its name, and how far off its answer may be."""

    name: str
    error: str


def find_free_release(notes: Iterable[str]) -> FreeRelease | None:
    """The release that a note of a quote names, if one does."""
    found = next((note for note in notes if _offers_release(note)), None)
    return FreeRelease(*(str(found.facts[name]) for name in ("name", "error"))) if isinstance(found, Fix) else None


def without_free_release(notes: Iterable[str]) -> tuple[str, ...]:
    """The notes but for that one: the panel has a field in its place."""
    return tuple(note for note in notes if not _offers_release(note))


def _offers_release(note: str) -> bool:
    return isinstance(note, Fix) and note.action == FROM_RELEASE
