"""The drawing of how tables meet: boxes in columns by their distance from the people, and curves between them.

Tables about people stand in the upper band, inside the line around all that is one person's; public ones stand below.
A curve between neighbouring columns stays in the gap between them, so that it crosses no box.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from adomnia.console.data.wording import count_columns, count_rows, cut_text, measure_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from adomnia.catalog.model import Catalog, Table
    from adomnia.console.data.links import TableLink


_MARGIN, _PADDING, _GAP, _GUTTER = 8, 20, 20, 72  # around all, inside the ring, between boxes, between columns
_CAPTION = 20
_HEAD, _LINE, _FOOT = 44, 20, 12
_INSET, _BASELINE = 14, 20  # of text in a box; from its first column to the first baseline
_NARROWEST, _CAPTION_WIDTH = 150, 330
_TITLE, _COLUMN, _FACT = 8.6, 7.4, 6.6  # widths of a character, on the safe side
_LONGEST = 30  # characters that are drawn of a name
_MOST_COLUMNS, _FEW_TABLES = 8, 12  # of more tables, only the columns that lead somewhere are drawn


@dataclass(frozen=True)
class DiagramBox:
    """A table: where it stands, and what is written in it."""

    name: str
    title: str
    says: str
    public: bool
    protected: bool
    linked: bool
    columns: tuple[str, ...]
    lines: tuple[str, ...]
    x: int
    y: int
    width: int

    @property
    def height(self) -> int:
        """As high as its lines."""
        return _HEAD + _LINE * len(self.lines) + _FOOT

    @property
    def rows(self) -> tuple[tuple[str, int], ...]:
        """Each line with its baseline."""
        return tuple((line, self.y + _HEAD + _BASELINE + _LINE * place) for place, line in enumerate(self.lines))

    def height_of(self, column: str) -> int:
        """Where the curve of a column begins: at its line, which is always drawn."""
        return self.y + _HEAD + _BASELINE - 4 + _LINE * self.columns.index(column)


@dataclass(frozen=True)
class DiagramCurve:
    """A link, from a column of one box to a column of another."""

    link: TableLink
    start: tuple[int, int]
    end: tuple[int, int]
    bend: tuple[int, int]  # how far to the right it leaves, and arrives

    @property
    def path(self) -> str:
        """As SVG writes it."""
        (x1, y1), (x2, y2), (out, back) = self.start, self.end, self.bend
        return f"M{x1} {y1}C{x1 + out} {y1} {x2 + back} {y2} {x2} {y2}"


@dataclass(frozen=True)
class DiagramRing:
    """The line around all tables about people, and where its caption stands."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True)
class Diagram:
    """Everything that is drawn, and how large it is. `public_y` is the baseline of the caption of public tables."""

    width: int
    height: int
    boxes: tuple[DiagramBox, ...]
    curves: tuple[DiagramCurve, ...]
    ring: DiagramRing | None
    public_y: int | None


