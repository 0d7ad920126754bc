"""What this page shows of others: examples of the data, and the view of an answer."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adomnia.catalog.model import Catalog
    from adomnia.session.answer import Answer

__all__ = ["list_examples", "view_answer"]

_CONSOLE = "adomnia.server.console"


def list_examples(catalog: Catalog) -> tuple[Any, ...]:
    """Questions to begin with."""
    if find_spec(f"{_CONSOLE}.data") is None:
        return ()
    found: tuple[Any, ...] = import_module(f"{_CONSOLE}.data.examples").list_examples(catalog)
    return found


def view_answer(answer: Answer, sql: str, *, made_up: bool = False) -> Any:  # noqa: ANN401 - for its own template
    """An answer as its own page shows it."""
    if find_spec(f"{_CONSOLE}.answers") is None:
        return answer
    return import_module(f"{_CONSOLE}.answers.view").build_answer_view(answer, sql, made_up=made_up)
