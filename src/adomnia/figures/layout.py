"""The layout of a picture: its shape, and which column of an answer is where."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from adomnia.figures.columns import DrawnColumn, show_label

if TYPE_CHECKING:
    from collections.abc import Sequence

Shape: TypeAlias = Literal["groups", "bars", "points", "line", "steps", "bins", "heat"]

MOST_COLOURS = 6
MOST_BANDS = 3  # that can be told apart where they overlap
_BETWEEN = " · "


@dataclass(frozen=True)
class PictureLayout:
    """Which column is where. `across` is the other side of a heat map, or where bins end.

    Several values are drawn one below the other, each on a scale of its own; of `groups`, each in its own shape.
    """

    shape: Shape
    axis: DrawnColumn
    values: tuple[DrawnColumn, ...]
    colour: DrawnColumn | None = None
    panel: DrawnColumn | None = None
    across: DrawnColumn | None = None
    include: tuple[float, ...] = ()  # what every axis of values shows

    @property
    def discrete(self) -> bool:
        """Whether the axis has one place for each label."""
        if self.shape in {"steps", "line", "bins"}:
            return False
        return self.axis.kind != "time" or self.shape in {"bars", "heat"}

    @property
    def horizontal(self) -> bool:
        """Whether labels stand at the left, where long ones can be read, and values go to the right."""
        return self.discrete and self.axis.kind == "text" and self.shape != "heat"

    def shape_of(self, value: DrawnColumn) -> Shape:
        """How a value is drawn: of groups, numbers that add up from zero as bars, others as points."""
        if self.shape != "groups":
            return self.shape
        return "bars" if value.whole and self.discrete and self.axis.name else "points"


def part_groups(layout: PictureLayout, groups: DrawnColumn) -> PictureLayout:
    """The picture with a colour for each group; with a panel for each, where colours would not do."""
    most = {"line": MOST_BANDS, "steps": MOST_BANDS, "bins": 0, "heat": 0}.get(layout.shape, MOST_COLOURS)
    return replace(layout, panel=groups) if len(groups.levels) > most else replace(layout, colour=groups)


def join_columns(columns: Sequence[DrawnColumn]) -> DrawnColumn:
    """Several keys as one, whose labels name all of them."""
    if len(columns) == 1:
        return columns[0]
    rows = zip(*(column.values for column in columns), strict=True)
    labels = tuple(_BETWEEN.join(map(show_label, row)) for row in rows)
    return DrawnColumn(_BETWEEN.join(column.name for column in columns), labels, "text")
