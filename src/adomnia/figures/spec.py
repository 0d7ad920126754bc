"""A picture as a specification in Vega-Lite: plain data, with all numbers in it and nothing to load.

Above it stand what it shows and what its intervals mean. For who cannot see it, there are the same numbers in words
and as a table.
"""

from __future__ import annotations

from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from adomnia.figures.choice import choose_layout
from adomnia.figures.marks import are_written, list_layers
from adomnia.figures.rows import draw_rows
from adomnia.figures.style import LIGHT, SCHEMA
from adomnia.tables import show_plainly

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adomnia.figures.columns import Drawable
    from adomnia.figures.rows import DrawnRows
    from adomnia.figures.style import Style
    from adomnia.tables import TextTable

_HIGH = 260
_WIDE_PANEL, _HIGH_PANEL = 190, 130
_ROW, _LOW_ROW, _BAR = 24, 17, 13  # pixels for a label, for one of many, and for each of the colours beside it
_FEW = 15
_NARROWEST, _LEAST_PLACES = 16, 7  # pixels of one of many places; few of them do not fill the picture
_PANELS_A_ROW = 3
_SHORT, _LONGEST, _WIDER = 12, 40, 1.5  # letters of a label, and pixels by which each may be wider
_WIDTH = 84
_LONGEST_TITLE = 90
_INTERVALS = {
    "data": "intervals of the noise",
    "population": "intervals about the population",
    "credible": "credible intervals",
}
_VACUOUS = "says_nothing"  # the code of a note
MOST_ROWS = 40
_LONGEST_TEXT = 60  # characters of a cell


def build_spec(drawable: Drawable, style: Style = LIGHT) -> dict[str, Any]:
    """The specification of the picture of an answer."""
    rows = draw_rows(choose_layout(drawable))
    title = write_title(drawable, rows)
    caption = write_caption(drawable, rows)
    panels = [_panel(rows, index, style) for index in range(len(rows.layout.values))]
    return {
        "$schema": SCHEMA,
        "config": style.config,
        "title": {"text": title, **({"subtitle": caption} if caption else {})},
        "description": describe(title, caption, drawable.table),
        **_room(rows),
        "data": {"values": rows.records},
        **(panels[0] if len(panels) == 1 else {"vconcat": panels}),
    }


def _panel(rows: DrawnRows, index: int, style: Style) -> dict[str, Any]:
    """One value; a panel for each group, where there are too many for colours."""
    unit = {**_size(rows, style.wide), "layer": list_layers(rows, index, style)}
    panel = rows.layout.panel
    if panel is None:
        return unit
    facet = {"field": "panel", "type": "nominal", "sort": list(panel.levels), "title": panel.title}
    return {"facet": facet, "columns": _PANELS_A_ROW, "spec": unit}


def _room(rows: DrawnRows) -> dict[str, Any]:
    """More room for long labels at the left: a reader's letters may be wider than those that were measured here."""
    longest = max((len(str(level)) for level in rows.layout.axis.levels), default=0)
    if not rows.layout.horizontal or longest <= _SHORT:
        return {}
    return {"padding": {"top": 12, "right": 12, "bottom": 12, "left": 12 + min(longest, _LONGEST) * _WIDER}}


def _size(rows: DrawnRows, widest: int) -> dict[str, Any]:
    layout = rows.layout
    beside = len(layout.colour.levels) if layout.colour is not None else 1
    step = max(_ROW if len(layout.axis.levels) <= _FEW else _LOW_ROW, _BAR * beside)
    wide, high = (widest, _HIGH) if layout.panel is None else (min(_WIDE_PANEL, widest), _HIGH_PANEL)
    if layout.horizontal:
        return {"width": wide, "height": {"step": step, "for": "position"}}
    if layout.shape == "heat":
        written = are_written(rows)
        return {"width": {"step": 84 if written else 28}, "height": {"step": 34 if written else 28}}
    if layout.discrete:
        step = max(_NARROWEST, wide // max(_LEAST_PLACES, len(layout.axis.levels)))
        return {"width": {"step": step, "for": "position"}, "height": high}
    return {"width": wide, "height": high}


def write_title(drawable: Drawable, rows: DrawnRows) -> str:
    """The title that the method gives, or the values and the keys."""
    given = drawable.figure.get("title")
    layout = rows.layout
    across = layout.across if layout.shape == "heat" else None
    keys = [column.title for column in (layout.axis, across, layout.colour, layout.panel) if column is not None]
    named = _list([value.title for value in layout.values])
    by = _list([name for name in keys if name])
    title = show_plainly(str(given)) if given else f"{named} by {by}" if by else named
    return title if len(title) <= _LONGEST_TITLE else f"{title[: _LONGEST_TITLE - 3]}..."


def write_caption(drawable: Drawable, rows: DrawnRows) -> list[str]:
    """Lines below the title: the confidence, what is not drawn, and values that say almost nothing."""
    return [line for sentence in _sentences(drawable, rows) for line in wrap(show_plainly(sentence), _WIDTH)]


def _sentences(drawable: Drawable, rows: DrawnRows) -> Iterator[str]:
    layout = rows.layout
    drawn = _name_intervals(rows)
    about = {_INTERVALS[value.about]: None for value in layout.values if value.has_intervals and value.about}
    if drawn and about:
        yield f"{drawn}: {100 * drawable.confidence:g}% {_list(list(about))}."
    if not layout.axis.values:
        yield "No rows."
    yield from rows.remarks
    yield from (note for note in drawable.notes if note.code == _VACUOUS)


def _name_intervals(rows: DrawnRows) -> str:
    """How intervals are drawn, if they are."""
    if rows.layout.shape == "heat":
        return "Small numbers" if are_written(rows) else ""
    return "Bands" if rows.layout.shape in {"line", "steps"} else "Lines"


def _list(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


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
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}..."


def _escape(text: str) -> str:
    return escape(show_plainly(text), quote=False)
