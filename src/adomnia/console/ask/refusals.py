"""A refusal as the page shows it: what, where, why, and the ways out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.console.ask.edits import find_span
from adomnia.console.ask.fixes import list_fixes
from adomnia.errors import render
from adomnia.messages.fixes import RENAME, TELL
from adomnia.messages.surfaces import Surface

if TYPE_CHECKING:
    from adomnia.console.ask.fixes import Situation, SuggestedFix
    from adomnia.errors import Refusal
    from adomnia.messages.texts import Fix

_AROUND = 60  # characters of the line that are shown on either side


@dataclass(frozen=True)
class RefusedPlace:
    """Where a refusal is about: line and column, the text around, and the span in units of a browser's texts."""

    line: int
    column: int
    before: str
    wrong: str
    after: str
    start: int
    end: int


@dataclass(frozen=True)
class RefusalView:
    """What a refusal says."""

    code: str
    what: str
    why: str
    fix: Fix
    place: RefusedPlace | None
    fixes: tuple[SuggestedFix, ...]

    @property
    def is_name(self) -> bool:
        """Whether it is about a name or another part of the text, which is written as code."""
        return self.place is not None and self.what.lower() == self.place.wrong.lower()

    @property
    def way_out(self) -> str:
        """The fix as sentences."""
        asks = f"did you mean {self.fix.facts['name']}?" if self.fix.action == RENAME else ""
        rest = str(self.fix.facts["otherwise"]) if self.fix.action in {RENAME, TELL} else f"to fix it, {self.fix}"
        said = " ".join(f"{part[:1].upper()}{part[1:]}" for part in (asks, rest) if part)
        return said if said.endswith("?") else f"{said}."


def view_refusal(refusal: Refusal, situation: Situation) -> RefusalView:
    """The refusal of a form, with the ways out of it."""
    told = render(refusal, Surface.PAGE)
    place = None if refusal.position is None else _find_place(situation.form.sql, refusal)
    return RefusalView(refusal.code, told.what, told.why, told.fix, place, list_fixes(refusal, situation))


def _find_place(sql: str, refusal: Refusal) -> RefusedPlace:
    assert refusal.position is not None  # noqa: S101 - as the caller found
    line, column = refusal.position
    span = find_span(sql, refusal.position, refusal.what)
    start = sql.rfind("\n", 0, span.start) + 1
    end = sql.find("\n", span.end)
    end = len(sql) if end < 0 else end
    before, after = sql[start : span.start], sql[span.end : end]
    return RefusedPlace(
        line,
        column,
        before if len(before) <= _AROUND else f"…{before[-_AROUND:]}",
        sql[span.start : span.end],
        after if len(after) <= _AROUND else f"{after[:_AROUND]}…",
        _units(sql[: span.start]),
        _units(sql[: span.end]),
    )


def _units(text: str) -> int:
    """How long a browser says that a text is: characters beyond the first plane count twice."""
    return len(text.encode("utf-16-le")) // 2
