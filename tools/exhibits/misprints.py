"""What is wrong in the papers: docs/papers.toml has the list, and two pages show it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from exhibits.contract import PAPERS

if TYPE_CHECKING:
    from collections.abc import Iterable

_SOURCE = Path(__file__).resolve().parents[2] / "docs" / "papers.toml"


@dataclass(frozen=True)
class Misprint:
    """Where a paper is wrong, what it says, what is right, and the exhibit that works it out, if there is one."""

    paper: str
    where: str
    says: str
    right: str
    exhibit: str = ""

    def __post_init__(self) -> None:
        if self.paper not in PAPERS or not (self.where and self.says and self.right):
            raise ValueError(f"Misprint must have a paper, a place, what it says and what is right, got {self}.")


def read_misprints() -> list[Misprint]:
    """All of them, by paper."""
    found = [Misprint(**row) for row in tomllib.loads(_SOURCE.read_text())["error"]]
    return sorted(found, key=lambda each: list(PAPERS).index(each.paper))


def tabulate_misprints(misprints: Iterable[Misprint], gallery: str) -> str:
    """A table in Markdown; `gallery` is the way to the gallery's folder."""
    rows = [
        f"| {PAPERS[each.paper].split(',')[0]}, {each.where} | {_escape(each.says)} | {_escape(each.right)}"
        f"{f' ([worked out]({gallery}{each.exhibit}.md))' if each.exhibit else ''} |"
        for each in misprints
    ]
    return "\n".join(("| where | what it says | what is right |", "|---|---|---|", *rows)) + "\n"


def _escape(cell: str) -> str:
    return cell.replace("|", r"\|")
