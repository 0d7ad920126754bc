"""What every command prints with `--help`; commands are entered in process, at one width and without colours."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache, partial
from io import BytesIO, TextIOWrapper
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from typer import rich_utils
from typer.main import get_command

from adomnia.cli import app as commands

if TYPE_CHECKING:
    from collections.abc import Iterator

_WIDTH = 100
_VARIABLES = {"COLUMNS": str(_WIDTH), "LINES": "50", "NO_COLOR": "1", "TERM": "dumb"}
_OTHERS = ("FORCE_COLOR", "TERMINAL_WIDTH", "PY_COLORS", "GITHUB_ACTIONS", "JUPYTER_COLUMNS", "ADOMNIA_TOKEN")


def show_help() -> Iterator[tuple[str, str]]:
    """One record for each command and group of commands."""
    for words in _list_commands(_command(), ()):
        code, printed, complained = enter(*words, "--help")
        assert (code, complained) == (0, ""), (words, complained)
        yield " ".join(("adomnia", *words)), printed


def _list_commands(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield words
    for name, inner in sorted(getattr(command, "commands", {}).items()):
        yield from _list_commands(inner, (*words, name))


@cache
def _command() -> Any:
    """All commands: their options are read once."""
    return get_command(commands.app)


def enter(*arguments: str) -> tuple[object, str, str]:
    """What a command ends with, prints and complains about."""
    printed, complained = (TextIOWrapper(BytesIO(), "utf-8", newline="\n", write_through=True) for _ in range(2))
    with (
        _plain_terminal(),
        patch.object(commands, "app", partial(_command(), prog_name="adomnia")),
        patch.object(sys, "argv", ["adomnia", *arguments]),
        redirect_stdout(printed),
        redirect_stderr(complained),
    ):
        try:
            commands.main()
            code: object = 0
        except SystemExit as ended:
            code = ended.code
    return code, *(each.buffer.getvalue().decode() for each in (printed, complained))


@contextmanager
def _plain_terminal() -> Iterator[None]:
    """The same width everywhere, and no colours: some is asked of the environment when Typer is imported."""
    plain = {"FORCE_TERMINAL": None, "COLOR_SYSTEM": None, "MAX_WIDTH": _WIDTH}
    others = {name: value for name, value in os.environ.items() if name not in _OTHERS}
    with (
        patch.dict(os.environ, others | _VARIABLES, clear=True),
        patch.multiple(rich_utils, **plain),
    ):
        yield
