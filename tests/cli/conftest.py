"""What tests of commands share."""

from __future__ import annotations

import shutil
import sys

import pytest

from adomnia.cli import app as command_line
from adomnia.session.curator import open_folder
from kit.example import write_example


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
    folder = write_example(tmp_path_factory.mktemp("example") / "hospital", people=1_000)
    open_folder(folder).close()
    for file in (folder / ".adomnia").glob("ledger*"):
        file.unlink()
    return folder


@pytest.fixture
def hospital(example, tmp_path):
    """A copy for one test, in which nobody has asked anything."""
    return shutil.copytree(example, tmp_path / "hospital")
