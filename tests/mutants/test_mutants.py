"""Each historical mistake, planted into a copy of the source, must turn its named test red.

A mutant is a TOML file beside this one: `story` (what went wrong, and where such a thing happened), `file`, `before` (a
text that stands in it exactly once), `after`, and `killed_by`, the one test that must fail by assertion.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import cache_from_source
from multiprocessing import forkserver, get_context
from pathlib import Path
from shutil import rmtree
from signal import SIGKILL
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from _pytest.config import default_plugins

from adomnia import version
from kit.waiting import HANG_SECONDS
from mutants.child import ENVIRONMENT, PROJECT, run_collected, run_in_child

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

MUTANTS = {path.stem: tomllib.loads(path.read_text()) for path in sorted(Path(__file__).parent.glob("*.toml"))}
OTHER_VERSION = {"file": "src/adomnia/version.py", "before": "__version__ = ", "after": "__version__ = 'mutant' or "}
EVERY_MUTANT = pytest.mark.parametrize("name", MUTANTS)
# Each of their tests starts a Java of its own, for ten seconds; without a mutant they run among those of the engines.
WITH_JAVA = {"forgotten_statements_are_asked_again", "rows_written_where_nobody_looked", "views_called_like_tables"}
WITH_JAVA |= {"the_key_of_the_order_in_plans", "what_is_sent_to_java_is_logged"}
RED_BY_ASSERTION = re.compile(r"^FAILED .* - (AssertionError|assert |Failed: DID NOT RAISE)", re.MULTILINE)


# Children are forked from a process that has imported all of this already: most of a short run was importing it.
IMPORTED = ["argon2", "cryptography.hazmat.primitives.ciphers.aead", "duckdb", "fastapi", "httpx", "mpmath", "numpy"]
IMPORTED += ["hypothesis.strategies", "pandas", "prometheus_client", "pyarrow.dataset", "pyarrow.parquet", "pydantic"]
IMPORTED += ["jinja2", "pdb", "pytest", "rich.console", "scipy.stats", "sqlglot.dialects.duckdb", "sqlite3", "typer"]
IMPORTED += ["pyexpat", "readline", "xml.etree.ElementTree", *(f"_pytest.{name}" for name in default_plugins)]
SOURCES = {
    ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path
    for root in (PROJECT / "src", PROJECT / "tests")
    for path in sorted(root.rglob("*.py"))
    if not path.name.startswith("test_")
}
CHILDREN = get_context("forkserver")


@dataclass(frozen=True)
class Outcome:
    returncode: int | None
    stdout: str


@dataclass(frozen=True)
class Collected:
    """A process that has collected tests, what it tells, and a copy of the source, into which mutants are planted."""

    mutants: Connection
    output: Path
    folder: Path


@cache
def start_server() -> None:
    """What the named tests import is imported before any of them runs."""
    tests = {PROJECT / mutant["killed_by"].split("::")[0] for mutant in MUTANTS.values()}
    named = {name for path in (PROJECT / "tests/conftest.py", *tests) for name in list_imports(path)} & set(SOURCES)
    path = os.pathsep.join(str(PROJECT / root) for root in ("src", "tests"))
    with patch.dict(os.environ, ENVIRONMENT, PYTHONPATH=path):
        CHILDREN.set_forkserver_preload([*IMPORTED, "mutants.child", "mutants.calls", *sorted(named)])
        forkserver.ensure_running()


@cache
def importers() -> dict[str, set[str]]:
    """By module, the modules that import it when they are imported: those that do so later find what is there then."""
    found: dict[str, set[str]] = {name: set() for name in SOURCES}
    for name, path in SOURCES.items():
        for named in {name, *list_imports(path)}:
            parts = named.split(".")
            for part in (".".join(parts[:length]) for length in range(1, len(parts) + 1)):
                found.get(part, set()).add(name)
    return found


def list_imports(path: Path) -> Iterator[str]:
    following: list[ast.AST] = [ast.parse(path.read_bytes())]
    while following:
        match following.pop():
            case ast.Import(names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module, names, 0):
                yield from (module, *(f"{module}.{alias.name}" for alias in names))
            case ast.If(ast.Name("TYPE_CHECKING")):
                pass
            case ast.Module() | ast.If() | ast.Try() | ast.With() as parent:
                following += ast.iter_child_nodes(parent)


def depend_on(file: str) -> set[str]:
    """The module in a file, and all that import it, directly or not."""
    found, following = set(), [name for name, path in SOURCES.items() if path == PROJECT / file]
    while following:
        name = following.pop()
        if name not in found:
            found.add(name)
            following += importers()[name]
    return found


@pytest.fixture(scope="module")
def copied() -> Iterator[Path]:
    """A folder with a copy of the source, into which one mutant after the other is planted."""
    with TemporaryDirectory() as folder:
        files = {PROJECT / mutant["file"] for mutant in (*MUTANTS.values(), OTHER_VERSION)}
        mirror(PROJECT / "src", Path(folder) / "src", {*files, *(Path(cache_from_source(str(file))) for file in files)})
        yield Path(folder)


@pytest.fixture(scope="module")
def collected(request: pytest.FixtureRequest, copied: Path) -> Iterator[Collected]:
    """The process that has collected what kills the mutants of this run."""
    start_server()
    names = {item.callspec.params["name"] for item in request.session.items if collected.__name__ in item.fixturenames}
    nodes = sorted({MUTANTS[name]["killed_by"] for name in names})
    ours, theirs = CHILDREN.Pipe()
    output, cluster = copied / "output.txt", copied / "cluster.txt"
    cluster.touch()
    process = CHILDREN.Process(target=run_collected, args=(nodes, str(copied), str(output), theirs))
    process.start()
    theirs.close()
    yield Collected(ours, output, copied)
    ours.send(None)
    process.join(HANG_SECONDS)
    if made := cluster.read_text():
        rmtree(Path(made).parent)
    assert process.exitcode == 0, output.read_text()


def run(mutant: dict[str, str], planted: dict[str, str], collected: Collected) -> Outcome:
    """Only the test that kills a mutant, with no plug-in loaded, against the source with this planted."""
    collected.output.write_text("")
    with plant(collected.folder, planted):
        collected.mutants.send(mutant)
        child = collected.mutants.recv()
        if child is None:
            return run_imported(mutant, collected)
        if not collected.mutants.poll(HANG_SECONDS):
            os.kill(child, SIGKILL)
        return Outcome(collected.mutants.recv(), collected.output.read_text())


def run_imported(mutant: dict[str, str], collected: Collected) -> Outcome:
    """The same where no change of one function makes the mutant: whatever depends on its file is imported again."""
    told = (mutant["killed_by"], str(collected.folder), str(collected.output))
    child = CHILDREN.Process(target=run_in_child, args=(depend_on(mutant["file"]), *told))
    child.start()
    child.join(HANG_SECONDS)
    if child.is_alive():
        child.kill()
    return Outcome(child.exitcode, collected.output.read_text())


def mirror(source: Path, folder: Path, replaced: set[Path]) -> None:
    """Links to all of the source, and to what Python compiled of it; folders only around what will be replaced."""
    folder.mkdir(parents=True)
    for each in source.iterdir():
        if each.is_dir() and any(path.is_relative_to(each) for path in replaced):
            mirror(each, folder / each.name, replaced)
        else:
            (folder / each.name).symlink_to(each)


@contextmanager
def plant(folder: Path, mutant: dict[str, str]) -> Iterator[None]:
    """One place of the source in a folder is another, of which nothing is compiled, for as long as this lasts."""
    original, planted = PROJECT / mutant["file"], folder / mutant["file"]
    compiled = Path(cache_from_source(str(planted)))
    compiled.unlink(missing_ok=True)
    planted.unlink()
    planted.write_text(original.read_text().replace(mutant["before"], mutant["after"]))
    try:
        yield
    finally:
        compiled.unlink(missing_ok=True)
        planted.unlink()
        planted.symlink_to(original)


@pytest.mark.soak
@EVERY_MUTANT
def test_the_named_test_is_green_without_the_mutant(name, collected):
    """A red test kills nothing. Here it runs as for the mutant: the same is swapped, or imported once more."""
    mutant = MUTANTS[name]
    result = run(mutant, {**mutant, "after": mutant["before"]}, collected)
    assert result.returncode == 0, result.stdout


def test_the_copy_is_what_gets_tested(copied):
    """Otherwise an installed package would shadow the copy, and every mutant would seem alive."""
    environment = {**os.environ, "PYTHONPATH": str(copied / "src")}
    command = [sys.executable, "-B", "-c", "import adomnia; print(adomnia.__version__)"]
    with plant(copied, OTHER_VERSION):
        assert subprocess.check_output(command, env=environment, text=True) == "mutant\n"
    assert subprocess.check_output(command, env=environment, text=True) == f"{version.__version__}\n"


@EVERY_MUTANT
def test_a_mutant_changes_one_place_and_tells_its_story(name):
    mutant = MUTANTS[name]
    assert set(mutant) == {"story", "file", "before", "after", "killed_by"}
    assert len(mutant["story"].split()) >= 8
    assert (PROJECT / mutant["file"]).read_text().count(mutant["before"]) == 1
    assert mutant["before"] != mutant["after"]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.soak] if name in WITH_JAVA else []) for name in MUTANTS]
)
def test_the_named_test_kills(name, collected):
    result = run(MUTANTS[name], MUTANTS[name], collected)
    assert result.returncode == 1, result.stdout
    assert RED_BY_ASSERTION.search(result.stdout), result.stdout


def test_there_are_enough_mutants_in_every_part_of_the_core():
    parts = [mutant["file"].split("/")[2] for mutant in MUTANTS.values()]
    assert len(parts) >= 16
    assert {part: parts.count(part) >= 4 for part in ("privacy", "noise", "mechanisms")} == {
        "privacy": True,
        "noise": True,
        "mechanisms": True,
    }
