"""What every test may use."""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import sys
from functools import _lru_cache_wrapper
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.doctest import DoctestModule

from kit import parts, searches
from kit.bits import SeededBits

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

FIXTURES = Path(__file__).parent / "fixtures"
NO_PARAMETERS = SimpleNamespace(params={})

searches.load_profile()

# What is imported and collected lives as long as the process: looking for garbage among it took a tenth of all time.
gc.disable()


class HangWatch:
    """A test that hangs for fifteen minutes ends with a trace of all threads, and the other parts go on.

    It starts anew every ten seconds; pytest's own starts a thread for every test, a quarter of what a quick one takes.
    """

    def __init__(self) -> None:
        self._file, self._since = os.dup(sys.__stderr__.fileno()), float("-inf")

    def pytest_runtest_logstart(self) -> None:
        if monotonic() - self._since > 10:
            self._since = monotonic()
            faulthandler.dump_traceback_later(900, file=self._file, exit=True)

    def pytest_enter_pdb(self) -> None:
        faulthandler.cancel_dump_traceback_later()

    def pytest_unconfigure(self) -> None:
        faulthandler.cancel_dump_traceback_later()


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(HangWatch())


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files of other parts are not even read."""
    part = config.getoption("--part")
    if not collection_path.is_file() or (part is None and not config.getoption("--quick")):
        return None
    if part is None:
        return parts.is_slow(collection_path) or None
    return part not in parts.parts_of_file(collection_path) or None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Examples stand in the docstrings of the source: tests, which are far more text, are not searched for them."""
    return [found for found in (yield) if not isinstance(found, DoctestModule)]


def pytest_collection_finish() -> None:
    """From here on garbage is collected again, among what the tests made."""
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)
    gc.enable()


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Errors that tests are given are raised by them, and would keep all frames of that with their engines for ever."""
    for given in getattr(item, "callspec", NO_PARAMETERS).params.values():
        if isinstance(given, BaseException):
            given.__traceback__ = given.__context__ = None


def pytest_unconfigure() -> None:
    """At the end all of it is garbage: DuckDB's bindings complain of whatever outlives the interpreter.

    Hypothesis leaves a callback behind, which holds its caches, and they hold the modules of tests. What the kit
    remembers, engines among it, may be held by such modules too.
    """
    gc.unfreeze()
    gc.callbacks.clear()
    for module in [module for name, module in sys.modules.items() if name.startswith("kit.")]:
        for value in vars(module).values():
            if isinstance(value, _lru_cache_wrapper):
                value.cache_clear()


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
    """The parts of `make test`, and the quick loop of `make check`."""
    parser.addoption("--part", choices=parts.PARTS, help="the tests of one part of `make test`")
    parser.addoption("--quick", action="store_true", help="without what takes long, or is about chance and processes")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the long forms out unless a marker expression was given, and what belongs to another part."""
    part = config.getoption("--part")
    if part is not None:
        _keep(config, items, lambda item: parts.part_of(item.path, is_search=_is_search(item)) == part)
    if not config.option.markexpr:
        _keep(config, items, lambda item: item.get_closest_marker("soak") is None)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Whatever draws its examples is among the long forms too: there it draws others, and more of them."""
    if _draws(item):
        item.add_marker("drawn")


def _is_search(item: pytest.Item) -> bool:
    """Whether coverage is not measured by a test: that takes as long again, and a branch needs one example alone."""
    return _draws(item) or item.get_closest_marker("no_cover") is not None


def _draws(item: pytest.Item) -> bool:
    return getattr(getattr(item, "obj", None), "is_hypothesis_test", False)


def _keep(config: pytest.Config, items: list[pytest.Item], keep: Callable[[pytest.Item], bool]) -> None:
    kept, left_out = [], []
    for item in items:
        (kept if keep(item) else left_out).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept
