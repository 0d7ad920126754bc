"""One browser and one server for all tests of a process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import sync_playwright

from kit import browsing

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browsing.Console]:
    with sync_playwright() as playwright, browsing.opened(playwright, tmp_path_factory.mktemp("console")) as opened:
        yield opened
