"""Writes docs/facts.md, what other pages count between marks, and the reference of methods.

    python tools/facts.py

Every number and list comes from the registries and the files of the project. In a page, what stands between the marks
`fact: NAME` and `/fact` is written by this tool; a test writes it again and compares.
"""

from __future__ import annotations

import inspect
import re
import sys
from enum import Enum
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from typer.models import OptionInfo

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]

from foreseen_errors import render_table  # noqa: E402 - found through the path above, like what follows

from adomnia.catalog.document_keys import FILE_ENDINGS  # noqa: E402
from adomnia.catalog.model import POLICIES  # noqa: E402
from adomnia.cli import questions, releases  # noqa: E402
from adomnia.cli.app import app  # noqa: E402
from adomnia.cli.shell.settings import NAMES  # noqa: E402
from adomnia.engines.registry import ENGINES  # noqa: E402
from adomnia.explaining.methods import (  # noqa: E402
    CHAPTERS,
    list_methods,
    render_reference,
)
from adomnia.mechanisms.registry import MECHANISMS  # noqa: E402
from adomnia.messages.surfaces import Surface  # noqa: E402
from adomnia.methods.registry import METHODS  # noqa: E402
from adomnia.options import OPTIONS, QuestionOption  # noqa: E402
from adomnia.privacy.expressions import FUNCTIONS  # noqa: E402
from adomnia.statistics.registry import STATISTICS  # noqa: E402
from adomnia.survey.registry import DESIGNS  # noqa: E402
from adomnia.version import __version__  # noqa: E402
from kit.core_lines import ADDED, PACKAGE, count_added, count_core, lines_of_code  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

ASKING = (questions.sql, questions.price, questions.explain, releases.release)  # commands with a question
DOCS = ROOT / "docs"
PAGE = DOCS / "facts.md"
METHODS_PAGE = DOCS / "statistics.md"
MARKED = re.compile(r"(<!-- fact: ([\w-]+) -->)(.*?)(<!-- /fact -->)", re.DOTALL)
BROKEN = {  # what a mistake in a folder of the trusted core could break
    "errors": "what an error says",
    "privacy": "how far one person is said to move an answer; what events cost; which are admitted",
    "noise": "the distribution of what is drawn",
    "catalog": "what was declared",
    "mechanisms": "which noise hides which move",
    "engines": "which rows are whose, what is proved about a text, what is switched off in the engine",
    "ledger": "what was paid, and that it stays paid",
    "curator": "that nothing is read unproved or unpaid",
}
BELIEVED = {  # what else a deployment rests on
    "a ledger in PostgreSQL": "psycopg and PostgreSQL: a committed transaction is durable, and advisory locks hold",
    "data in PostgreSQL": "psycopg and PostgreSQL: exact integer sums, and what its SQL says under pinned settings",
    "data in Spark": "PySpark and Spark: what its SQL says under pinned settings, and the files of the index",
}


def list_pages() -> list[Path]:
    """Every page that is not a record of the past."""
    own = [path for path in ROOT.glob("*.md") if path.name != "CHANGELOG.md"]
    return sorted([*own, *DOCS.rglob("*.md"), *(ROOT / "examples").rglob("*.md")])


def fill(text: str) -> str:
    """The page with what belongs between its marks; an unknown name is an error."""
    return MARKED.sub(lambda found: found[1] + FACTS[found[2]]() + found[4], text)


def complete_methods(text: str) -> str:
    """The page of methods: its introduction, then the reference that their signatures make."""
    reference = render_reference(list_methods())
    introduction, _, _ = text.partition(reference.partition("\n")[0])
    return introduction + reference


def render_page() -> str:
    """The page of facts."""
    chapters = [
        (f"methods: {title.lower()}", _names_of(chapter)) for chapter, title in CHAPTERS.items() if _names_of(chapter)
    ]
    rows = [
        ("engines", list(ENGINES)),
        ("aggregates of SQL", [*STATISTICS, "MEDIAN"]),
        *chapters,
        ("mechanisms", list(MECHANISMS)),
        ("designs of randomized response", list(DESIGNS)),
        ("policies that set prices", list(POLICIES)),
        ("endings of files that are read", list(FILE_ENDINGS)),
        ("surfaces", [surface.value for surface in Surface]),
        ("commands", sorted(typer.main.get_command(app).commands)),
    ]
    counted = [
        ("methods", len(METHODS)),
        ("scalar functions of SQL", sum(bool(row.written) for row in FUNCTIONS.values())),
        ("pages of proofs", _count_pages("proofs")),
        ("decisions", _count_pages("decisions")),
        ("planted bugs that a named test must catch", len(list((ROOT / "tests" / "mutants").glob("*.toml")))),
        ("lines of the trusted core", sum(count_core().values())),
        ("lines of all source, to the nearest thousand", 1000 * round(_count_source() / 1000)),
    ]
    return "\n".join(
        [
            "# Facts",
            "",
            f"What version {__version__} has. `make facts` writes this page from the source, and a test compares.",
            "",
            "| | number | which |",
            "|---|---:|---|",
            *(f"| {what} | {len(names)} | {_in_code(names)} |" for what, names in rows),
            "",
            "| | number |",
            "|---|---:|",
            *(f"| {what} | {number:,} |" for what, number in counted),
            "",
            "Lines are those that do something: no blank lines, comments or docstrings.",
            "",
        ]
    )


