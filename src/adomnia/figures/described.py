"""Pictures as methods describe them: {"kind": "points", "x": ..., "y": ...} by the names of columns.

Points whose labels have different units, such as columns of a table, have `"scales": "own"`: an axis for each. Bins
and densities may say with `"x_title"` what they are about.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from adomnia.figures.columns import (
    DrawnColumn,
    PictureLayout,
    join_columns,
    part_groups,
    place,
    show_label,
    with_place_for_missing,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adomnia.figures.columns import Drawable

_TERM, _COLUMN = "term", "column"
_INTERCEPTS = {"(Intercept)", "Intercept", "intercept"}


def follow_description(drawable: Drawable) -> PictureLayout | None:
    """The picture that a method describes; None where it describes none, or not all of its columns were chosen."""
    describe = _KINDS.get(str(drawable.figure.get("kind")))
    layout = None if describe is None else describe(drawable)
    if layout is None:
        return None
    groups = _find_groups(drawable, layout)
    own = "own" if layout.axis.name == _COLUMN else "shared"
    if layout.shape == "points" and drawable.figure.get("scales", own) == "own":
        return _give_scales(layout, groups)
    return layout if groups is None else part_groups(layout, groups)


def is_intercept(term: object) -> bool:
    """Whether a term is the constant of a model, which has another scale than the others."""
    return term in _INTERCEPTS


def _find(drawable: Drawable, *parts: str) -> list[DrawnColumn]:
    """The columns of these parts of the description; none, if one is missing."""
    found = [drawable.column(drawable.figure.get(part)) for part in parts]
    return [column for column in found if column is not None] if None not in found else []


def _draw_points(drawable: Drawable) -> PictureLayout | None:
    match _find(drawable, "x", "y"):
        case [axis, value]:
            include = (0.0,) if axis.name == _TERM or any(map(is_intercept, axis.values)) else ()
            return PictureLayout("points", with_place_for_missing(axis), (value,), include=include)
    return None


def _draw_bars(drawable: Drawable) -> PictureLayout | None:
    match _find(drawable, "x_from", "x_to", "y") or _find(drawable, "x", "y"):
        case [start, end, value]:
            return PictureLayout("bins", replace(start, name=_name_bins(drawable, start, end)), (value,), across=end)
        case [axis, value]:
            return PictureLayout("bars", with_place_for_missing(axis), (value,))
    return None


def _draw_steps(drawable: Drawable) -> PictureLayout | None:
    match _find(drawable, "x", "y"):
        case [axis, value] if axis.kind != "text":
            return PictureLayout("steps", axis, (value,), include=(0.0, 1.0))
    return None


def _draw_line(drawable: Drawable) -> PictureLayout | None:
    match _find(drawable, "x_from", "x_to", "y") or _find(drawable, "x", "y"):
        case [start, end, value]:
            middles = DrawnColumn(_name_bins(drawable, start, end), _take_middles(start, end), "number")
            return PictureLayout("line", middles, (value,), include=(0.0,))
        case [axis, value] if axis.kind != "text":
            name = str(drawable.figure.get("x_title", axis.name))
            return PictureLayout("line", replace(axis, name=name), (value,), include=(0.0,))
    return None


def _draw_heat(drawable: Drawable) -> PictureLayout | None:
    match _find(drawable, "x", "y", "value"):
        case [axis, across, value]:
            return PictureLayout("heat", axis, (value,), across=across)
    return None


def _name_bins(drawable: Drawable, start: DrawnColumn, end: DrawnColumn) -> str:
    return str(drawable.figure.get("x_title", f"{start.name} to {end.name}"))


def _take_middles(start: DrawnColumn, end: DrawnColumn) -> tuple[float | None, ...]:
    """Where bins are, if each is one point of a line; those without an end are nowhere."""
    ends = [(place(low), place(high)) for low, high in zip(start.values, end.values, strict=True)]
    return tuple(None if low is None or high is None else (low + high) / 2 for low, high in ends)


def _find_groups(drawable: Drawable, layout: PictureLayout) -> DrawnColumn | None:
    """The labels that the description does not name, as one key; without those that say the same again."""
    named = {column for part, column in drawable.figure.items() if part != "labels"}
    others = [column for column in drawable.by_role("label") if column.name not in named]
    places = layout.axis.values
    telling = [each for each in others if len(set(zip(places, each.values, strict=True))) > len(set(places))]
    return join_columns(telling) if telling else None


def _give_scales(layout: PictureLayout, groups: DrawnColumn | None) -> PictureLayout:
    """Points on an axis for each label: each is a value of its own, with a place for every group."""
    [value], axis = layout.values, layout.axis
    keys = groups.values if groups is not None else ("",) * len(axis.values)
    places = tuple(dict.fromkeys(keys))
    rows = {where: row for row, where in enumerate(zip(map(show_label, axis.values), keys, strict=True))}
    parts = tuple(
        _pick(value, f"{value.name} of {level}", [rows.get((level, key)) for key in places]) for level in axis.levels
    )
    name = "" if groups is None else groups.name
    return replace(layout, axis=DrawnColumn(name, places, "text"), values=parts)


def _pick(value: DrawnColumn, name: str, rows: Sequence[int | None]) -> DrawnColumn:
    """Some rows of a value under a name; None, where there is no such row."""
    lists = (value.values, value.lower, value.upper)
    picked = (tuple(None if row is None else each[row] for row in rows) if each else () for each in lists)
    values, lower, upper = picked
    silent = tuple(row is not None and value.silent[row] for row in rows) if value.silent else ()
    return replace(value, name=name, values=values, lower=lower, upper=upper, silent=silent)


_KINDS: dict[str, Callable[[Drawable], PictureLayout | None]] = {
    "points": _draw_points,
    "bars": _draw_bars,
    "steps": _draw_steps,
    "line": _draw_line,
    "heat": _draw_heat,
}
