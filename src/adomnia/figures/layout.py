"""Which picture an answer gets: chosen by the kinds of its columns and by what its method says, not by its numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from adomnia.errors import Refusal
from adomnia.figures.columns import DrawnColumn, show_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.figures.columns import Drawable

Shape: TypeAlias = Literal["groups", "bars", "points", "line", "steps", "bins", "heat"]

MOST_COLOURS = 6
MOST_NUMBERS = 40  # numbers that stand side by side like names; more of them are a line
_DESCRIBED: dict[str, Shape] = {"points": "points", "bars": "bars", "steps": "steps", "line": "line", "heat": "heat"}
_TERMS = ("term", "(Intercept)", "Intercept")
_BETWEEN = " · "


@dataclass(frozen=True)
class Layout:
    """Which column is where. `across` is the other side of a heat map, or where bins end.

    Several values are drawn one below the other, each on a scale of its own; of `groups`, each in its own shape.
    """

    shape: Shape
    axis: DrawnColumn
    values: tuple[DrawnColumn, ...]
    colour: DrawnColumn | None = None
    panel: DrawnColumn | None = None
    across: DrawnColumn | None = None
    coefficients: bool = False

    @property
    def discrete(self) -> bool:
        """Whether the axis has one place for each label."""
        if self.shape in {"steps", "line", "bins"}:
            return False
        return self.axis.kind != "time" or self.shape in {"bars", "heat"}

    def shape_of(self, value: DrawnColumn) -> Shape:
        """How a value is drawn: of groups, numbers that add up from zero as bars, others as points."""
        if self.shape != "groups":
            return self.shape
        return "bars" if value.whole and self.discrete and self.axis.name else "points"

    @property
    def horizontal(self) -> bool:
        """Whether labels stand at the left, where long ones can be read, and values go to the right."""
        return self.discrete and self.axis.kind == "text" and self.shape != "heat"


def choose_layout(drawable: Drawable) -> Layout:
    """The layout of an answer; a Refusal where nothing in it can be drawn."""
    layout = _follow_description(drawable) or _arrange_groups(drawable)
    return layout if layout.across is not None else _with_distinct_places(layout)


def _follow_description(drawable: Drawable) -> Layout | None:
    """What the method says, unless columns that it names were not chosen."""
    figure = drawable.figure
    shape = _DESCRIBED.get(str(figure.get("kind")))
    start, end = drawable.column(figure.get("x_from")), drawable.column(figure.get("x_to"))
    axis, value = drawable.column(figure.get("x")), drawable.column(figure.get("y"))
    if shape == "heat":
        across, value = value, drawable.column(figure.get("value"))
        return None if None in {axis, across, value} else _with_groups(drawable, "heat", axis, value, across)
    if shape == "bars" and start is not None and end is not None and value is not None:
        return _with_groups(drawable, "bins", start, value, end)
    if shape is None or axis is None or value is None:
        return None
    if shape in {"steps", "line"} and axis.kind == "text":
        return None
    return _with_groups(drawable, shape, axis, value)


def _with_groups(
    drawable: Drawable,
    shape: Shape,
    axis: DrawnColumn | None,
    value: DrawnColumn | None,
    across: DrawnColumn | None = None,
) -> Layout:
    """One picture, repeated for the groups that the other labels make."""
    assert axis is not None and value is not None  # noqa: PT018, S101 - the callers looked
    others = [column for column in drawable.by_role("label") if column not in {axis, value, across}]
    groups = _join(others) if others else None
    layout = Layout(shape, axis, (value,), across=across, coefficients=axis.name == _TERMS[0])
    if groups is None:
        return layout
    apart = shape in {"bins", "heat"} or len(groups.levels) > MOST_COLOURS
    return replace(layout, panel=groups) if apart else replace(layout, colour=groups)


def _arrange_groups(drawable: Drawable) -> Layout:
    """Keys and values of any answer: a value for each group, or a single one."""
    keys, values = _tell_apart(drawable)
    if not values:
        fix = "ask for a count, a mean or another number"
        raise Refusal("The answer", "has no numbers to draw", fix, code="nothing_to_draw")
    if not keys:
        return _without_keys(drawable, values)
    axis = _choose_axis(keys)
    others = [key for key in keys if key is not axis]
    if len(others) > 1:
        axis, others = _join([axis, *others[:-1]]), others[-1:]
    shape = _choose_shape(axis, others)
    if not others:
        return Layout(shape, axis, values)
    apart = len(others[0].levels) > MOST_COLOURS
    return Layout(shape, axis, values, panel=others[0]) if apart else Layout(shape, axis, values, others[0])


def _tell_apart(drawable: Drawable) -> tuple[list[DrawnColumn], tuple[DrawnColumn, ...]]:
    """Keys and values. Of public rows alone, numbers are the values, but for the first if there is nothing else."""
    labels, values = list(drawable.by_role("label")), drawable.by_role("value")
    if values:
        return labels, values
    numbers = [column for column in labels if column.kind == "number"]
    if len(numbers) > 1 and numbers == labels:
        del numbers[0]
    return [column for column in labels if column not in numbers], tuple(numbers)


def _without_keys(drawable: Drawable, values: tuple[DrawnColumn, ...]) -> Layout:
    if drawable.rows == 1:
        return Layout("groups", DrawnColumn("", ("",), "text"), values)
    numbers = tuple(str(row + 1) for row in range(drawable.rows))
    return Layout("groups", DrawnColumn("row", numbers, "text"), values)


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


def _join(columns: Sequence[DrawnColumn]) -> DrawnColumn:
    """Several keys as one, whose labels name all of them."""
    if len(columns) == 1:
        return columns[0]
    rows = zip(*(column.values for column in columns), strict=True)
    labels = tuple(_BETWEEN.join(map(show_label, row)) for row in rows)
    return DrawnColumn(_BETWEEN.join(column.name for column in columns), labels, "text")


def _with_distinct_places(layout: Layout) -> Layout:
    """Rows that would stand in one place get a number each: not all keys of a question need to be shown."""
    beside = [column.values for column in (layout.colour, layout.panel) if column is not None]
    places = list(zip(layout.axis.values, *beside, strict=True))
    if len(set(places)) == len(places):
        return layout
    seen: dict[object, int] = {}
    labels = []
    for where in places:
        seen[where] = seen.get(where, 0) + 1
        labels.append(f"{show_label(where[0])} ({seen[where]})")
    shape: Shape = "points" if layout.shape in {"line", "steps"} else layout.shape
    return replace(layout, axis=DrawnColumn(layout.axis.name, tuple(labels), "text"), shape=shape)


def is_intercept(label: object) -> bool:
    """Whether a term is the constant of a model, which has another scale than the others."""
    return label in _TERMS[1:]