def _in_code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _names_of(chapter: str) -> list[str]:
    return [method.name for method in METHODS.values() if method.chapter == chapter]


def _count_pages(folder: str) -> int:
    return len([path for path in (DOCS / folder).glob("*.md") if path.name != "README.md"])


@cache
def _count_source() -> int:
    return sum(map(lines_of_code, PACKAGE.rglob("*.py")))


def _core() -> str:
    counted = count_core()
    rows = [f"| `{part}` | {lines:,} | {BROKEN[part]} |" for part, lines in counted.items()]
    head = ["| folder | lines | what a mistake there could break |", "|---|---|---|"]
    return _table([*head, *rows, f"| `all` | {sum(counted.values()):,} | |"])


def _deployments() -> str:
    always = sum(count_core().values()) - sum(map(count_added, ADDED))
    head = ["| deployment | lines of the core | and outside of it |", "|---|---:|---|"]
    first = f"| DuckDB, ledger in SQLite | {always:,} | DuckDB, SQLGlot, SQLite, the file system |"
    rest = [f"| and {name} | {count_added(name):,} more | {BELIEVED[name]} |" for name in ADDED]
    return _table([*head, first, *rest])


def _releases() -> str:
    rows = [f"| `{METHODS[name].name}` | {METHODS[name].summary} |" for name in _names_of("releases")]
    return _table(["| method | what it publishes |", "|---|---|", *rows])


def _options() -> str:
    """The options of a question; some are typed as the switch to what is not their default."""
    rows = [f"| `{row.name}` | {_type_option(row)} | {row.meaning} | {_default(row)} |" for row in OPTIONS.values()]
    return _table(["| option | typed | what it does | default |", "|---|---|---|---|", *rows])


def _type_option(row: QuestionOption) -> str:
    return f"`--{row.typed.flag} {row.typed.metavar}`" if row.typed.metavar else f"`--{row.typed.flag}`"


def _default(row: QuestionOption) -> str:
    return "" if row.default is None else f"`{row.default}`"


def _plain_options() -> str:
    """The parts of a question that a body sends as they are typed in Python, and that need no words of their own."""
    kinds = {"whole number", "choice", "truth"}
    return _in_code(
        row.name for row in OPTIONS.values() if row.is_of_question and row.kind in kinds and row.name != "from_release"
    )


def _flags(command: Callable[..., None]) -> str:
    """The options of a command that asks: those of the table, and its own."""
    rows = [
        f"| {_write_flag(each)} | {each.annotation.__metadata__[0].help}{_say_default(each.default)} |"
        for each in inspect.signature(command).parameters.values()
        if isinstance(each.annotation.__metadata__[0], OptionInfo) and not each.annotation.__metadata__[0].hidden
    ]
    return _table(["| option | meaning |", "|---|---|", *rows])


def _write_flag(parameter: inspect.Parameter) -> str:
    """How an option is typed: by its flag alone, with one of a few words, or with a value."""
    kind, (option,) = parameter.annotation.__origin__, parameter.annotation.__metadata__
    # Of an annotation, Typer keeps the first flag as its default.
    flag = option.default if isinstance(option.default, str) else f"--{parameter.name}"
    if isinstance(kind, type) and issubclass(kind, Enum):
        first, *others = (each.value for each in kind)
        return ", ".join([f"`{flag} {first}`", *(f"`{each}`" for each in others)])
    return f"`{flag}`" if kind is bool else f"`{flag} {option.metavar or 'TEXT'}`"


def _say_default(default: object) -> str:
    said = default.value if isinstance(default, Enum) else default
    return f" Default: {said}." if isinstance(said, str) else ""


def _table(lines: Sequence[str]) -> str:
    return "\n" + "\n".join(lines) + "\n"


FACTS = {
    **{f"flags-{each.__name__}": partial(_flags, each) for each in ASKING},
    "aggregates": lambda: _in_code([*STATISTICS, "MEDIAN"]),
    "block-functions": lambda: f"{lines_of_code(PACKAGE / 'privacy/transforms/block_functions.py')} lines",
    "core": _core,
    "core-lines": lambda: f"{sum(count_core().values()):,}",
    "deployments": _deployments,
    "duckdb-lines": lambda: f"{sum(count_core().values()) - sum(map(count_added, ADDED)):,}",
    "engines": lambda: str(len(ENGINES)),
    "foreseen-errors": lambda: f"\n{render_table()}\n",
    "mechanisms": lambda: str(len(MECHANISMS)),
    "methods": lambda: str(len(METHODS)),
    "mutants": lambda: str(len(list((ROOT / "tests" / "mutants").glob("*.toml")))),
    "plain-options": _plain_options,
    "question-options": _options,
    "releases": _releases,
    "shell-settings": lambda: _in_code(NAMES),
}


def main() -> None:
    """Write all of them, and say which changed."""
    METHODS_PAGE.write_text(complete_methods(METHODS_PAGE.read_text()))
    PAGE.write_text(render_page())
    for path in list_pages():
        before = path.read_text()
        if (after := fill(before)) != before:
            path.write_text(after)
            print(f"{path.relative_to(ROOT)} changed")


if __name__ == "__main__":
    main()
