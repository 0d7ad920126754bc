"""Relations: what each says of itself; tables, and what is made of each of their rows: filters, outputs, unions.

Columns of one table have no `source`. The sides of a join are Named, and their columns carry that name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from adomnia.privacy.expressions import Column, Expression
from adomnia.privacy.hashing import hashed_once
from adomnia.privacy.kinds import Day, Kind, Moment, Quantity, Text
from adomnia.privacy.units import MOST_PEOPLE, MOST_ROWS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Relation(ABC):
    """Rows that a question is about: a node over others, which are its fields."""

    tag: ClassVar[str]

    if TYPE_CHECKING:  # fields of some nodes, which have no such attribute to take the place of an abstract one

        @property
        def rows_per_person(self) -> int:
            """How many rows of one person there are at most; none of public rows."""

        @property
        def columns(self) -> tuple[Column, ...]:
            """What a row has."""

    @abstractmethod
    def repeats(self, column: Column) -> int | None:
        """How many rows, of one person or of a public relation, share a value of the column at most; None: unknown."""

    @cached_property
    def sources(self) -> tuple[Relation, ...]:
        """The relations that it is made of."""
        held = (getattr(self, name) for name in _list_fields(self))
        return tuple(each for value in held for each in (value if isinstance(value, tuple) else (value,)))

    @cached_property
    def has_blocks(self) -> bool:
        """Whether rows are those of blocks of people, or made of them: they are no one's, and a person changes two."""
        return any(source.has_blocks for source in self.sources)

    @cached_property
    def is_public(self) -> bool:
        """Whether every table in it is about nobody."""
        return bool(self.sources) and all(source.is_public for source in self.sources)

    def map_sources(self, change: Callable[[Relation], Relation]) -> Relation:
        """The same node over others."""
        changed: dict[str, Any] = {}
        for name in _list_fields(self):
            value = getattr(self, name)
            changed[name] = tuple(map(change, value)) if isinstance(value, tuple) else change(value)
        return replace(self, **changed) if changed else self  # type: ignore[type-var]  # all nodes are dataclasses


def _list_fields(relation: Relation) -> list[str]:
    """Those that hold a relation, or several."""
    held = ((field.name, getattr(relation, field.name)) for field in fields(relation))  # type: ignore[arg-type]  # as above
    return [
        name
        for name, value in held
        if isinstance(value, Relation) or (isinstance(value, tuple) and value and isinstance(value[0], Relation))
    ]


@hashed_once
@dataclass(frozen=True)
class Private(Relation):
    """A private table, as the catalog declares it; `keys` are columns of which no value occurs in two rows.

    Rows per person: the declared cap, which the contribution index enforces; MOST_ROWS is no cap.
    """

    tag: ClassVar[str] = "Table"
    name: str
    rows_per_person: int
    columns: tuple[Column, ...]
    keys: tuple[str, ...] = ()

    def repeats(self, column: Column) -> int | None:
        return 1 if column.name in self.keys else self.rows_per_person


@hashed_once
@dataclass(frozen=True)
class Public(Relation):
    """A table about nobody. `often` says of each column in how many rows its most frequent value stands."""

    tag: ClassVar[str] = "Public"
    name: str
    columns: tuple[Column, ...]
    often: tuple[int, ...]

    rows_per_person = 0
    is_public = True

    def repeats(self, column: Column) -> int | None:
        return dict(zip((each.name for each in self.columns), self.often, strict=True))[column.name]


@hashed_once
@dataclass(frozen=True)
class Where(Relation):
    """The rows of a relation for which a condition is true.

    Rows per person: those of the source, because a filter looks at one row at a time. Columns: unchanged.
    """

    tag: ClassVar[str] = "Where"
    source: Relation
    condition: Expression

    @property
    def rows_per_person(self) -> int:
        return self.source.rows_per_person

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.source.columns

    def repeats(self, column: Column) -> int | None:
        return self.source.repeats(column)


@dataclass(frozen=True)
class Selected:
    """An expression under a name. A column is passed on as it is stored if `stored`, else like any other value."""

    tag: ClassVar[str] = "Selected"
    name: str
    value: Expression
    stored: bool = True

    @cached_property
    def column(self) -> Column:
        """What the rows above see of it."""
        if isinstance(self.value, Column) and self.stored:
            return Column(self.name, self.value.kind, self.value.domain)
        return Column(self.name, spell_out(self.value.kind))


