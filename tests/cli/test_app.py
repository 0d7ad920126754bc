"""The commands, run as a person runs them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from adomnia import __version__
from adomnia.noise.bits import SystemBits
from kit.bits import BrokenBits
from kit.commands import COMMAND
from kit.example import write_example
from kit.faults import fill, make_read_only, small_disk

COMMANDS = ("init", "check", "sql", "price", "shell", "budget", "demo")


def ran(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, **environment},
        check=False,
    )


def test_the_version_is_said_and_nothing_else(typed):
    assert typed("--version") == (0, f"adomnia {__version__}\n", "")


def test_without_a_command_the_help_is_shown(typed):
    code, printed, complained = typed()
    assert "Ad Omnia" in printed
    assert [name for name in COMMANDS if name not in printed] == []
    assert (code, complained) == (2, "")


@pytest.mark.parametrize("command", ["init", "check", "sql", "price", "shell", "budget"])
def test_every_command_shows_an_example_of_itself(command, typed):
    code, printed, complained = typed(command, "--help")
    assert f"adomnia {command} " in printed
    assert (code, complained) == (0, "")


def test_help_waits_for_few_imports_and_no_heavy_one():
    ours = (
        "numpy scipy cryptography dp_accounting duckdb sqlglot pyarrow httpx fastapi pydantic prompt_toolkit pygments"
    )
    heavy = f"set({ours.split()}) & set(sys.modules)"
    code = f"import sys, adomnia.cli.app; print({heavy} or 'none', len(sys.modules))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert said[0] == "none"
    assert int(said[1]) < 250  # 183, with those of Python itself


def test_the_demonstration_fits_eighty_columns_whatever_the_terminal():
    for columns in ("40", "80", "200"):
        lines = ran("demo", COLUMNS=columns).stdout.splitlines()
        assert len(lines) > 20
        assert max(map(len, lines)) <= 80


def test_the_demonstration_is_an_object_for_programs():
    result = ran("demo", "--epsilon", "1", "--format", "json")
    record = json.loads(result.stdout)
    assert record["price"] == {"kind": "pure", "epsilon": "1"} | record["price"]
    assert [answer["epsilon_left"] for answer in record["answers"]] == ["1", "0"]
    assert record["refused"]["reason"].endswith(".")


@pytest.mark.parametrize(
    "price", ["0", "-1", "nan", "inf", "-inf", "sNaN", "1e-400", "1e-999999999", "2.1", "text", "", "1/2"]
)
def test_a_price_that_cannot_be_shown_is_refused_in_one_line(price, typed):
    refusal = (
        f"A price of epsilon {price!r} is outside what the demonstration can show. Fix: choose a number from 0.02 to 2."
    )
    assert typed("demo", "--epsilon", price) == (2, "", f"Refusal: {refusal}\n")


def test_a_terminal_without_block_characters_still_gets_the_page():
    result = ran("demo", PYTHONIOENCODING="ascii")
    assert result.returncode == 0
    assert "Noisy count" in result.stdout


def test_a_broken_source_of_bits_gives_no_answer(typed, monkeypatch):
    monkeypatch.setattr(SystemBits, "words", BrokenBits.words)
    assert typed("demo") == (1, "", "Failure: The request failed.\n")


QUESTION = ("SELECT COUNT(*) FROM people", "--epsilon", "0.01")
WRITING = {
    "sql": ("sql", "{folder}", *QUESTION),
    "user add": ("user", "add", "{folder}", "carol", "--role", "auditor"),
    "token create": ("token", "create", "{folder}", "alice", "--label", "x"),
    "serve": ("serve", "{folder}", "--port", "0"),
    "ledger backup": ("ledger", "backup", "{folder}", "{folder}/copy.db"),
    "init": ("init", "{folder}/new", "{folder}/cities.csv"),
}


@pytest.fixture(scope="module")
def unopened(tmp_path_factory):
    """A small example without index and ledger."""
    return write_example(tmp_path_factory.mktemp("unopened") / "hospital", people=50)


@pytest.mark.parametrize("disk", ["full", "read-only"])
@pytest.mark.parametrize("used", [False, True], ids=["new", "used"])
def test_on_a_disk_that_takes_nothing_every_command_says_one_line(typed, tmp_path, unopened, disk, used):
    with small_disk(tmp_path / "disk", "8m") as place:
        if place is None:
            pytest.skip("this user may not mount a disk")
        folder = place / "hospital"
        shutil.copytree(unopened, folder)
        if used:
            assert typed("sql", str(folder), *QUESTION)[0] == 0
        fill(place) if disk == "full" else make_read_only(place)
        for name, command in WRITING.items():
            if name == "ledger backup" and not used:
                continue
            code, printed, complained = typed(*(each.format(folder=folder) for each in command))
            assert (name, code, printed) == (name, 3, "")
            assert complained.startswith("Unavailable: ")
            assert complained.count("\n") == 1, complained
            assert str(place) not in complained


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (OSError(28, "x", "/secret/a.csv"), "File a.csv cannot be read or written: no space left on device."),
        (OSError("odd"), "A file cannot be read or written: unknown."),
    ],
)
def test_an_error_of_the_system_is_one_line_without_its_folder(typed, monkeypatch, error, says):
    def broken(*_):
        raise error

    monkeypatch.setattr("adomnia.cli.demonstration.demonstrate", broken)
    code, _, complained = typed("demo")
    assert code == 3
    assert complained.startswith(f"Unavailable: {says} Fix: ")
    assert "secret" not in complained
