"""What does not fit between a catalog and its data, for the owner's eyes alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adomnia.inspection.changes import Change


@dataclass(frozen=True)
class Mismatch:
    """One thing that does not fit: where, what it is, how many rows or keys it concerns, and what to do about it.

    `changes` of the catalog were tried on the data: with them, fewer rows or keys are concerned, `left` of them.
    """

    table: str
    column: str | None
    kind: str
    count: int
    says: str
    fix: str
    changes: tuple[Change, ...] = ()
    left: int | None = None
    line: int | None = None  # of the catalog
