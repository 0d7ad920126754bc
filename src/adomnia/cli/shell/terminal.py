"""The terminal of the shell: a line editor with history and completion, which takes lines until a statement ends."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import typer
from prompt_toolkit import PromptSession
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.lexers import PygmentsLexer
from pygments.lexers.sql import SqlLexer

from adomnia.cli.shell.completion import CatalogCompleter
from adomnia.cli.shell.history import FileHistory, history_file
from adomnia.sql.reading.statements import is_complete, split_statements

if TYPE_CHECKING:
    from prompt_toolkit.input import Input
    from prompt_toolkit.key_binding import KeyPressEvent
    from prompt_toolkit.output import Output

    from adomnia.cli.shell.shell import Shell


class Terminal:
    """Reads statements for a shell, and asks whoever types."""

    def __init__(self, shell: Shell, source: Input | None = None, target: Output | None = None) -> None:
        self._shell, catalog = shell, shell.session.catalog()
        shell.name, shell.left = catalog.name, shell.session.budget().personal.left()
        shell.confirm = self._confirm
        self._statements: PromptSession[str] = PromptSession(
            history=FileHistory(history_file()),
            completer=CatalogCompleter(catalog),
            complete_while_typing=False,
            lexer=PygmentsLexer(SqlLexer),
            multiline=True,
            prompt_continuation="... ",
            key_bindings=_bind_enter(),
            input=source,
            output=target,
        )
        self._yes: PromptSession[str] = PromptSession(input=source, output=target)

    def run(self) -> None:
        """Read and run statements until the end of the input; an error ends its text, not the shell."""
        signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever types stops waiting by it, ignored or not
        typer.echo("A question ends with ; and what it costs is shown before it is asked.")
        typer.echo(r"\set epsilon 0.1 sets what questions pay, \d shows the tables, \? lists commands, \q leaves.")
        while not self._shell.over:
            try:
                text = self._statements.prompt(self._shell.prompt())
            except KeyboardInterrupt:  # the text is dropped
                continue
            except EOFError:
                break
            self._shell.run(split_statements(text))

    def _confirm(self, words: str) -> bool:
        try:
            return self._yes.prompt(words).strip().lower() in {"y", "yes"}
        except (KeyboardInterrupt, EOFError):
            return False


def _bind_enter() -> KeyBindings:
    """Enter ends the text if every statement of it has ended, and else begins another line."""
    bindings = KeyBindings()

    @bindings.add("enter")
    def _enter(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if is_complete(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    return bindings
