"""How commands write to the terminal: tables that fit it, and JSON for programs."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

from adomnia.tables import printable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from rich.console import RenderableType

_UNBOUNDED = 10**6
# Of what JSON need not escape: what a terminal could obey, or show in another order than it is written.
_COMMANDS = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class PrintableTable(Table):
    """A table whose cells cannot command a terminal, wherever they come from: a server is another's."""

    def add_row(self, *cells: RenderableType | None, **options: Any) -> None:  # noqa: ANN401 - what Rich takes
        super().add_row(*(printable(cell) if isinstance(cell, str) else cell for cell in cells), **options)


def table(headings: Iterable[str], numeric: Iterable[int] = ()) -> Table:
    """An empty table; a cell that does not fit is folded, never cut."""
    made = PrintableTable(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False, pad_edge=False)
    right = set(numeric)
    for place, heading in enumerate(headings):
        made.add_column(printable(heading), justify="right" if place in right else "left", overflow="fold")
    return made


def show(*parts: str | Table) -> None:
    """Print at the width of the terminal; sentences in a file or pipe are not broken."""
    _print(_console(), parts)


def show_answer(*parts: str | Table) -> None:
    """The same for rows that matter one by one: in a file or pipe, a table is as wide as its cells."""
    console = _console()
    if not console.is_terminal:
        unbounded = Console(width=_UNBOUNDED)
        needed = (unbounded.measure(part).maximum for part in parts if isinstance(part, Table))
        console.width = max(console.width, *needed)
    _print(console, parts)


def show_json(record: object) -> None:
    """One JSON value."""
    text = json.dumps(record, indent=2, ensure_ascii=False, default=str)
    escaped = _COMMANDS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    print(escaped)  # noqa: T201 - standard output is the interface


def percent(share: float) -> str:
    """A confidence for the eye: 95%, 99.9%."""
    return f"{100 * share:.6g}%"


def _console() -> Console:
    return Console(highlight=False, markup=False, emoji=False)


def _print(console: Console, parts: Iterable[str | Table]) -> None:
    for part in parts:
        if isinstance(part, str):
            console.print(printable(part), soft_wrap=not console.is_terminal)
        else:
            console.print(part)
