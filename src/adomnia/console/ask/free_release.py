"""Releases that answer a question for nothing: those that it names, and those that the quote of another tells of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["FreeRelease", "find_free_release", "without_free_release"]

_TOLD = re.compile(
    r"The release (?P<name>\w+) answers it for nothing, within (?P<error>[^:]+): pass from_release=True\."
)


@dataclass(frozen=True)
class FreeRelease:
    """Its name, and how far off its answer may be."""

    name: str
    error: str


def find_free_release(notes: Iterable[str]) -> FreeRelease | None:
    """The release that a note of a quote names, if one does."""
    found = next(filter(None, map(_TOLD.fullmatch, notes)), None)
    return None if found is None else FreeRelease(found["name"], found["error"])


def without_free_release(notes: Iterable[str]) -> tuple[str, ...]:
    """The notes but for that one: the panel has a field in its place."""
    return tuple(note for note in notes if _TOLD.fullmatch(note) is None)
