"""The houses that tests of the API, the console and what serves them visit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kit import house
from kit.known_facts import remembered_facts

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session", autouse=True)
def remember_facts() -> Iterator[None]:
    with remembered_facts():
        yield


@pytest.fixture(scope="module")
def shared_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[house.House]:
    """One for all tests of a file, which leave it as they found it, but for what they asked."""
    with house.opened(tmp_path_factory.mktemp("house")) as opened:
        yield opened


@pytest.fixture
def own_house(tmp_path) -> Iterator[house.House]:
    """One for a test that changes who or what there is."""
    with house.opened(tmp_path) as opened:
        yield opened
