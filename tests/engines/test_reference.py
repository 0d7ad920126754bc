"""docs/engines.md says which function is offered where, as the tables of the engines do."""

from __future__ import annotations

from pathlib import Path

from adomnia.engines.reference import render_function_table
from adomnia.privacy.functions.registry import FUNCTIONS

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"


def test_the_page_has_the_table_of_all_functions():
    assert render_function_table() in PAGE.read_text()


def test_every_function_that_can_be_asked_for_is_in_the_table():
    table = render_function_table()
    assert all(f"`{each.written}`".replace("|", "\\|") in table for each in FUNCTIONS.values() if each.written)
    assert "| `LOG2(a)` | yes | no: PostgreSQL has no logarithm" in table
    assert "| `EXP(a)` | yes | where the server's C library" in table
