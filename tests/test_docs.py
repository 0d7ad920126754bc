"""The documentation is true: nothing public is missing from it, every link resolves, every runnable block runs."""

from __future__ import annotations

import ast
import doctest
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer

import adomnia
from adomnia.cli.app import app, main
from adomnia.errors import Refusal
from adomnia.explaining.methods import list_methods, render_reference
from adomnia.mechanisms.registry import MECHANISMS
from adomnia.privacy.expressions import FUNCTIONS
from adomnia.session.curator import read_catalog
from adomnia.sql.lower import lower, plan_question
from adomnia.sql.reading.parse import parse
from adomnia.sql.values.functions import NAMES
from adomnia.statistics.registry import STATISTICS
from kit.example import write_example
from kit.known_facts import remembered_facts
from test_architecture import LAYERS

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src" / "adomnia").rglob("*.py"))
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
PROOFS = ROOT / "docs" / "proofs"
README = ROOT / "README.md"
GLOSSARY = ROOT / "docs" / "glossary.md"
METHODS_PAGE = ROOT / "docs" / "statistics.md"
COMMANDS = ROOT / "docs" / "cli.md"
GUIDE = ROOT / "docs" / "sql.md"
LANGUAGE = ROOT / "docs" / "sql-reference.md"

FACE = (
    "curator/paying.py",
    *(f"asking/{name}.py" for name in ("asker", "batch", "stored_answers")),
    "session/table.py",
)
CURATORS = [ROOT / "src" / "adomnia" / name for name in FACE]