@hashed_once
@dataclass(frozen=True)
class Select(Relation):
    """Expressions over each row of a relation. Rows per person: those of the source."""

    tag: ClassVar[str] = "Select"
    source: Relation
    outputs: tuple[Selected, ...]

    @property
    def rows_per_person(self) -> int:
        return self.source.rows_per_person

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        return tuple(output.column for output in self.outputs)

    def repeats(self, column: Column) -> int | None:
        (value,) = (output.value for output in self.outputs if output.name == column.name)
        return self.source.repeats(value) if isinstance(value, Column) else self.rows_per_person or None


@hashed_once
@dataclass(frozen=True)
class Named(Relation):
    """One side of a join: the same rows, and columns that carry a name."""

    tag: ClassVar[str] = "Named"
    source: Relation
    name: str

    def __post_init__(self) -> None:
        if any(column.source for column in self.source.columns):
            raise ValueError(f"Named source must be one relation, got the sides of a join as {self.name}.")

    @property
    def rows_per_person(self) -> int:
        return self.source.rows_per_person

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        return tuple(replace(column, source=self.name) for column in self.source.columns)

    def repeats(self, column: Column) -> int | None:
        return self.source.repeats(replace(column, source="", optional=False))


@hashed_once
@dataclass(frozen=True)
class Union(Relation):
    """The rows of several relations, one after the other. Rows per person: the sum."""

    tag: ClassVar[str] = "Union"
    parts: tuple[Select, ...]

    def __post_init__(self) -> None:
        if len({tuple(column.name for column in part.columns) for part in self.parts}) != 1:
            raise ValueError("Union parts must have columns of the same names, got different ones.")
        if len({part.rows_per_person > 0 for part in self.parts}) != 1:
            raise ValueError("Union parts must be all private or all public, got both.")
        _ = self.columns  # kinds that do not fit are found here, not later

    @property
    def rows_per_person(self) -> int:
        return sum(part.rows_per_person for part in self.parts)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        return tuple(_merged(columns) for columns in zip(*(part.columns for part in self.parts), strict=True))

    def repeats(self, column: Column) -> int | None:
        found = [part.repeats(column) for part in self.parts]
        return None if None in found else sum(filter(None, found))


def everything(relation: Relation) -> Relation:
    """The relation without caps, for what counts a person once in all; below a join they stay."""
    match relation:
        case Private():
            return replace(relation, rows_per_person=MOST_ROWS)
        case Where() | Named() | Select() | Union():
            return relation.map_sources(everything)
    return relation


def recap(relation: Relation, caps: Mapping[str, int]) -> Relation:
    """The relation with other caps for the tables that are named; what reads all rows of a person still does."""
    match relation:
        case Private(name=name, rows_per_person=rows):
            return relation if rows == MOST_ROWS else replace(relation, rows_per_person=caps.get(name, rows))
    return relation.map_sources(lambda source: recap(source, caps))


def most_rows(relation: Relation) -> int:
    """A bound on the rows of a relation, from public facts: those of its people, or what its tables can hold."""
    rows = relation.rows_per_person
    if rows >= MOST_ROWS:
        match relation:
            case Private():
                return MOST_ROWS
            case Where() | Select() | Named() | Union():
                return sum(map(most_rows, relation.sources))
    return max(MOST_ROWS, MOST_PEOPLE * rows)


def spell_out(kind: Kind) -> Kind:
    """Values that are computed are text, not codes of a category."""
    return Text() if isinstance(kind, Text) else kind


def _merged(columns: tuple[Column, ...]) -> Column:
    first = columns[0]
    if len(set(columns)) == 1:
        return first
    kinds = [column.kind for column in columns]
    if len({type(kind) for kind in kinds}) != 1 or any(column.domain for column in columns):
        raise ValueError(f"Union column {first.name} must be of one kind, got {', '.join(map(str, kinds))}.")
    match first.kind:
        case Quantity():
            return Column(first.name, _hull([kind for kind in kinds if isinstance(kind, Quantity)]))
        case Day():
            return Column(first.name, Day())
        case Moment(zone=zone) if {kind.zone for kind in kinds if isinstance(kind, Moment)} == {zone}:
            return Column(first.name, Moment(zone=zone))
    raise ValueError(f"Union column {first.name} must be stored alike, got {', '.join(map(str, kinds))}.")


def _hull(kinds: list[Quantity]) -> Quantity:
    lowers, uppers = [kind.lower for kind in kinds], [kind.upper for kind in kinds]
    lower = None if None in lowers else min(bound for bound in lowers if bound is not None)
    upper = None if None in uppers else max(bound for bound in uppers if bound is not None)
    return Quantity(lower, upper, all(kind.whole for kind in kinds))
