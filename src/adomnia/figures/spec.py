"""A picture as a specification in Vega-Lite: plain data, with all numbers in it and nothing to load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adomnia.figures.accessible import describe
from adomnia.figures.captions import write_caption, write_title
from adomnia.figures.choice import choose_layout
from adomnia.figures.marks import are_written, list_layers
from adomnia.figures.rows import draw_rows
from adomnia.figures.style import LIGHT, SCHEMA

if TYPE_CHECKING:
    from adomnia.figures.columns import Drawable
    from adomnia.figures.rows import DrawnRows
    from adomnia.figures.style import Style

_HIGH = 260
_WIDE_PANEL, _HIGH_PANEL = 190, 130
_ROW, _LOW_ROW, _BAR = 24, 17, 13  # pixels for a label, for one of many, and for each of the colours beside it
_FEW = 15
_NARROWEST, _LEAST_PLACES = 16, 7  # pixels of one of many places; few of them do not fill the picture
_PANELS_A_ROW = 3
_SHORT, _LONGEST, _WIDER = 12, 40, 1.5  # letters of a label, and pixels by which each may be wider


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
