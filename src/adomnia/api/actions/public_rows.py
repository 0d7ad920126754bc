"""Rows that are about nobody: made up from the catalog alone, or of public tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.asking.batch import plan_text
from adomnia.errors import Refusal
from adomnia.options import CONFIDENCE
from adomnia.plans.public_columns import PublicRows, read_public_columns
from adomnia.pricing.questions import Question
from adomnia.session.mock import make_rows

if TYPE_CHECKING:
    from adomnia.api.requests import Visit
    from adomnia.plans.columns import KeyColumn
    from adomnia.session.answer import Answer
    from adomnia.wire.asking import Ask

__all__ = ["ask_made_up", "make_rows", "read_public"]


def ask_made_up(visit: Visit, asked: Ask) -> Answer:
    """The answer to a question on made-up rows; nothing is read or spent."""
    with visit.curator.mock() as made_up:
        answer: Answer = asked.put_to(made_up.session(visit.visitor.name))
    return answer


def read_public(visit: Visit, text: str) -> tuple[KeyColumn, ...]:
    """The answer to a question about public tables alone, for whoever is signed in: exact, at no price."""
    plan = plan_text(Question(text), visit.catalog, CONFIDENCE)
    if not isinstance(plan, PublicRows):
        raise Refusal("The question", "is not about public tables alone", "ask it in a session", code="not_public")
    return read_public_columns(plan, visit.curator.engine, visit.catalog)
