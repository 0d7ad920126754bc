"""What runs in the processes of mutants: tests, against a copy of the source with its one place changed.

Importing all that depends on a file takes far longer than most tests, and so does collecting them. For most mutants one
process does it once, and forks children that swap the code of one function. Of the others each imports the copy.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kit.postgres import CLUSTER_FILE
from mutants.swapping import find_swap

if TYPE_CHECKING:
    from collections.abc import Collection
    from multiprocessing.connection import Connection
    from types import CodeType, FunctionType

PROJECT = Path(__file__).parents[2]
ENVIRONMENT = {
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "HYPOTHESIS_PROFILE": "first_failure",
    "COLUMNS": "300",
}
# Without the plug-in that looks for garbage twice: it would touch, and so copy, all memory of the parent.
OPTIONS = "-q -rf -x --tb=no --no-header -p no:cacheprovider -p no:unraisableexception -p no:threadexception"
OPTIONS += " --import-mode=importlib -o addopts="


def forget(changed: set[str], folder: str) -> None:
    """Whatever was imported of what depends on a changed file is imported again, from another folder."""
    for name in changed & set(sys.modules):
        del sys.modules[name]
        package, _, own = name.rpartition(".")
        if package in sys.modules:
            vars(sys.modules[package]).pop(own, None)
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "adomnia" and hasattr(module, "__path__"):
            module.__path__ = [f"{folder}/src/{name.replace('.', '/')}"]


def run_in_child(changed: set[str], node: str, folder: str, output: str) -> None:
    """What `pytest` on the command line would do, in a process that has imported nothing that is changed."""
    sys.setprofile(None)
    gc.freeze()  # what looked for garbage among all of this would touch, and so copy, it
    forget(changed, folder)
    start(folder, output)
    pytest.main([*OPTIONS.split(), f"--basetemp={folder}/tests", node], plugins=[Ends()])


def run_collected(nodes: Collection[str], folder: str, output: str, mutants: Connection) -> None:
    """The same in a process that has collected all these tests: it forks a child for each mutant that it receives."""
    start(folder, output)
    pytest.main([*OPTIONS.split(), f"--basetemp={folder}/tests", *nodes], plugins=[Ends(), Forks(folder, mutants)])


class Ends:
    """A plug-in of pytest: once all is told, the process ends. Taking down what it imported would touch all of that."""

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self._status = int(session.exitstatus)

    @pytest.hookimpl(tryfirst=True)
    def pytest_unconfigure(self) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        atexit._run_exitfuncs()  # a PostgreSQL that a test has started would outlive it
        os._exit(self._status)


class Forks:
    """A plug-in of pytest: what follows the collection of tests is done again and again, each time by a child."""

    def __init__(self, folder: str, mutants: Connection) -> None:
        self._folder, self._mutants = folder, mutants

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Say of each mutant that no swap of code makes it, or which child that is, and how it ended."""
        sys.setprofile(None)
        while (mutant := self._mutants.recv()) is not None:
            swap = find_mutant(self._folder, mutant)
            if swap is None:
                self._mutants.send(None)
                continue
            sys.stdout.flush()
            if (child := os.fork()) == 0:
                swap_code(*swap)
                session.items = [item for item in session.items if is_of(item, mutant["killed_by"])]
                return None  # to pytest, which runs them
            self._mutants.send(child)
            self._mutants.send(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        return True


def find_mutant(folder: str, mutant: dict[str, str]) -> tuple[FunctionType, CodeType] | None:
    """The function that a mutant changes, and its code in the copy: what it was, where nothing is planted."""
    text = (PROJECT / mutant["file"]).read_text()
    name = ".".join(Path(mutant["file"]).with_suffix("").parts[1:]).removesuffix(".__init__")
    swap = find_swap(name, text, text.replace(mutant["before"], mutant["after"]))
    is_planted = (Path(folder) / mutant["file"]).read_text() != text
    return swap if swap is None or is_planted else (swap[0], swap[0].__code__)


def is_of(item: pytest.Item, node: str) -> bool:
    return item.nodeid == node or item.nodeid.startswith(f"{node}[")


def swap_code(function: FunctionType, code: CodeType) -> None:
    function.__code__ = code


def start(folder: str, output: str) -> None:
    """What is imported from here on, and by other programs, comes from a folder, and what is said goes to a file."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, f"{folder}/src")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV"))}
    os.environ.clear()
    os.environ.update(
        inherited,
        **ENVIRONMENT,
        **{CLUSTER_FILE: f"{folder}/cluster.txt"},
        PYTHONPATH=f"{folder}/src",
        HYPOTHESIS_STORAGE_DIRECTORY=f"{folder}/hypothesis",
    )
    os.chdir(PROJECT)
    with Path(output).open("a") as told:
        os.dup2(told.fileno(), 1)
        os.dup2(told.fileno(), 2)