def draw_diagram(catalog: Catalog, links: Sequence[TableLink]) -> Diagram:
    """The drawing of a catalog: the same for the same catalog."""
    leading = {(link.table, link.column) for link in links} | {(link.target, link.target_column) for link in links}
    drawn = {table.name: _write_box(table, catalog, leading) for table in catalog.tables}
    ranks = arrange_ranks(catalog, links)
    places = _place_columns(ranks, drawn)
    upper = _stack([[name for name in rank if not drawn[name].public] for rank in ranks], drawn, places, _ring_top())
    ring = _surround(upper)
    top = _MARGIN if ring is None else ring.y + ring.height + _GAP
    lower = _stack([[n for n in rank if drawn[n].public] for rank in ranks], drawn, places, top + _CAPTION + _GAP // 2)
    boxes = {box.name: box for box in (*upper, *lower)}
    return Diagram(
        width=max([_CAPTION_WIDTH, *(box.x + box.width for box in boxes.values())]) + _PADDING + _MARGIN,
        height=max([box.y + box.height for box in lower] + ([] if ring is None else [ring.y + ring.height])) + _MARGIN,
        boxes=tuple(boxes[table.name] for table in catalog.tables),
        curves=tuple(_draw_curve(link, boxes[link.table], boxes[link.target]) for link in links),
        ring=ring,
        public_y=top + _CAPTION - 6 if lower else None,
    )


def _write_box(table: Table, catalog: Catalog, leading: set[tuple[str, str]]) -> DiagramBox:
    """A box that stands nowhere yet: its texts, and how wide they make it."""
    columns = _choose_columns(table, leading, len(catalog.tables))
    rest = len(table.columns) - len(columns)
    lines = [*(cut_text(name, _LONGEST) for name in columns), *_count_rest(rest, bool(columns))]
    title, says = cut_text(table.name, _LONGEST), _describe(table, catalog)
    widths = [measure_text(title, _TITLE), measure_text(says, _FACT), *(measure_text(line, _COLUMN) for line in lines)]
    width = max(_NARROWEST, max(widths) + 2 * _INSET)
    protected = table.name == catalog.unit.table
    linked = any((table.name, name) in leading for name in columns)
    return DiagramBox(table.name, title, says, table.public, protected, linked, columns, tuple(lines), 0, 0, width)


def _count_rest(rest: int, beside_others: bool) -> list[str]:
    return [f"and {rest:,} more" if beside_others else count_columns(rest)] if rest else []


def _choose_columns(table: Table, leading: set[tuple[str, str]], tables: int) -> tuple[str, ...]:
    """Columns that lead somewhere, and the first others while there is room, in the order of the table."""
    names = [column.name for column in table.columns]
    chosen = {name for name in names if (table.name, name) in leading}
    room = max(0, _MOST_COLUMNS - len(chosen)) if tables <= _FEW_TABLES else 0
    chosen.update([name for name in names if name not in chosen][:room])
    return tuple(name for name in names if name in chosen)


def _describe(table: Table, catalog: Catalog) -> str:
    if table.public:
        return "public"
    if not catalog.unit.table:
        return "each row is protected"
    return f"{count_rows(table.rows_per_person)} a person" + (", protected" if table.name == catalog.unit.table else "")


def _ring_top() -> int:
    return _MARGIN + _CAPTION + _PADDING


def _place_columns(ranks: Iterable[Sequence[str]], drawn: dict[str, DiagramBox]) -> list[tuple[int, int]]:
    """Where each column begins, and how wide it is: as wide as its widest box."""
    places, x = [], _MARGIN + _PADDING
    for rank in ranks:
        width = max((drawn[name].width for name in rank), default=0)
        places.append((x, width))
        x += width + _GUTTER
    return places


def _stack(
    ranks: Sequence[Sequence[str]], drawn: dict[str, DiagramBox], places: Sequence[tuple[int, int]], top: int
) -> list[DiagramBox]:
    """The boxes of a band, those of each column below each other."""
    boxes = []
    for rank, (x, width) in zip(ranks, places, strict=True):
        y = top
        for name in rank:
            boxes.append(replace(drawn[name], x=x, y=y, width=width))
            y += boxes[-1].height + _GAP
    return boxes


def _surround(boxes: Sequence[DiagramBox]) -> DiagramRing | None:
    if not boxes:
        return None
    left, top = min(box.x for box in boxes) - _PADDING, min(box.y for box in boxes) - _PADDING
    right, bottom = max(box.x + box.width for box in boxes), max(box.y + box.height for box in boxes)
    return DiagramRing(left, top, right + _PADDING - left, bottom + _PADDING - top)


def _draw_curve(link: TableLink, start: DiagramBox, end: DiagramBox) -> DiagramCurve:
    """From side to side through the gap between columns; within one column, around on the right."""
    y1, y2, half = start.height_of(link.column), end.height_of(link.target_column), _GUTTER // 2
    if start.x == end.x:
        return DiagramCurve(link, (start.x + start.width, y1), (end.x + end.width, y2), (half, half))
    if start.x < end.x:
        return DiagramCurve(link, (start.x + start.width, y1), (end.x, y2), (half, -half))
    return DiagramCurve(link, (start.x, y1), (end.x + end.width, y2), (-half, half))


_ACROSS = 4  # tables without any link stand side by side


def arrange_ranks(catalog: Catalog, links: Sequence[TableLink]) -> list[list[str]]:
    """The names of all tables, column by column, each below what it is linked with where that is possible."""
    distances = _measure_distances(catalog, links)
    ranks: list[list[str]] = [[] for _ in range(max(distances.values()) + 1)]
    for name, distance in distances.items():
        ranks[distance].append(name)
    neighbours = _list_neighbours(links)
    for before, rank in pairwise(ranks):
        order = {name: place for place, name in enumerate(before)}
        rank.sort(key=lambda name: min((order.get(each, len(order)) for each in neighbours.get(name, ())), default=0))
    return ranks


def _measure_distances(catalog: Catalog, links: Sequence[TableLink]) -> dict[str, int]:
    """The links between a table and its person; for a public one, one more than the nearest table that it explains."""
    parents = {link.table: link.target for link in links if not link.lookup}
    linked = {name for link in links for name in (link.table, link.target)}
    alone = [table for table in catalog.tables if table.name not in linked and table.name != catalog.unit.table]
    distances = {table.name: _count_steps(table.name, parents) for table in catalog.tables if not table.public}
    for link in links:
        if link.lookup:
            distances[link.target] = min(distances.get(link.target, len(parents) + 1), distances[link.table] + 1)
    for band in ([table for table in alone if table.public is public] for public in (False, True)):
        distances |= {table.name: place % _ACROSS for place, table in enumerate(band)}
    return {table.name: distances[table.name] for table in catalog.tables}


def _count_steps(name: str, parents: dict[str, str]) -> int:
    steps = 0
    while name in parents:
        name, steps = parents[name], steps + 1
    return steps


def _list_neighbours(links: Sequence[TableLink]) -> dict[str, list[str]]:
    neighbours: dict[str, list[str]] = {}
    for link in links:
        neighbours.setdefault(link.table, []).append(link.target)
        neighbours.setdefault(link.target, []).append(link.table)
    return neighbours
