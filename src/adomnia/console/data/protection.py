"""Who is protected, in a sentence and drawn: one person, and all the rows that are theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.console.data.wording import count_rows, cut_text, measure_text

if TYPE_CHECKING:
    from adomnia.catalog.model import Catalog, Table

_MOST_HEAPS, _MOST_BARS = 5, 12
_LINE, _TOP = 24, 16
_NAMES, _BAR, _GAP = 104, 13, 16  # where names begin; from bar to bar; between names, bars and words
_LONGEST_NAME = 30
_NAME_WIDTH, _WORD_WIDTH = 7.4, 6.6  # of a character


@dataclass(frozen=True)
class Heap:
    """The rows of one person in one table: so many bars, and a sign where there may be more of them."""

    name: str
    says: str
    y: int
    bars: tuple[int, ...]
    words: int  # where they begin

    @property
    def end(self) -> int:
        """Where they end."""
        return self.words + measure_text(self.says, _WORD_WIDTH)


@dataclass(frozen=True)
class Protection:
    """The unit of a catalog, and the rows that are drawn of it."""

    unit: str
    person: bool
    heaps: tuple[Heap, ...]
    hidden: int  # tables that are not drawn

    @property
    def width(self) -> int:
        """Of the drawing."""
        return max(heap.end for heap in self.heaps) + _GAP

    @property
    def height(self) -> int:
        """Of the drawing."""
        return _TOP * 2 + _LINE * max(2, len(self.heaps) + (self.hidden > 0))

    @property
    def middle(self) -> int:
        """Where the person stands."""
        return self.height // 2


def describe_protection(catalog: Catalog) -> Protection:
    """Who is protected, and the tables that hold their rows: the nearest to them first."""
    private = [table for table in catalog.tables if not table.public]
    private.sort(key=lambda table: (table.name != catalog.unit.table, table.link is not None))
    names = [cut_text(table.name, _LONGEST_NAME) for table in private[:_MOST_HEAPS]]
    first = _NAMES + _GAP + max((measure_text(name, _NAME_WIDTH) for name in names), default=0)
    heaps = tuple(
        _draw_heap(table, place, name, first) for place, (table, name) in enumerate(zip(private, names, strict=False))
    )
    return Protection(str(catalog.unit), bool(catalog.unit.table), heaps, len(private) - len(heaps))


def describe_row(table: Table, catalog: Catalog) -> str:
    """What one row of a table is: the end of a sentence."""
    if table.public:
        return "is about nobody"
    if not catalog.unit.table:
        return "is protected by itself"
    if table.name == catalog.unit.table and table.rows_per_person == 1:
        return "is one person"
    parent = "" if table.link is None or table.link.parent == catalog.unit.table else f", through {table.link.parent}"
    return f"belongs to one person{parent}"


def _draw_heap(table: Table, place: int, name: str, first: int) -> Heap:
    shown = min(table.rows_per_person, _MOST_BARS)
    bars = tuple(first + _BAR * bar for bar in range(shown))
    more = "… " if table.rows_per_person > shown else ""
    y = _TOP + _LINE * place + _LINE // 2
    return Heap(name, more + count_rows(table.rows_per_person), y, bars, bars[-1] + _BAR + _GAP // 2)
