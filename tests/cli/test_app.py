"""The commands, run as a person runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from adomnia import Failure, __version__
from adomnia.cli import app as command_line
from adomnia.noise.bits import SystemBits

RUN = [sys.executable, "-c", "from adomnia.cli.app import main; main()"]
QUICK_SECONDS = 0.5


def ran(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*RUN, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, **environment},
        check=False,
    )


def test_the_version_is_said_and_nothing_else():
    result = CliRunner().invoke(command_line.app, ["--version"])
    assert (result.exit_code, result.output) == (0, f"adomnia {__version__}\n")


def test_without_a_command_the_help_is_shown():
    result = CliRunner().invoke(command_line.app, [])
    assert "demo" in result.output
    assert "Ad Omnia" in result.output


def test_help_starts_quickly():
    def seconds() -> float:
        start = time.perf_counter()
        assert ran("--help").returncode == 0
        return time.perf_counter() - start

    assert min(seconds() for _ in range(5)) < QUICK_SECONDS  # the best of five: other programs may be busy


def test_help_waits_for_no_heavy_import():
    heavy = "{'numpy', 'scipy', 'cryptography', 'dp_accounting'} & set(sys.modules)"
    code = f"import sys, adomnia.cli.app; print({heavy} or 'none')"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "none\n"


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
def test_a_price_that_cannot_be_shown_is_refused_in_one_line(price):
    result = ran("demo", "--epsilon", price)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == (
        f"Refusal: A price of epsilon {price!r} is outside what the demonstration can show. "
        "Fix: choose a number from 0.02 to 2.\n"
    )


def test_a_terminal_without_block_characters_still_gets_the_page():
    result = ran("demo", PYTHONIOENCODING="ascii")
    assert result.returncode == 0
    assert "Noisy count" in result.stdout


def test_a_broken_source_of_bits_gives_no_answer(monkeypatch, capsys):
    def fail(self, count):
        raise Failure

    monkeypatch.setattr(SystemBits, "words", fail)
    monkeypatch.setattr(sys, "argv", ["adomnia", "demo"])
    with pytest.raises(SystemExit) as ended:
        command_line.main()
    assert ended.value.code == 1
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "Failure: The request failed.\n")
