"""Writes docs/papers.md from docs/papers.toml: what the papers name, what stands for it here, and how that differs."""

from __future__ import annotations

import re
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]

import typer  # noqa: E402 - with what the path above finds
from exhibits import EXHIBITS  # noqa: E402
from exhibits.contract import PAPERS  # noqa: E402
from exhibits.misprints import Misprint, read_misprints, tabulate_misprints  # noqa: E402

import adomnia  # noqa: E402
from adomnia.catalog import document_keys  # noqa: E402
from adomnia.catalog.model import POLICIES  # noqa: E402
from adomnia.cli.app import app  # noqa: E402
from adomnia.mechanisms.registry import MECHANISMS  # noqa: E402
from adomnia.methods.registry import METHODS  # noqa: E402
from adomnia.sql.values.aggregates import AGGREGATES  # noqa: E402
from adomnia.sql.values.functions import NAMES  # noqa: E402
from adomnia.survey.registry import DESIGNS  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

DOCS = ROOT / "docs"
PAGE, SOURCE = DOCS / "papers.md", DOCS / "papers.toml"
HOW = ("as printed", "corrected", "other method", "not offered")
OPENING = """# The papers, line by line

Ad Omnia grew from five papers. This page has one line for each thing that they name: what stands for it here, an
example that runs, and how ours differs. The [gallery](gallery/README.md) works out their figures and numbers.

- An example that begins with `SELECT` is a question. Ask it with
  `adomnia sql examples/hospital "SELECT ..." --epsilon 1`. With `price` in place of `sql` you see the bill, and with
  `--mock` you get an answer from made-up rows; both are free.
- Some need a δ. In this [catalog](../examples/hospital/catalog.toml) only bob has one.
- An example that begins with `>>>` is Python, after `import adomnia`.

| word | meaning |
|---|---|
| *as printed* | the method of the paper; noise is of whole numbers, and the number of rows is private |
| *corrected* | what the paper prints is wrong, and ours follows the correction |
| *other method* | another way to the same end |
| *not offered* | nothing here does it; an example shows what comes nearest |
"""
ERRORS = """## Errors and misprints

All that we found wrong in the five papers. The gallery works out the numbers.
"""


class UnknownNameError(ValueError):
    """A line names something that is not there."""


@dataclass(frozen=True)
class Line:
    """One thing that a paper names, and what stands for it here."""

    paper: str
    where: str
    names: str
    ours: tuple[str, ...]
    how: str
    why: str = ""
    example: str = ""
    delta: str = ""

    def __post_init__(self) -> None:
        if self.paper not in PAPERS or not self.where or not self.names:
            raise ValueError(f"Line must have a paper, a place in it and what is named there, got {self}.")
        if self.how not in HOW:
            raise ValueError(f"Line how must be one of {', '.join(HOW)}, got {self.how!r} for {self.names!r}.")
        if self.how != HOW[0] and not self.why:
            raise ValueError(f"Line why must say what differs, got nothing for {self.names!r}.")
        if self.how != HOW[3] and not self.ours:
            raise ValueError(f"Line ours must name what stands for {self.names!r}, got nothing.")
        if self.needs_example and not self.example:
            raise ValueError(f"Line example must show what is offered for {self.names!r}, got nothing.")

    @property
    def needs_example(self) -> bool:
        """Whether something is offered that can be asked or run."""
        runs = ("method:", "command:", "sql:")
        return self.how != HOW[3] and any(name.startswith(runs) for name in self.ours)


def read_lines(path: Path = SOURCE) -> list[Line]:
    """All lines, in the order of the file."""
    rows: list[dict[str, Any]] = tomllib.loads(path.read_text())["line"]
    return [Line(**row | {"ours": tuple(row["ours"])}) for row in rows]


@cache
def link(name: str) -> str:
    """What a name such as method:lm stands for, as a link."""
    kind, _, rest = name.partition(":")
    if kind not in _KINDS:
        raise UnknownNameError(f"{name} is of no known kind: {', '.join(_KINDS)}.")
    return _KINDS[kind](rest)


def render(lines: Iterable[Line], misprints: Iterable[Misprint]) -> str:
    """The page."""
    lines = list(lines)
    parts = [OPENING, _count(lines)]
    for paper, citation in PAPERS.items():
        rows = [_render_line(line) for line in lines if line.paper == paper]
        head = ("| where | it names | here | example | how ours differs |", "|---|---|---|---|---|")
        parts.append("\n".join((f"## {_author(paper)}", f"{citation}.", "", *head, *rows, "")))
    return "\n".join([*parts, ERRORS, tabulate_misprints(misprints, "gallery/")])


def _count(lines: list[Line]) -> str:
    numbers = Counter((line.paper, line.how) for line in lines)
    rows = [
        f"| [{_author(paper)}](#{_slug(_author(paper))}) | {' | '.join(str(numbers[paper, how]) for how in HOW)} |"
        for paper in PAPERS
    ]
    return "\n".join((f"| paper | {' | '.join(HOW)} |", "|---|" + "---:|" * len(HOW), *rows, ""))


