"""A refusal as the page shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adomnia.errors import Refusal


@dataclass(frozen=True)
class Place:
    """Where a refusal is about."""

    line: int
    column: int


@dataclass(frozen=True)
class Fix:
    """A way out."""

    label: str
    change: str


@dataclass(frozen=True)
class RefusalView:
    """What a refusal says."""

    code: str
    what: str
    why: str
    fix: str
    place: Place | None
    fixes: tuple[Fix, ...] = ()


def view_refusal(refusal: Refusal) -> RefusalView:
    """The refusal of a form."""
    place = None if refusal.position is None else Place(*refusal.position)
    return RefusalView(refusal.code, refusal.what, refusal.why, refusal.fix, place)
