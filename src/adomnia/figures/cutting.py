"""As much of an answer as can be told apart in one picture; the rest is in the table, and a sentence says so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from adomnia.figures.columns import show_label
from adomnia.figures.described import is_intercept

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.figures.columns import DrawnColumn
    from adomnia.figures.layout import Layout

MOST_GROUPS = 40
MOST_PANELS = 12
MOST_POINTS = 1500
MOST_VALUES = 4


def cut(layout: Layout) -> tuple[Layout, tuple[str, ...]]:
    """What can be told apart, and what is left out for that."""
    remarks = []
    kept = [row for row, term in enumerate(layout.axis.values) if not is_intercept(term)]
    if layout.coefficients and 0 < len(kept) < len(layout.axis.values):
        remarks.append("The intercept has a scale of its own, and is not drawn.")
        layout = _keep(layout, kept)
    if len(layout.values) > MOST_VALUES:
        remarks.append(f"The first {MOST_VALUES} of {len(layout.values)} values are drawn.")
        layout = replace(layout, values=layout.values[:MOST_VALUES])
    for name, most in _list_limits(layout):
        column = getattr(layout, name)
        if column is not None and len(column.levels) > most:
            remarks.append(f"The first {most} of {len(column.levels):,} groups are drawn.")
            shown = set(column.levels[:most])
            layout = _keep(layout, [row for row, each in enumerate(column.values) if show_label(each) in shown])
    if len(layout.axis.values) > MOST_POINTS:
        remarks.append(f"The first {MOST_POINTS:,} of {len(layout.axis.values):,} rows are drawn.")
        layout = _keep(layout, range(MOST_POINTS))
    return layout, tuple(remarks)


def _list_limits(layout: Layout) -> list[tuple[str, int]]:
    limits = [("panel", MOST_PANELS)]
    if layout.discrete:
        limits.append(("axis", MOST_GROUPS))
    return [*limits, ("across", MOST_GROUPS)] if layout.shape == "heat" else limits


def _keep(layout: Layout, rows: Sequence[int]) -> Layout:
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
    lists = (column.values, column.lower, column.upper)
    values, lower, upper = (tuple(each[row] for row in rows) if each else () for each in lists)
    return replace(column, values=values, lower=lower, upper=upper)
