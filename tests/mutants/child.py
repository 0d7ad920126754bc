"""What runs in the process of a mutant: one test, against a copy of the source with its one place changed."""

from __future__ import annotations

import atexit
import os
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
ENVIRONMENT = {
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "HYPOTHESIS_PROFILE": "first_failure",
    "COLUMNS": "300",
}


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


def run_in_child(folder: str, changed: set[str], nodes: tuple[str, ...], output: str) -> None:
    """What `pytest` on the command line would do, in a process that has imported nothing that is changed."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, f"{folder}/src")
    forget(changed, folder)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV"))}
    os.environ.clear()
    os.environ.update(
        inherited,
        **ENVIRONMENT,
        PYTHONPATH=f"{folder}/src",
        HYPOTHESIS_STORAGE_DIRECTORY=f"{folder}/hypothesis",
    )
    os.chdir(PROJECT)
    with Path(output).open("w") as told:
        os.dup2(told.fileno(), 1)
        os.dup2(told.fileno(), 2)
        # Without the plug-in that looks for garbage twice: it would touch, and so copy, all memory of the parent.
        options = "-q -rf -x --tb=no --no-header -p no:cacheprovider -p no:unraisableexception -p no:threadexception"
        options += " --import-mode=importlib -o addopts="
        status = int(pytest.main([*options.split(), *nodes]))
        sys.stdout.flush()
        sys.stderr.flush()
    atexit._run_exitfuncs()  # a PostgreSQL that a test has started would outlive it
    os._exit(status)