KERNEL = ("privacy", "noise", "mechanisms", "survey")  # the packages whose public classes are words of the project

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(\w+) ?([\w./ ]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TARGET = re.compile(r"^([a-z]+):.*## ", re.MULTILINE)
PROOF = re.compile(r"docs/proofs/[\w-]+\.md")
CODE = re.compile(r"[a-z]+(_[a-z]+)*")
LIMIT = re.compile(r"^_?MOST(?!_DIGITS)\w* = ([\d_*]+)", re.MULTILINE)
NUMBER = re.compile(r"[+-]?\d(?:[\d,.]*\d)?(?:e[+-]\d+)?")


def slug(heading: str) -> str:
    """The anchor GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def broken_links(page: Path, text: str) -> list[str]:
    prose = FENCE.sub("", text)
    return [link for link in LINK.findall(prose) if "://" not in link and not resolves(page, link)]


def resolves(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    if not target.exists():
        return False
    return not anchor or anchor in {
        slug(line.lstrip("#")) for line in target.read_text().splitlines() if line.startswith("#")
    }


def blocks(page: Path, language: str) -> Iterator[tuple[str, str]]:
    """The word after the language, and the text."""
    return ((mark, body) for kind, mark, body in FENCE.findall(page.read_text()) if kind == language)


def runnable(page: Path, language: str) -> list[str]:
    return [body for mark, body in blocks(page, language) if mark == "run"]


def written_questions() -> Iterator[tuple[str, str]]:
    """Every question on the pages about SQL, and the code that it is refused with, if the page says so."""
    for mark, body in [*blocks(GUIDE, "sql"), *blocks(LANGUAGE, "sql"), *blocks(METHODS_PAGE, "sql")]:
        yield from ((text.strip(), mark.removeprefix("refused ")) for text in body.split(";"))


def table_below(heading: str) -> list[list[str]]:
    """The cells of the table in the reference of SQL whose first column is called that."""
    rows = LANGUAGE.read_text().split(f"\n| {heading} |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]


def sources() -> list[Path]:
    """What reads and prices questions, what limits both, and what refuses names that options had before."""
    package = ROOT / "src" / "adomnia"
    parts = [path for part in ("sql", "plans", "pricing") for path in (package / part).rglob("*.py")]
    return [*parts, package / "work.py", package / "errors.py"]


def raised_codes() -> set[str]:
    """The codes of refusals in the source of the packages that read questions.

    They stand in calls, as `code=` or as what comes before the node, and in the tables of what is refused.
    """
    found: set[str] = set()
    for path in [*sources(), *CURATORS]:
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.keyword(arg="code", value=ast.Constant(value=str(code))):
                    found.add(code)
                case ast.Call(
                    func=ast.Name(id="refusal" | "refusal_of_name"), args=[ast.Constant(value=str(code)), *_]
                ):
                    found.add(code)
                case ast.Call(func=ast.Name(id="_refusal_at"), args=[_, ast.Constant(value=str(code)), *_]):
                    found.add(code)
                case ast.Tuple(elts=[ast.Constant(value=str(code)), _, ast.Constant(), ast.Constant()]):
                    found.add(code)
                case ast.Tuple(elts=[ast.Attribute(), ast.Constant(value=str(code)), *_]):
                    found.add(code)
                case ast.Tuple(elts=[ast.Constant(value=str(code)), ast.Constant(), ast.Starred()]):
                    found.add(code)
    return {code for code in found if CODE.fullmatch(code)}


def shape(text: str) -> list[str]:
    """What stays the same when noise is drawn again: words; not numbers or bounds, bars or spaces."""
    lines = (NUMBER.sub("#", line.strip()).replace("< #", "#") for line in text.splitlines())
    return [re.sub(r"─+", "─", re.sub(r"\s+", " ", line)) for line in lines]


def without_output(console: str) -> tuple[str, str]:
    command, _, output = console.partition("\n")
    return command.removeprefix("$ "), output


def public_names(*kinds: type[ast.stmt]) -> set[str]:
    """Names of these kinds that the modules of the kernel define at their top, a leading underscore aside."""
    paths = [path for path in SOURCES if path.relative_to(ROOT / "src" / "adomnia").parts[0] in KERNEL]
    statements = [node for path in paths for node in ast.parse(path.read_text()).body if isinstance(node, kinds)]
    names = {node.name if isinstance(node, ast.ClassDef) else ast.unparse(node.target) for node in statements}
    return {name for name in names if not name.startswith("_")}


def glossary_words() -> set[str]:
    """The first column of every table of the glossary, one or several words in code font a row."""
    rows = [line.split("|")[1] for line in GLOSSARY.read_text().splitlines() if line.startswith("|")]
    return {word for row in rows for word in re.findall(r"`([^`]+)`", row)}


def documented(*pages: Path) -> str:
    return "\n".join(page.read_text() for page in pages)


def test_every_command_is_listed_and_has_a_section_on_the_page_of_the_command_line():
    commands = typer.main.get_command(app).commands
    listed, *sections = COMMANDS.read_text().split("\n## ")
    assert len(commands) >= 1
    assert [name for name in commands if not re.search(rf"^\| `adomnia {name}\b", listed, re.MULTILINE)] == []
    assert [name for name in commands if not any(part.startswith(f"`adomnia {name}") for part in sections)] == []


def test_every_option_of_every_command_is_on_the_page_of_the_command_line():
    sections = {part.split()[1].rstrip("`"): part for part in COMMANDS.read_text().split("## `")[1:]}
    for name, command in typer.main.get_command(app).commands.items():
        shown = (parameter for parameter in command.params if not getattr(parameter, "hidden", False))
        options = [option for parameter in shown for option in parameter.opts if option.startswith("--")]
        assert [option for option in options if option not in sections[name]] == []


def test_the_readme_is_two_screens():
    assert len(README.read_text().splitlines()) <= 110


def test_every_statistic_is_in_the_readme():
    assert [name for name in STATISTICS if f"`{name}`" not in README.read_text()] == []


def test_every_function_of_the_table_is_in_the_reference_with_what_it_takes_and_gives():
    page = LANGUAGE.read_text()
    written = {row: row.written.replace("|", "\\|") for row in FUNCTIONS.values() if row.written}
    missing = [row.name for row, text in written.items() if f"| `{text}` | {row.takes} | {row.meaning} |" not in page]
    assert missing == []
    assert {name for name, row in FUNCTIONS.items() if not row.written} == {"finite", "inside"}


def test_every_name_that_a_function_is_called_by_is_in_the_reference():
    page = LANGUAGE.read_text()
    assert [name for name in sorted(NAMES) if not re.search(rf"`[^`]*\b{name}\b[^`]*`", page)] == []


def test_every_make_target_is_in_the_readme_or_the_contributing_page():
    targets = TARGET.findall((ROOT / "Makefile").read_text())
    assert {"run", "test", "check", "bench", "soak", "clean", "help"} <= set(targets)
    text = documented(README, ROOT / "CONTRIBUTING.md")
    assert [target for target in targets if f"`make {target}`" not in text and f"$ make {target}" not in text] == []


def test_the_readme_shows_the_question_that_make_run_asks():
    [question] = re.findall(r"^QUESTION := (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert f'$ adomnia sql examples/hospital "{question}" --epsilon 0.5\n' in README.read_text()


@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=lambda mechanism: mechanism.__name__)
def test_every_registered_mechanism_is_in_the_glossary_and_names_its_proof(mechanism):
    proof = f"docs/proofs/{mechanism.__module__.split('.')[-1]}.md"
    assert mechanism.__name__ in glossary_words()
    assert proof in mechanism.__doc__
    assert (ROOT / proof).is_file()


def test_every_proof_that_the_code_names_exists():
    named = {proof for path in SOURCES for proof in PROOF.findall(path.read_text())}
    assert [proof for proof in sorted(named) if not (ROOT / proof).is_file()] == []


def test_every_proof_is_named_by_the_code_it_is_about():
    named = {proof for path in SOURCES for proof in PROOF.findall(path.read_text())}
    assert [page.name for page in PROOFS.glob("[a-z]*.md") if f"docs/proofs/{page.name}" not in named] == []


def test_every_decision_has_a_number_of_its_own():
    numbers = [page.name[:4] for page in (ROOT / "docs" / "decisions").glob("*.md")]
    assert all(number.isdigit() for number in numbers)
    assert len(numbers) == len(set(numbers))


def test_every_file_that_the_architecture_names_exists():
    page = (ROOT / "docs" / "architecture.md").read_text()
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)+\.py)`", page))
    assert len(named) > 30
    assert [name for name in sorted(named) if not (ROOT / "src" / "adomnia" / name).is_file()] == []


def test_the_architecture_shows_the_layers_in_their_order():
    page = (ROOT / "docs" / "architecture.md").read_text()
    shown = re.findall(r"[a-z_]+", page.split("```text\n")[1].split("```")[0])
    known = [layer for layer in LAYERS if layer != {"adomnia"}]
    assert shown == [part for layer in known for part in sorted(layer, key=shown.index)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_resolves(page):
    assert broken_links(page, page.read_text()) == []


@pytest.mark.parametrize("link", ["docs/nowhere.md", "#no-such-heading", "CONTRIBUTING.md#no-such-heading"])
def test_a_broken_link_is_found(link):
    assert broken_links(README, f"[text]({link})") == [link]
    assert broken_links(README, f"```text\n[text]({link})\n```") == []


def test_every_public_word_is_in_the_glossary():
    public = public_names(ast.ClassDef) | set(adomnia.__all__) - {"__version__"}
    assert {"Pure", "Refusal", "DiscreteLaplace"} <= public
    assert sorted(public - glossary_words()) == []


def test_the_glossary_explains_no_name_that_is_gone():
    explained = {word for word in glossary_words() if re.fullmatch(r"([A-Z][a-z]+)+", word)}
    assert sorted(explained - public_names(ast.ClassDef, ast.AnnAssign) - set(adomnia.__all__)) == []


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A folder like the one a reader starts in, where nobody has asked the example anything."""
    write_example(tmp_path / "examples" / "hospital", indexed=True)
    monkeypatch.chdir(tmp_path)
    with remembered_facts():
        yield tmp_path


def with_blocks(language: str) -> list[Path]:
    return [page for page in PAGES if runnable(page, language)]


def by_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.usefixtures("checkout")
@pytest.mark.parametrize("page", with_blocks("python"), ids=by_name)
def test_every_session_in_the_documentation_is_true(page):
    example = doctest.DocTestParser().get_doctest("\n".join(runnable(page, "python")), {}, page.name, str(page), 0)
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    return read_catalog(write_example(tmp_path_factory.mktemp("examples") / "hospital", people=10))


@pytest.mark.parametrize(("text", "code"), list(written_questions()))
def test_every_question_on_the_pages_about_sql_ends_as_it_says(catalog, text, code):
    try:
        plan_question(parse(text), catalog)
        refused = ""
    except Refusal as refusal:
        refused = refusal.code
    assert refused == code


def test_the_pages_about_sql_have_questions_of_both_sorts():
    codes = [code for _, code in written_questions()]
    assert codes.count("") >= 12
    assert len(set(codes)) >= 10


@pytest.mark.parametrize(("source", "rows"), table_below("FROM"))
def test_every_join_in_the_reference_has_the_rows_that_it_says(catalog, source, rows):
    assert lower(f"SELECT COUNT(*) FROM {source.strip('`')}", catalog).relation.rows_per_person == int(rows)


def test_every_limit_is_in_the_reference():
    page = LANGUAGE.read_text().split("\n## Limits\n")[1].split("\n## ")[0]
    found = [LIMIT.findall(path.read_text()) for path in sources()]
    limits = [eval(value, {}) for values in found for value in values]
    assert len(limits) >= 10
    assert [limit for limit in limits if not re.search(rf"\b{limit:,}\b", page)] == []


def test_the_page_of_methods_is_the_one_that_their_signatures_make():
    """`adomnia methods --format markdown` prints what stands below its introduction."""
    assert METHODS_PAGE.read_text().endswith(render_reference(list_methods()))


def test_every_code_of_a_refusal_is_in_the_reference_and_no_other():
    documented_codes = [code for row in table_below("code") for code in re.findall(r"`([^`]+)`", row[0])]
    assert len(documented_codes) == len(set(documented_codes))
    assert set(documented_codes) == raised_codes()


def write_file(target: Path, text: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)


@pytest.fixture
def typed(monkeypatch, capsys):
    """What a command prints, without the time that a new process takes."""

    def enter(command: str) -> str:
        program, *arguments = shlex.split(command)
        assert program == "adomnia"
        monkeypatch.setattr(sys, "argv", [program, *arguments])
        with pytest.raises(SystemExit):
            main()
        return "".join(capsys.readouterr())

    return enter


@pytest.mark.parametrize("page", with_blocks("console"), ids=by_name)
def test_every_console_block_shows_what_the_command_prints(page, checkout, typed):
    """A reader goes from top to bottom, and writes the blocks that are marked with a path into files on the way."""
    for language, mark, body in FENCE.findall(page.read_text()):
        if "." in mark:
            write_file(checkout / mark, body)
        elif (language, mark) == ("console", "run"):
            command, output = without_output(body)
            assert shape(typed(command).strip("\n")) == shape(output.strip("\n"))


def test_pages_for_newcomers_are_run():
    assert {"README.md", "docs/python.md", "docs/tutorial/python.md"} <= set(map(by_name, with_blocks("python")))
    tutorials = {f"docs/tutorial/{name}.md" for name in ("analyst", "owner", "statistics")}
    assert {"README.md", "docs/epsilon.md", *tutorials} <= set(map(by_name, with_blocks("console")))


def test_a_console_block_that_says_something_else_is_found():
    assert shape("Noisy count  557\n") == shape("Noisy count 1,024")
    assert shape("Noisy count  557") != shape("Exact count  557")
    assert shape("p_value 2.3e-06") == shape("p_value 0.04")
    assert shape("───────\n   5") == shape("────\n5")
