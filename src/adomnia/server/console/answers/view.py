"""An answer as a page shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adomnia.session.answer import Answer


def build_answer_view(answer: Answer, sql: str, *, made_up: bool = False) -> str:
    """The answer."""
    return f"{sql}\n{answer}{' (made up)' if made_up else ''}"
