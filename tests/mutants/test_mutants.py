"""Each historical mistake, planted into a copy of the source, must turn its named test red.

A mutant is a TOML file beside this one: `story` (what went wrong, and where such a thing happened), `file`, `before` (a
text that stands in it exactly once), `after`, and `killed_by`, the one test that must fail by assertion.
"""

from __future__ import annotations

import atexit
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from importlib.util import cache_from_source
from multiprocessing import get_context
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
MUTANTS = {path.stem: tomllib.loads(path.read_text()) for path in sorted(Path(__file__).parent.glob("*.toml"))}
EVERY_MUTANT = pytest.mark.parametrize("name", MUTANTS)
RED_BY_ASSERTION = re.compile(r"^FAILED .* - (AssertionError|assert |Failed: DID NOT RAISE)", re.MULTILINE)


# Children are forked from a process that has imported these already: most of a short run was importing them.
IMPORTED = ["argon2", "cryptography.hazmat.primitives.ciphers.aead", "duckdb", "fastapi", "httpx", "mpmath", "numpy"]
IMPORTED += ["hypothesis.strategies", "pandas", "prometheus_client", "pyarrow.dataset", "pyarrow.parquet", "pydantic"]
IMPORTED += ["jinja2", "pdb", "pytest", "rich.console", "scipy.stats", "sqlglot.dialects.duckdb", "sqlite3", "typer"]
CHILDREN = get_context("forkserver")
CHILDREN.set_forkserver_preload(IMPORTED)


@dataclass(frozen=True)
class Outcome:
    returncode: int | None
    stdout: str


def run(folder: Path, *nodes: str) -> Outcome:
    """Only these tests, against the source in that folder, with no plug-in loaded."""
    output = folder / "output.txt"
    child = CHILDREN.Process(target=run_in_child, args=(str(folder), nodes, str(output)))
    child.start()
    child.join(300)
    if child.is_alive():
        child.kill()
    return Outcome(child.exitcode, output.read_text())


def run_in_child(folder: str, nodes: tuple[str, ...], output: str) -> None:
    """What `pytest` on the command line would do, in a process that has imported nothing of ours."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, f"{folder}/src")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV"))}
    os.environ.clear()
    os.environ.update(
        inherited,
        PYTHONPATH=f"{folder}/src",
        PYTHONDONTWRITEBYTECODE="1",
        PYTEST_DISABLE_PLUGIN_AUTOLOAD="1",
        HYPOTHESIS_PROFILE="first_failure",
        HYPOTHESIS_STORAGE_DIRECTORY=f"{folder}/hypothesis",
        COLUMNS="300",
    )
    os.chdir(PROJECT)
    with Path(output).open("w") as told:
        os.dup2(told.fileno(), 1)
        os.dup2(told.fileno(), 2)
        options = "-q -rf -x --tb=no --no-header -p no:cacheprovider --import-mode=importlib -o addopts="
        status = int(pytest.main([*options.split(), *nodes]))
        sys.stdout.flush()
        sys.stderr.flush()
    atexit._run_exitfuncs()  # a PostgreSQL that a test has started would outlive it
    os._exit(status)


def mirror(source: Path, folder: Path, without: set[Path]) -> None:
    """Link to everything in the source, and to what Python compiled of it, without some files."""
    folder.mkdir(parents=True)
    for each in source.iterdir():
        if not any(path.is_relative_to(each) for path in without):
            (folder / each.name).symlink_to(each)
        elif each not in without:
            mirror(each, folder / each.name, without)


def plant(folder: Path, mutant: dict[str, str]) -> None:
    """The source in another folder, with its one place changed."""
    original = PROJECT / mutant["file"]
    mirror(PROJECT / "src", folder / "src", {original, Path(cache_from_source(str(original)))})
    (folder / mutant["file"]).write_text(original.read_text().replace(mutant["before"], mutant["after"]))


@pytest.mark.soak
def test_the_named_tests_are_green_without_a_mutant(tmp_path):
    """A red test kills nothing. The suite runs each of them too; here they run as for a mutant, without plug-ins."""
    mirror(PROJECT / "src", tmp_path / "src", set())
    killers = run(tmp_path, *sorted({mutant["killed_by"] for mutant in MUTANTS.values()}))
    assert killers.returncode == 0, killers.stdout


def test_the_copy_is_what_gets_tested(tmp_path):
    """Otherwise an installed package would shadow the copy, and every mutant would seem alive."""
    mutant = {"file": "src/adomnia/__init__.py", "before": "__version__ = ", "after": "__version__ = 'mutant' or "}
    plant(tmp_path, mutant)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}
    command = [sys.executable, "-B", "-c", "import adomnia; print(adomnia.__version__)"]
    assert subprocess.check_output(command, env=environment, text=True) == "mutant\n"


@EVERY_MUTANT
def test_a_mutant_changes_one_place_and_tells_its_story(name):
    mutant = MUTANTS[name]
    assert set(mutant) == {"story", "file", "before", "after", "killed_by"}
    assert len(mutant["story"].split()) >= 8
    assert (PROJECT / mutant["file"]).read_text().count(mutant["before"]) == 1
    assert mutant["before"] != mutant["after"]


@EVERY_MUTANT
def test_the_named_test_kills(name, tmp_path):
    plant(tmp_path, MUTANTS[name])
    result = run(tmp_path, MUTANTS[name]["killed_by"])
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
