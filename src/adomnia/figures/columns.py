"""What can be drawn of an answer, as plain data: labels, values with their intervals, and which of them is where."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from adomnia.tables import show_plainly

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adomnia.messages.texts import Note
    from adomnia.tables import TextTable

Kind: TypeAlias = Literal["text", "number", "time"]
Role: TypeAlias = Literal["label", "value", "fact"]
About: TypeAlias = Literal["data", "population", "credible"] | None  # what intervals hold; None where there are none

MISSING = "NULL"
LARGEST = 1e300  # what is beyond it is drawn there: the arithmetic of axes needs room
# What every object of JavaScript has: Vega groups rows in objects, and takes these labels for groups that are there.
_INHERITED = {"constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString"}
_INHERITED |= {
    "valueOf",
    "__proto__",
    *(f"__{verb}{end}__" for verb in ("define", "lookup") for end in ("Getter", "Setter")),
}
_LONGEST = 100  # characters; axes cut them to what there is room for
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Shape: TypeAlias = Literal["groups", "bars", "points", "line", "steps", "bins", "heat"]

MOST_COLOURS = 6
MOST_BANDS = 3  # that can be told apart where they overlap
_BETWEEN = " · "


@dataclass(frozen=True)
class DrawnColumn:
    """A column of an answer. Labels are public, values are measured, facts are what only the table shows.

    Ends of intervals are None where there is no end; `lower` and `upper` are empty where there are no intervals.
    `silent` are the rows whose interval is all that is possible: they have neither a value nor ends.
    """

    name: str
    values: tuple[Any, ...]
    kind: Kind
    role: Role = "label"
    lower: tuple[Any, ...] = ()
    upper: tuple[Any, ...] = ()
    whole: bool = False
    silent: tuple[bool, ...] = ()
    about: About = "data"

    @property
    def title(self) -> str:
        """Its name, as an axis shows it."""
        return _shorten(show_plainly(self.name))

    @property
    def has_intervals(self) -> bool:
        """Whether anything is known of how exact the values are."""
        return bool(self.lower)

    @property
    def levels(self) -> tuple[str, ...]:
        """Its different values as texts, in the order of the rows."""
        return tuple(dict.fromkeys(map(show_label, self.values)))


@dataclass(frozen=True)
class Drawable:
    """An answer for who draws it; `figure` is how a method describes its picture, `table` all of it in words."""

    columns: tuple[DrawnColumn, ...]
    confidence: float
    table: TextTable
    figure: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return len(self.columns[0].values)

    def column(self, name: object) -> DrawnColumn | None:
        """The column of that name, if it is there."""
        return next((column for column in self.columns if column.name == name), None)

    def by_role(self, role: Role) -> tuple[DrawnColumn, ...]:
        """The columns of that role, in their order."""
        return tuple(column for column in self.columns if column.role == role)


def show_label(value: object) -> str:
    """A public value as the text of an axis."""
    if value is None:
        return MISSING
    text = str(value).lower() if isinstance(value, bool) else _shorten(show_plainly(str(value)))
    return f"{text} " if text in _INHERITED else text


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def find_kind(values: Sequence[object]) -> Kind:
    """How values can be put on an axis, those that are missing aside."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds and kinds <= {int, float}:
        return "number"
    return "time" if kinds and kinds <= {date, datetime} else "text"


def with_place_for_missing(column: DrawnColumn) -> DrawnColumn:
    """The column as labels, if a value is missing: only among texts it has a place."""
    return replace(column, kind="text") if None in column.values else column


def place(value: object) -> float | None:
    """Where a number or a time is on its axis; times are milliseconds in UTC, whose days are nobody's local ones."""
    if isinstance(value, datetime):
        return (value.replace(tzinfo=UTC) - _EPOCH).total_seconds() * 1000
    if isinstance(value, date):
        return float((value - _EPOCH.date()).days * 86_400_000)
    if not isinstance(value, int | float) or (isinstance(value, float) and not isfinite(value)):
        return None
    return float(max(-LARGEST, min(LARGEST, value)))


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
