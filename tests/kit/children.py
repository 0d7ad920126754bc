"""Processes of their own, forked from one that has imported what they need: that takes longer than most live."""

from __future__ import annotations

import atexit
import os
import sys
import warnings
from functools import cache
from importlib import import_module
from multiprocessing import forkserver, get_context
from threading import Timer
from typing import TYPE_CHECKING
from unittest.mock import patch

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_CHILDREN = get_context("forkserver")
_IMPORTED = ["pytest", "kit.children", "kit.openers", "ledger.children"]


class Child:
    """What `subprocess.Popen` is to a program: a process that runs a function of a module, and pipes to and from it."""

    def __init__(self, module: str, function: str, *arguments: str) -> None:
        _start_server()
        receives, tells = _CHILDREN.Pipe(duplex=False)
        hears, says = _CHILDREN.Pipe(duplex=False)
        given = (module, function, arguments, dict(os.environ), receives, says)
        self._process = _CHILDREN.Process(target=_run, args=given, daemon=True)
        self._process.start()
        receives.close()
        says.close()
        self.stdin = open(os.dup(tells.fileno()), "w")  # noqa: PTH123, SIM115
        self.stdout = open(os.dup(hears.fileno()))  # noqa: PTH123, SIM115
        tells.close()
        hears.close()

    @property
    def pid(self) -> int | None:
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def send_signal(self, signal: int) -> None:
        assert self.pid is not None
        os.kill(self.pid, signal)

    def kill(self) -> None:
        self._process.kill()

    def wait(self, timeout: float) -> None:
        self._process.join(timeout)

    def communicate(self, timeout: float) -> tuple[str, None]:
        """Tell it no more, and wait for its end: what it said until then."""
        watch = Timer(timeout, self.kill)
        watch.start()
        self.stdin.close()
        with self.stdout:
            said = self.stdout.read()
        self.wait(timeout)
        watch.cancel()
        return said, None


@cache
def _start_server() -> None:
    with patch.dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path))):
        _CHILDREN.set_forkserver_preload(_IMPORTED)
        forkserver.ensure_running()


def _run(  # noqa: PLR0913, PLR0917
    module: str,
    function: str,
    arguments: tuple[str, ...],
    environment: dict[str, str],
    receives: Connection,
    says: Connection,
) -> None:
    """What `python -W error` would do."""
    os.environ.clear()
    os.environ.update(environment)
    warnings.simplefilter("error")
    sys.stdin, sys.stdout = open(receives.fileno(), closefd=False), open(says.fileno(), "w", closefd=False)  # noqa: SIM115
    getattr(import_module(module), function)(*arguments)
    sys.stdout.flush()
    atexit._run_exitfuncs()  # multiprocessing leaves them out
