"""What Tab offers: tables, columns, functions, keywords, and the values that the catalog declares."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prompt_toolkit.completion import Completer, Completion

from adomnia.cli.shell.commands import COMMANDS
from adomnia.cli.shell.settings import NAMES as SETTINGS
from adomnia.cli.shell.settings import values_of
from adomnia.privacy.kinds import Text
from adomnia.sql.rows.blocks import rows_of
from adomnia.sql.values.aggregates import AGGREGATES
from adomnia.sql.values.functions import NAMES as FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    from adomnia.catalog.model import Catalog
    from adomnia.privacy.expressions import Expression

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
