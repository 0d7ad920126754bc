"""What every test may use."""

from __future__ import annotations

import gc
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings

from kit.bits import SeededBits

FIXTURES = Path(__file__).parent / "fixtures"

# The same examples every time, on machines of any speed; fresh ones for the long forms; the first failure for mutants.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("fresh", deadline=None)
settings.register_profile("first_failure", derandomize=True, deadline=None, phases=(Phase.explicit, Phase.generate))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

# What is imported and collected lives as long as the process: looking for garbage among it took a tenth of all time.
gc.disable()


def pytest_collection_finish() -> None:
    """From here on garbage is collected again, among what the tests made."""
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)
    gc.enable()


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


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the long forms out unless a marker expression was given.

    Of examples that are drawn no coverage is measured: it takes as long again, and a branch needs one that is written.
    """
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker("no_cover")
    if config.option.markexpr:
        return
    long_forms = [item for item in items if item.get_closest_marker("soak")]
    if long_forms:
        config.hook.pytest_deselected(items=long_forms)
        items[:] = [item for item in items if item not in set(long_forms)]
