"""Examples in docstrings may name `session`, of an analyst with a large budget who asks the example hospital."""

from __future__ import annotations

from typing import TYPE_CHECKING

from _pytest.doctest import DoctestItem

if TYPE_CHECKING:
    import pytest


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Only those that name it wait until it is there."""
    if isinstance(item, DoctestItem) and any("session" in example.source for example in item.dtest.examples):
        from kit.docstrings import open_session

        item.dtest.globs.setdefault("session", open_session())
