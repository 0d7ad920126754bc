"""Releases that answer a question for nothing: those that it names, and those that the quote of another tells of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.pricing.notes import FREE_RELEASE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adomnia.messages.notes import Note


@dataclass(frozen=True)
class FreeRelease:
    """Its name, and how far off its answer may be."""

    name: str
    error: str


def find_free_release(notes: Iterable[Note]) -> FreeRelease | None:
    """The release that a note of a quote names, if one does."""
    told = next((note.facts for note in notes if note.code == FREE_RELEASE.code), None)
    return None if told is None else FreeRelease(str(told["release"]), f"{told['error']:.4g}")


def without_free_release(notes: Iterable[Note]) -> tuple[Note, ...]:
    """The notes but for that one: the panel has a field in its place."""
    return tuple(note for note in notes if note.code != FREE_RELEASE.code)
