"""As much of an answer as can be told apart in one picture; the rest is in the table, and a sentence says so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from adomnia.figures.columns import show_label
from adomnia.figures.described import is_intercept

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.figures.columns import DrawnColumn
    from adomnia.figures.layout import PictureLayout

MOST_GROUPS = 50
MOST_PANELS = 12
MOST_SIDE = 24  # of a heat map
MOST_MARKS, MOST_POINTS = 600, 1500  # those of a line are shorter
MOST_VALUES, MOST_VALUES_IN_PANELS = 4, 2
_MOST_PLACES = 24  # of all values together; few groups leave room for more values


def cut(layout: PictureLayout) -> tuple[PictureLayout, tuple[str, ...]]:
    """What can be told apart, and what is left out for that."""
    remarks = []
    kept = [row for row, term in enumerate(layout.axis.values) if not is_intercept(term)]
    if layout.shape == "points" and 0 < len(kept) < len(layout.axis.values):
        remarks.append("The intercept has a scale of its own, and is not drawn.")
        layout = _keep(layout, kept)
    most = max(MOST_VALUES, _MOST_PLACES // max(1, len(layout.axis.levels)))
    if layout.panel is not None:
        most = MOST_VALUES_IN_PANELS
    if len(layout.values) > most:
        remarks.append(f"The first {most} of {len(layout.values)} values are drawn.")
        layout = replace(layout, values=layout.values[:most])
    for name, most in _list_limits(layout):
        column = getattr(layout, name)
        if column is not None and len(column.levels) > most:
            remarks.append(f"The first {most} of {len(column.levels):,} groups are drawn.")
            shown = set(column.levels[:most])
            layout = _keep(layout, [row for row, each in enumerate(column.values) if show_label(each) in shown])
    most = (MOST_MARKS if layout.discrete else MOST_POINTS) // len(layout.values)
    if len(layout.axis.values) > most:
        remarks.append(f"The first {most:,} of {len(layout.axis.values):,} rows are drawn.")
        layout = _keep(layout, range(most))
    return layout, tuple(remarks)


def _list_limits(layout: PictureLayout) -> list[tuple[str, int]]:
    if layout.shape == "heat":
        return [("panel", 1), ("axis", MOST_SIDE), ("across", MOST_SIDE)]
    return [("panel", MOST_PANELS), ("axis", MOST_GROUPS)] if layout.discrete else [("panel", MOST_PANELS)]


def _keep(layout: PictureLayout, rows: Sequence[int]) -> PictureLayout:
    """Only these rows."""
    return replace(
        layout,
        axis=_only(layout.axis, rows),
        values=tuple(_only(value, rows) for value in layout.values),
        colour=layout.colour and _only(layout.colour, rows),
        panel=layout.panel and _only(layout.panel, rows),
        across=layout.across and _only(layout.across, rows),
    )


def _only(column: DrawnColumn, rows: Sequence[int]) -> DrawnColumn:
    lists = (column.values, column.lower, column.upper, column.silent)
    values, lower, upper, silent = (tuple(each[row] for row in rows) if each else () for each in lists)
    return replace(column, values=values, lower=lower, upper=upper, silent=silent)