def _render_line(line: Line) -> str:
    options = f" with `--delta {line.delta} --analyst bob`" if line.delta else ""
    example = f"`{line.example}`{options}" if line.example else ""
    how = f"*{line.how.capitalize()}.* {line.why}".rstrip()
    here = ", ".join(map(link, line.ours))
    return "| " + " | ".join(_escape(cell) for cell in (line.where, line.names, here, example, how)) + " |"


def _escape(cell: str) -> str:
    return cell.replace("|", r"\|")


def _author(paper: str) -> str:
    return PAPERS[paper].split(",")[0]


def _slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def _require(known: Iterable[str], name: str, kind: str) -> str:
    if name not in known:
        raise UnknownNameError(f"There is no {kind} {name}.")
    return name


@cache
def _headings(page: Path) -> dict[str, str]:
    lines = [line.lstrip("#").strip() for line in page.read_text().splitlines() if line.startswith("#")]
    return {_slug(line): line for line in lines}


def _link_method(name: str) -> str:
    return f"[`{_require(METHODS, name, 'method')}`](statistics.md#{name})"


def _link_command(name: str) -> str:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    known = f"adomnia {_require(commands, name, 'command')}"
    anchor = next(slug for slug, text in _headings(DOCS / "cli.md").items() if re.match(rf"`{known}\b", text))
    return f"[`{known}`](cli.md#{anchor})"


def _link_sql(name: str) -> str:
    if name in {each.name for each in AGGREGATES.values()}:
        return f"[`{name}`](sql-reference.md#aggregates)"
    return f"[`{_require(NAMES, name, 'SQL function')}`](sql-reference.md#conditions-and-expressions)"


def _link_mechanism(name: str) -> str:
    mechanism = MECHANISMS[_require(MECHANISMS, name, "mechanism")]
    return f"[{mechanism.__name__}](proofs/{mechanism.__module__.split('.')[-1]}.md)"


def _link_policy(name: str) -> str:
    return f'[`policy = "{_require(POLICIES, name, "policy")}"`](policies.md#{_slug(name.replace("_", " "))})'


def _link_design(name: str) -> str:
    return f"[`--design {_require(DESIGNS, name, 'design')}`](local.md#designs)"


_SECTIONS = {
    "dataset": ("`[dataset]`", [document_keys.DATASET]),
    "budget": ("`[budget]`", [document_keys.BUDGET]),
    "ledger": ("`[ledger]` and `[lifetime]`", [document_keys.LEDGER]),
    "analysts": ("`[analysts.NAME]`", [document_keys.ANALYST]),
    "tables": ("`[tables.NAME]`", [document_keys.ANY_TABLE]),
    "columns": ("Columns", list(document_keys.COLUMNS.values())),
}


def _link_key(name: str) -> str:
    section, _, key = name.partition(".")
    heading, known = _SECTIONS[_require(_SECTIONS, section, "section of the catalog")]
    _require({each.name for part in known for each in part.keys}, key, f"key of {section}")
    return f"[`{key}`](catalog.md#{_slug(heading)})"


def _link_python(name: str) -> str:
    _require(adomnia.__all__, name.removeprefix("adomnia."), "public name of adomnia")
    return f"[`{name}`](python.md)"


def _link_code(name: str) -> str:
    module, _, attribute = name.rpartition(".")
    _require(dir(import_module(f"adomnia.{module}")), attribute, f"name in {module}")
    return f"[`{attribute}`](../src/adomnia/{module.replace('.', '/')}.py)"


def _link_exhibit(name: str) -> str:
    titles = {exhibit.name: exhibit.title for exhibit in EXHIBITS}
    return f"[{titles[_require(titles, name, 'exhibit')]}](gallery/{name}.md)"


def _link_decision(number: str) -> str:
    pages = {page.name[:4]: page.name for page in (DOCS / "decisions").glob("*.md")}
    page = pages[_require(pages, number, "decision")]
    return f"[decision {int(number)}](decisions/{page})"


def _link_proof(name: str) -> str:
    _require({page.stem for page in (DOCS / "proofs").glob("*.md")}, name, "proof")
    return f"[proof](proofs/{name}.md)"


def _link_page(place: str) -> str:
    name, _, anchor = place.partition("#")
    _require({page.name for page in DOCS.glob("*.md")}, name, "page")
    headings = _headings(DOCS / name)
    text = headings[_require(headings, anchor, f"heading of {name}")] if anchor else next(iter(headings.values()))
    return f"[{text.split(':')[0]}]({place})"


_KINDS: dict[str, Callable[[str], str]] = {
    "method": _link_method,
    "command": _link_command,
    "sql": _link_sql,
    "mechanism": _link_mechanism,
    "policy": _link_policy,
    "design": _link_design,
    "key": _link_key,
    "python": _link_python,
    "code": _link_code,
    "exhibit": _link_exhibit,
    "decision": _link_decision,
    "proof": _link_proof,
    "page": _link_page,
}


if __name__ == "__main__":
    PAGE.write_text(render(read_lines(), read_misprints()))
    print(f"docs/papers.md, {len(read_lines())} lines")
