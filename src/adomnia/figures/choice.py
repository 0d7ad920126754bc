"""Which picture an answer gets: as its method says, or by the kinds of its columns."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from adomnia.figures.columns import DrawnColumn, show_label
from adomnia.figures.described import follow_description
from adomnia.figures.grouped import arrange_groups

if TYPE_CHECKING:
    from adomnia.figures.columns import Drawable
    from adomnia.figures.layout import PictureLayout


def choose_layout(drawable: Drawable) -> PictureLayout:
    """The layout of an answer; a Refusal where nothing in it can be drawn."""
    return _with_distinct_places(follow_description(drawable) or arrange_groups(drawable))


def _with_distinct_places(layout: PictureLayout) -> PictureLayout:
    """Rows that would stand in one place are numbered: not all keys of a question need to be among its columns."""
    columns = [layout.axis, layout.across, layout.colour, layout.panel]
    shown = [map(show_label, column.values) for column in columns if column is not None]
    places = list(zip(*shown, strict=True))
    if len(set(places)) == len(places):
        return layout
    seen: Counter[object] = Counter()
    labels = []
    for where in places:
        seen[where] += 1
        labels.append(f"{where[0]} ({seen[where]})")
    shape = layout.shape if layout.shape in {"bars", "heat"} else "points"
    across = layout.across if shape == "heat" else None
    return replace(layout, axis=DrawnColumn(layout.axis.name, tuple(labels), "text"), shape=shape, across=across)
