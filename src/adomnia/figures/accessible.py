"""Pictures for who cannot see them: the same numbers in words, and as a table."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from adomnia.tables import show_plainly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.tables import TextTable

MOST_ROWS = 40
_LONGEST = 60  # characters of a cell


def describe(title: str, caption: Sequence[str], table: TextTable) -> str:
    """The picture in words: what it shows, then its rows.

    >>> from adomnia.tables import TextTable
    >>> describe("n by city", ["Lines: 95% intervals."], TextTable(("city", "n"), (("Oslo", "7"),)))
    'n by city. Lines: 95% intervals. city Oslo, n 7.'
    """
    rows = [_say(table.headings, row) for row in table.rows[:MOST_ROWS]]
    more = len(table.rows) - MOST_ROWS
    rest = [f"And {more:,} more rows."] if more > 0 else []
    return " ".join([f"{title}.", *caption, *rows, *rest])


def write_page(svg: str, title: str, table: TextTable) -> str:
    """A page of HTML that holds a picture and its table, and loads nothing."""
    shown = escape(show_plainly(title))
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{shown}</title>'
        "<style>body { font-family: sans-serif; margin: 2em } svg { max-width: 100%; height: auto }</style></head>"
        f"<body>{svg}<details><summary>The numbers as a table</summary>{table.html()}</details></body></html>\n"
    )


def label_svg(svg: str, title: str, description: str) -> str:
    """A picture that says in words what it shows: the first things in it are a title and a description."""
    opening, rest = svg.split(">", 1)
    words = f"<title>{_escape(title)}</title><desc>{_escape(description)}</desc>"
    return f'{opening} role="img">{words}{rest}'


def _say(headings: Sequence[str], row: Sequence[str]) -> str:
    return ", ".join(f"{_cut(name)} {_cut(cell) or 'NULL'}" for name, cell in zip(headings, row, strict=True)) + "."


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _escape(text: str) -> str:
    return escape(show_plainly(text), quote=False)
