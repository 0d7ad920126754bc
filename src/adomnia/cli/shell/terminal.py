"""The terminal of the shell: a line editor with completion, which takes lines until a statement ends.

Its history is a file that its user alone can read.
"""

from __future__ import annotations

import json
import os
import re
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import Completer, Completion
from prompt_toolkit.history import History
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.lexers import PygmentsLexer
from pygments.lexers.sql import SqlLexer

from adomnia.cli.shell.commands import COMMANDS
from adomnia.cli.shell.settings import NAMES as SETTINGS
from adomnia.cli.shell.settings import values_of
from adomnia.privacy.kinds import Text
from adomnia.sql.reading.statements import is_complete, split_statements
from adomnia.sql.rows.blocks import rows_of
from adomnia.sql.values.aggregates import AGGREGATES
from adomnia.sql.values.functions import NAMES as FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document
    from prompt_toolkit.input import Input
    from prompt_toolkit.key_binding import KeyPressEvent
    from prompt_toolkit.output import Output

    from adomnia.catalog.model import Catalog
    from adomnia.cli.shell.shell import Shell
    from adomnia.privacy.expressions import Expression

MOST_ENTRIES = 1000
_LONGEST_ENTRY = 10_000  # characters; what is longer is not kept
_MOST_BYTES = 2**24  # of a file that is read at all
_KEYWORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "OFFSET", "JOIN", "LEFT JOIN", "ON", "AS"),
    *("AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "IS NULL", "IS NOT NULL", "CASE", "WHEN", "THEN", "ELSE", "END"),
    *("DISTINCT", "UNION ALL", "WITH", "FILTER", "CAST", "EXISTS", "TRUE", "FALSE", "NULL", "DATE", "ASC", "DESC"),
    *("EXPLAIN", "SHOW TABLES", "DESCRIBE"),
)
_MOST = 200  # that are offered at once
_WORD = re.compile(r"(?:(?P<table>\w+)\.)?(?P<word>\w*)$")
_VALUE = re.compile(
    r"(?P<column>\w+)\"?\s*(?:=|<>|!=|(?:NOT\s+)?IN\s*\((?:[^()]*,)?)\s*'(?P<start>[^']*)$", re.IGNORECASE
)
_COMMAND = re.compile(r"\\(?P<name>\w*)$")
_ARGUMENT = re.compile(r"\\(?P<name>\w+)\s+(?P<before>(?:[\w-]+\s+)*)(?P<word>[\w-]*)$")


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


def history_file() -> Path:
    """The file in the folder for the state of programs."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "adomnia" / "history"


class FileHistory(History):
    """A line of JSON for each text, oldest first; where the file cannot be used, texts are remembered until the end."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._kept = self._open()

    def load_history_strings(self) -> Iterable[str]:
        return reversed(self._kept)

    def store_string(self, string: str) -> None:
        if len(string) <= _LONGEST_ENTRY:
            with suppress(OSError), os.fdopen(self._descriptor(os.O_APPEND), "ab") as file:
                file.write(_line(string))

    def _open(self) -> list[str]:
        """The entries; a file that has grown to twice as many is cut to the last of them."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(self._descriptor(0), "rb") as file:
                os.fchmod(file.fileno(), 0o600)
                lines = file.read(_MOST_BYTES).splitlines()
            entries = [entry for entry in map(_entry, lines) if entry is not None]
            if len(lines) > 2 * MOST_ENTRIES:
                self._rewrite(entries[-MOST_ENTRIES:])
        except OSError:
            return []
        return entries[-MOST_ENTRIES:]

    def _rewrite(self, entries: list[str]) -> None:
        fresh = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.writelines(map(_line, entries))
        fresh.replace(self._path)

    def _descriptor(self, flags: int) -> int:
        return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | flags, 0o600)


def _line(entry: str) -> bytes:
    return json.dumps(entry).encode() + b"\n"


def _entry(line: bytes) -> str | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, str) else None


class CatalogCompleter(Completer):
    """Completes a statement from a catalog, without regard to case."""

    def __init__(self, catalog: Catalog) -> None:
        self._tables = _list_columns(catalog)
        columns = sorted({name for columns in self._tables.values() for name in columns})
        calls = sorted({*FUNCTIONS, *(each.name for each in AGGREGATES.values())})
        self._words = (*self._tables, *columns, *_KEYWORDS, *calls)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:  # noqa: ARG002 - of the interface
        before = document.text_before_cursor
        start, candidates = self._find(before)
        matching = [each for each in candidates if each.lower().startswith(start.lower())]
        return [Completion(each, -len(start)) for each in dict.fromkeys(matching[:_MOST])]

    def _find(self, before: str) -> tuple[str, Iterable[str]]:
        """What was begun, and all that it might become."""
        line = before.rpartition("\n")[2]
        if command := _COMMAND.fullmatch(line.lstrip()):
            return command["name"], COMMANDS
        if (argument := _ARGUMENT.fullmatch(line.lstrip())) and argument["name"] not in {"p", "e"}:
            return argument["word"], self._arguments(argument["name"], argument["before"].split())
        if value := _VALUE.search(before):
            return value["start"], self._values(value["column"])
        word = _WORD.search(before)
        assert word is not None  # noqa: S101 - an empty word is one
        if word["table"] is not None:
            return word["word"], self._columns(word["table"])
        return word["word"], self._words if word["word"] else ()

    def _arguments(self, command: str, before: list[str]) -> Iterable[str]:
        if command == "d":
            return () if before else self._tables
        if command == "set":
            return SETTINGS if not before else values_of(before[0]) if len(before) == 1 else ()
        return () if before else values_of(command)

    def _columns(self, table: str) -> Iterable[str]:
        """The columns of a table; a name that is none may stand for any."""
        known = {name.lower(): columns for name, columns in self._tables.items()}
        return known.get(table.lower()) or {name for columns in self._tables.values() for name in columns}

    def _values(self, column: str) -> Iterable[str]:
        for columns in self._tables.values():
            for name, value in columns.items():
                kind = value.kind
                if name.lower() == column.lower() and isinstance(kind, Text) and kind.values is not None:
                    return [each.replace("'", "''") + "'" for each in kind.values]
        return ()


def _list_columns(catalog: Catalog) -> dict[str, Mapping[str, Expression]]:
    tables: dict[str, Mapping[str, Expression]] = {
        table.name: {column.name: column for column in table.columns} for table in catalog.tables
    }
    return tables | {view.name: rows_of(view.sql, catalog).columns for view in catalog.views}
