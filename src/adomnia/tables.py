"""Tables of texts, for terminals and for notebooks. Nothing in them is taken for markup."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_SHOWN = 60  # rows
_CELL = "padding: 2px 10px; vertical-align: top; text-align: {}"


@dataclass(frozen=True)
class TextTable:
    """Headings, and rows of as many cells. Columns `right` stand there; if None, those of numbers alone.

    >>> print(TextTable(("city", "n"), (("Oslo", "7"), ("Bergen", "12"))))
    city     n
    ------  --
    Oslo     7
    Bergen  12
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int] | None = None

    def __str__(self) -> str:
        lines = [tuple(map(show_plainly, line)) for line in (self.headings, *self.rows[:MOST_SHOWN])]
        widths = [max(len(line[place]) for line in lines) for place in range(len(self.headings))]
        right = self.list_right()
        text = [_line(line, widths, right) for line in lines]
        text.insert(1, "  ".join("-" * width for width in widths))
        return "\n".join([*text, *self._remarks()])

    def html(self) -> str:
        """The table as HTML."""
        right = self.list_right()
        sides = ["right" if place in right else "left" for place in range(len(self.headings))]
        head = "".join(_cell("th", *pair) for pair in zip(self.headings, sides, strict=True))
        rows = ("".join(_cell("td", *pair) for pair in zip(row, sides, strict=True)) for row in self.rows[:MOST_SHOWN])
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{html_lines(self._remarks())}"

    def list_right(self) -> frozenset[int]:
        """The columns that stand on the right."""
        if self.right is not None:
            return self.right
        places = range(len(self.headings))
        return frozenset(place for place in places if all(_is_numeric(row[place]) for row in self.rows))

    def _remarks(self) -> list[str]:
        if not self.rows:
            return ["No rows."]
        more = len(self.rows) - MOST_SHOWN
        return [f"... and {more:,} more rows"] if more > 0 else []


def html_lines(lines: Iterable[str]) -> str:
    """Each line as a paragraph."""
    return "".join(f"<p>{escape(show_plainly(line))}</p>" for line in lines)


def show_below(bound: float) -> str:
    """A number, such as a p-value, of which only an upper bound is known.

    >>> show_below(1e-4)
    '< 0.0001'
    """
    return f"< {bound:g}"


def show_plainly(text: str) -> str:
    r"""A text whose invisible characters can be seen.

    >>> print(show_plainly("a" + chr(10) + "b"))
    a\nb
    """
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def _cell(tag: str, text: str, side: str) -> str:
    return f'<{tag} style="{_CELL.format(side)}">{escape(show_plainly(text))}</{tag}>'


def _line(cells: tuple[str, ...], widths: list[int], right: frozenset[int]) -> str:
    padded = (
        cell.rjust(w) if i in right else cell.ljust(w) for i, (cell, w) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join(padded).rstrip()


def _is_numeric(cell: str) -> bool:
    return cell[:1].isdigit() or cell[:1] == "-"


def printable(text: str) -> str:
    """The text with control characters escaped, which a terminal could obey; lines stay lines."""
    return "".join(each if each.isprintable() or each == "\n" else ascii(each)[1:-1] for each in text)
