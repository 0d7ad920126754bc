"""Which picture an answer gets: as its method says, or by the kinds of its columns, never by its numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from adomnia.errors import Refusal
from adomnia.figures.columns import (
    DrawnColumn,
    PictureLayout,
    join_columns,
    part_groups,
    show_label,
    with_place_for_missing,
)
from adomnia.figures.described import follow_description

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.figures.columns import Drawable, Shape

MOST_NUMBERS = 40  # numbers that stand side by side like names; more of them are a line


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


def arrange_groups(drawable: Drawable) -> PictureLayout:
    """Keys and values of an answer: a value for each group, or a single one."""
    keys, values = _tell_apart(drawable)
    if not values:
        fix = "ask for a count, a mean or another number"
        raise Refusal("The answer", "has no numbers to draw", fix, code="nothing_to_draw")
    if not keys:
        return PictureLayout("groups", _number_rows(drawable.rows), values)
    keys = [with_place_for_missing(key) for key in keys]
    axis = _choose_axis(keys)
    others = [key for key in keys if key is not axis]
    if len(others) > 1:
        axis, others = join_columns([axis, *others[:-1]]), others[-1:]
    layout = PictureLayout(_choose_shape(axis, others), axis, values)
    return part_groups(layout, others[0]) if others else layout


def _tell_apart(drawable: Drawable) -> tuple[list[DrawnColumn], tuple[DrawnColumn, ...]]:
    """Keys and values. Where nothing was measured, numbers are the values, but for the first if there is no other."""
    labels, values, facts = (drawable.by_role(role) for role in ("label", "value", "fact"))
    if values or facts:
        return list(labels), values or tuple(fact for fact in facts if fact.kind == "number")
    numbers = [column for column in labels if column.kind == "number"]
    if len(numbers) > 1 and len(numbers) == len(labels):
        del numbers[0]
    names = {column.name for column in numbers}
    return [column for column in labels if column.name not in names], tuple(numbers)


def _number_rows(rows: int) -> DrawnColumn:
    """A place for each row; a single one needs no name."""
    if rows == 1:
        return DrawnColumn("", ("",), "text")
    return DrawnColumn("row", tuple(str(row + 1) for row in range(rows)), "text")


def _choose_axis(keys: Sequence[DrawnColumn]) -> DrawnColumn:
    """Times and numbers have an order that an axis shows; of names, the longest list."""
    for kind in ("time", "number"):
        for key in keys:
            if key.kind == kind:
                return key
    return max(keys, key=lambda key: len(key.levels))


def _choose_shape(axis: DrawnColumn, others: Sequence[DrawnColumn]) -> Shape:
    if axis.kind == "text":
        return "groups"
    many = len(axis.levels) > MOST_NUMBERS
    return "line" if many or (axis.kind == "time" and others) else "groups"
