"""`adomnia shell`: questions one after another, typed on a terminal or read from a file."""

from __future__ import annotations

import os
import sys
from pathlib import Path  # noqa: TC003 - Typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from adomnia.cli.options import AnswerFormat, PlaceText, TokenFile, exit_code
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from adomnia.cli.shell.shell import Shell

SHELL_EXAMPLES = """Examples

adomnia shell examples/hospital --epsilon 0.1

adomnia shell https://stats.example.org/hospital --token-file token.txt

adomnia shell examples/hospital --epsilon 0.05 -f questions.sql --format csv

adomnia shell examples/hospital -c "SHOW TABLES; DESCRIBE people"
"""


def shell(  # noqa: PLR0913, PLR0917 - each is an option
    place: PlaceText,
    command: Annotated[
        str | None, typer.Option("--command", "-c", metavar="TEXT", help="Run these statements and end.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", metavar="FILE", help="Run the statements of a file and end.")
    ] = None,
    epsilon: Annotated[str | None, typer.Option(metavar="NUMBER", help="The price of each question at first.")] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any other setting at first; repeatable."),
    ] = None,
    analyst: Annotated[str | None, typer.Option(help="Who asks and pays; default: the catalog's first.")] = None,
    token_file: TokenFile = None,
    form: Annotated[AnswerFormat, typer.Option("--format", help="For people, or for programs.")] = AnswerFormat.TABLE,
    mock: Annotated[bool, typer.Option("--mock", help="Ask made-up rows: nothing is read or spent.")] = False,
) -> None:
    """Ask many questions: with a line editor on a terminal, or from a file, a text or standard input.

    On a terminal each question is priced, and asked once you say yes. Elsewhere it is asked at once, and the first
    error ends the shell with its exit code.
    """
    from adomnia.cli.dataset_places import Place, open_to_ask
    from adomnia.cli.shell import commands
    from adomnia.cli.shell.settings import ShellSettings
    from adomnia.cli.shell.shell import Shell

    settings = ShellSettings(form)
    for name, value in _first_settings(epsilon, setting):
        settings.set(name, value)
    text = _read_text(command, file)
    with open_to_ask(Place(place, analyst, token_file), mock=mock) as session:
        opened = Shell(session, settings, commands.run, mock=mock)
        try:
            if text is None:
                from adomnia.cli.shell.terminal import Terminal

                Terminal(opened).run()
            else:
                _run_text(opened, text)
        finally:
            opened.close()


def _first_settings(epsilon: str | None, written: list[str] | None) -> list[tuple[str, str]]:
    settings = [] if epsilon is None else [("epsilon", epsilon)]
    for each in written or []:
        name, equals, value = each.partition("=")
        if not equals or not value:
            raise Refusal(f"--set {each!r}", "does not name a setting and its value", "write --set rho=0.01")
        settings.append((name, value))
    return settings


def _read_text(command: str | None, file: Path | None) -> str | None:
    """The statements to run, or None where somebody types them."""
    if command is not None and file is not None:
        raise Refusal("-c and -f", "both say what to run", "give one of them")
    if command is not None:
        return command
    what = "Standard input" if file is None else f"File {file}"
    try:
        if file is not None:
            return file.read_text(encoding="utf-8-sig")
        return None if sys.stdin.isatty() and sys.stdout.isatty() else sys.stdin.read()
    except UnicodeDecodeError:
        raise Refusal(what, "is not text in UTF-8", "write it in UTF-8") from None
    except OSError as error:
        raise Refusal(what, f"cannot be read: {os.strerror(error.errno or 0).lower()}", "name another file") from None


def _run_text(opened: Shell, text: str) -> None:
    from adomnia.sql.reading.statements import split_statements

    error = opened.run(split_statements(text))
    if error is not None:
        raise typer.Exit(exit_code(error))
