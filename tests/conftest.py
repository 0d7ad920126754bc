"""What every test may use."""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, settings

from kit.bits import SeededBits

if TYPE_CHECKING:
    from collections.abc import Generator

FIXTURES = Path(__file__).parent / "fixtures"
# Tests of what is not the trusted core, and long searches in it: with coverage they would take half as long again.
UNMEASURED = tuple(
    f"tests/{name}"
    for name in (
        "cli/",
        "client/",
        "contracts/test_sessions.py",
        "curator/test_grammar.py",
        "curator/test_neighbours.py",
        "curator/test_plain_questions.py",
        "engines/duckdb/",
        "kit/",
        "server/",
        "sql/test_",
        "statistics/",
        "test_",
    )
)

# The same examples every time, on machines of any speed; fresh ones for the long forms; the first failure for mutants.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("fresh", deadline=None)
settings.register_profile("first_failure", derandomize=True, deadline=None, phases=(Phase.explicit, Phase.generate))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture
def seeded_bits(request: pytest.FixtureRequest) -> SeededBits:
    """Bits that depend on the name of the test alone."""
    return SeededBits(request.node.name)


@pytest.fixture(scope="session")
def vectors() -> dict[str, Any]:
    """Known answers, by the key the algorithm notes give them."""
    return {
        **json.loads((FIXTURES / "vectors.json").read_text()),
        **json.loads((FIXTURES / "vectors2.json").read_text()),
    }


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Take coverage away from a test that needs none; pytest-cov's own marker does not work in its worker processes."""
    if not item.nodeid.startswith(UNMEASURED):
        return (yield)
    here, in_threads = sys.gettrace(), threading.gettrace()
    sys.settrace(None)
    threading.settrace(None)
    try:
        return (yield)
    finally:
        threading.settrace(in_threads)
        sys.settrace(here)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the long forms out unless a marker expression was given."""
    if config.option.markexpr:
        return
    long_forms = [item for item in items if item.get_closest_marker("soak")]
    if long_forms:
        config.hook.pytest_deselected(items=long_forms)
        items[:] = [item for item in items if item not in set(long_forms)]
