"""What tests of commands share."""

from __future__ import annotations

import sys

import pytest

from adomnia.cli import app as command_line
from kit.example import write_example
from kit.known_facts import remembered_facts


@pytest.fixture(scope="session", autouse=True)
def _facts():
    with remembered_facts():
        yield


@pytest.fixture
def typed(monkeypatch, capsys):
    """What a command ends with, prints, and complains about, without the time a new process takes."""

    def enter(*arguments: object) -> tuple[object, str, str]:
        monkeypatch.setattr(sys, "argv", ["adomnia", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        return ended.value.code, *capsys.readouterr()

    return enter


@pytest.fixture(scope="session")
def example(tmp_path_factory):
    """The example with fewer people, its index built; not to be asked, because tests share it."""
    return write_example(tmp_path_factory.mktemp("example") / "hospital", people=1_000, indexed=True)


@pytest.fixture
def hospital(tmp_path):
    """One for one test, in which nobody has asked anything."""
    return write_example(tmp_path / "hospital", people=1_000, indexed=True)
