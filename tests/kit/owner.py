"""Somebody with files who types commands and edits a catalog, from a file to a first answer."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from adomnia.cli import app as command_line
from adomnia.inspection.reports import PRIVATE

if TYPE_CHECKING:
    from pathlib import Path

MOST_COMMANDS = 6
CONFIDENCE = "0.99999999999"
BUDGET = ("# epsilon = 1.0", "epsilon = 1.0")


class Owner:
    """Somebody with a folder and a file who types commands and edits the catalog."""

    def __init__(self, folder: Path, monkeypatch, capsys) -> None:
        self.study, self.folder = folder / "study", folder
        self._monkeypatch, self._capsys = monkeypatch, capsys
        self.commands = 0

    def type(self, *arguments: object) -> tuple[object, str, str]:
        self.commands += 1
        assert self.commands <= MOST_COMMANDS
        self._monkeypatch.setattr(sys, "argv", ["adomnia", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        return ended.value.code, *self._capsys.readouterr()

    def edit(self, *replacements: tuple[str, str]) -> None:
        """Fill in lines of the catalog; each of them is there."""
        path = self.study / "catalog.toml"
        text = path.read_text(encoding="utf-8")
        for old, new in replacements:
            assert old in text, f"{old!r} is not in\n{text}"
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")

    def init(self, *arguments: object) -> None:
        code, printed, complained = self.type("init", self.study, *arguments)
        assert (code, complained) == (0, "")
        assert "adomnia check" in printed

    def check(self) -> None:
        code, _, complained = self.type("check", self.study)
        assert (code, complained) == (0, "")

    def hear_of(self, *fixes: str) -> None:
        """Of everything that is wrong with the catalog, each with a fix."""
        code, _, complained = self.type("check", self.study)
        assert code == 2
        told = [line for line in complained.splitlines() if line.startswith("Refusal: ")]
        assert len(told) == len(fixes)
        for fix, line in zip(fixes, told, strict=True):
            assert fix in line

    def inspect(self) -> list[dict]:
        code, printed, complained = self.type("check", self.study, "--data", "--format", "json")
        assert (code, complained) == (0, "")
        report = json.loads(printed)
        assert report["private"] == PRIVATE
        return report["mismatches"]

    def ask(self, question: str, truth: float, widest: float) -> None:
        """Ask what it costs, then ask: the interval has the truth, and is no wider than that."""
        code, _, complained = self.type("price", self.study, question, "--epsilon", "0.5")
        assert (code, complained) == (0, "")
        arguments = ("--epsilon", "0.5", "--confidence", CONFIDENCE, "--format", "json")
        code, printed, complained = self.type("sql", self.study, question, *arguments)
        assert (code, complained) == (0, "")
        (row,) = json.loads(printed)["rows"]
        assert row["answer_lower"] <= truth <= row["answer_upper"]
        assert row["answer_upper"] - row["answer_lower"] <= widest
