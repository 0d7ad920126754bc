"""Pictures as methods describe them: {"kind": "points", "x": ..., "y": ...} by the names of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.figures.columns import DrawnColumn, place
from adomnia.figures.layout import Layout, join_columns, part_groups

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.figures.columns import Drawable

_TERM = "term"
_INTERCEPTS = {"(Intercept)", "Intercept", "intercept"}


def follow_description(drawable: Drawable) -> Layout | None:
    """The picture that a method describes; None where it describes none, or not all of its columns were chosen."""
    describe = _KINDS.get(str(drawable.figure.get("kind")))
    layout = None if describe is None else describe(drawable)
    return None if layout is None else _repeat_for_groups(drawable, layout)


def is_intercept(term: object) -> bool:
    """Whether a term is the constant of a model, which has another scale than the others."""
    return term in _INTERCEPTS


def _find(drawable: Drawable, *parts: str) -> list[DrawnColumn]:
    """The columns of these parts of the description; none, if one is missing."""
    found = [drawable.column(drawable.figure.get(part)) for part in parts]
    return [column for column in found if column is not None] if None not in found else []


def _draw_points(drawable: Drawable) -> Layout | None:
    match _find(drawable, "x", "y"):
        case [axis, value]:
            return Layout("points", axis, (value,), coefficients=axis.name == _TERM)
    return None


def _draw_bars(drawable: Drawable) -> Layout | None:
    match _find(drawable, "x_from", "x_to", "y") or _find(drawable, "x", "y"):
        case [start, end, value]:
            return Layout("bins", start, (value,), across=end)
        case [axis, value]:
            return Layout("bars", axis, (value,))
    return None


def _draw_steps(drawable: Drawable) -> Layout | None:
    match _find(drawable, "x", "y"):
        case [axis, value] if axis.kind != "text":
            return Layout("steps", axis, (value,))
    return None


def _draw_line(drawable: Drawable) -> Layout | None:
    match _find(drawable, "x_from", "x_to", "y") or _find(drawable, "x", "y"):
        case [start, end, value]:
            return Layout("line", _take_middles(start, end), (value,))
        case [axis, value] if axis.kind != "text":
            return Layout("line", axis, (value,))
    return None


def _draw_heat(drawable: Drawable) -> Layout | None:
    match _find(drawable, "x", "y", "value"):
        case [axis, across, value]:
            return Layout("heat", axis, (value,), across=across)
    return None


def _take_middles(start: DrawnColumn, end: DrawnColumn) -> DrawnColumn:
    """Where bins are, if each is one point of a line; those without an end are nowhere."""
    ends = [(place(low), place(high)) for low, high in zip(start.values, end.values, strict=True)]
    middles = tuple(None if low is None or high is None else (low + high) / 2 for low, high in ends)
    return DrawnColumn(f"{start.name} to {end.name}", middles, "number")


def _repeat_for_groups(drawable: Drawable, layout: Layout) -> Layout:
    """One picture for each of the groups that the labels make which it does not name."""
    named = {column for part, column in drawable.figure.items() if part != "labels"}
    others = [column for column in drawable.by_role("label") if column.name not in named]
    return part_groups(layout, join_columns(others)) if others else layout


_KINDS: dict[str, Callable[[Drawable], Layout | None]] = {
    "points": _draw_points,
    "bars": _draw_bars,
    "steps": _draw_steps,
    "line": _draw_line,
    "heat": _draw_heat,
}
