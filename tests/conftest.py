"""What every test may use."""

from __future__ import annotations

import gc
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, settings

from kit.bits import SeededBits

if TYPE_CHECKING:
    from collections.abc import Callable

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


def pytest_addoption(parser: pytest.Parser) -> None:
    """`make test` runs in two stages: with coverage what the trusted core is judged by, and then the rest."""
    parser.addoption("--stage", choices=("traced", "rest"), help="one of the two stages of `make test`")
    parser.addoption("--beyond", default="", help="folders and files whose tests are all in the second stage")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the long forms out unless a marker expression was given, and what belongs to the other stage."""
    stage, beyond = config.getoption("--stage"), config.getoption("--beyond").split()
    if stage is not None:
        _keep(
            config, items, lambda item: _is_rest(item, [config.rootpath / path for path in beyond]) == (stage == "rest")
        )
    if not config.option.markexpr:
        _keep(config, items, lambda item: item.get_closest_marker("soak") is None)


def _is_rest(item: pytest.Item, beyond: list[Path]) -> bool:
    """Whether coverage is not measured by a test: that takes as long again, and a branch needs one example alone."""
    drawn = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
    untraced = drawn or item.get_closest_marker("no_cover") is not None
    return untraced or any(item.path.is_relative_to(path) for path in beyond)


def _keep(config: pytest.Config, items: list[pytest.Item], keep: Callable[[pytest.Item], bool]) -> None:
    left_out = [item for item in items if not keep(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]
