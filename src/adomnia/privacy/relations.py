"""Relations: which rows a question is about. Each node derives how many rows of one person can reach its output.

Columns of one table have no `source`. The sides of a join are Named, and their columns carry that name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from adomnia.privacy.aggregates import DistinctValues, NonNull, Own, OwnExtreme, Rows, Total
from adomnia.privacy.expressions import Call, Column, Expression
from adomnia.privacy.hashing import hashed_once
from adomnia.privacy.kinds import Day, Identity, Kind, Quantity, Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adomnia.privacy.domains import Numbers

MOST_ROWS = 2**48  # of one table, hence of one person: what the static bounds on sums are computed from
MOST_PEOPLE = 2**32


@hashed_once
@dataclass(frozen=True)
class Private:
    """A private table, as the catalog declares it; `keys` are columns of which no value occurs in two rows.

    Rows per person: the declared cap, which the contribution index enforces; MOST_ROWS is no cap.
    """

    tag: ClassVar[str] = "Table"
    name: str
    rows_per_person: int
    columns: tuple[Column, ...]
    keys: tuple[str, ...] = ()

    def repeats(self, column: Column) -> int | None:
        """How many rows, of one person or of a public relation, share a value of the column at most; None: unknown."""
        return 1 if column.name in self.keys else self.rows_per_person


@hashed_once
@dataclass(frozen=True)
class Public:
    """A table about nobody. `often` says of each column in how many rows its most frequent value stands."""

    tag: ClassVar[str] = "Public"
    name: str
    columns: tuple[Column, ...]
    often: tuple[int, ...]

    rows_per_person = 0

    def repeats(self, column: Column) -> int | None:
        return dict(zip((each.name for each in self.columns), self.often, strict=True))[column.name]


@hashed_once
@dataclass(frozen=True)
class Where:
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
        return Column(self.name, _spelled(self.value.kind))


@hashed_once
@dataclass(frozen=True)
class Select:
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
class Named:
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
class Join:
    """Pairs of rows for which all conditions hold; `outer` keeps rows of the left side that find none (LEFT JOIN).

    Two private sides are always paired person by person, whatever the conditions say. A public side needs an equality
    with one of its columns. Rows per person: each row of the left side meets at most `matches` of the right one, and
    each of the right one at most `matched` of the left; with `outer` those of the left that meet none are kept too.
    """

    tag: ClassVar[str] = "Join"
    left: Join | Named
    right: Named
    on: tuple[Expression, ...]
    outer: bool = False

    def __post_init__(self) -> None:
        if self._matches is None:
            raise ValueError(f"Join with {self.right.name} must equate a column of each side, got none.")
        if self.right.rows_per_person and not self.left.rows_per_person:
            raise ValueError(f"Join must begin with a private side, got a public one before {self.right.name}.")

    @cached_property
    def equal(self) -> tuple[tuple[Column, Column], ...]:
        """The columns of the left and the right side that must be equal."""
        pairs = (call.arguments for call in self.on if isinstance(call, Call) and call.function == "=")
        columns = ((one, other) for one, other in pairs if isinstance(one, Column) and isinstance(other, Column))
        turned = (pair if pair[1].source == self.right.name else pair[::-1] for pair in columns)
        return tuple(
            (left, right) for left, right in turned if right.source == self.right.name and left.source != right.source
        )

    @property
    def matches(self) -> int:
        """How many rows of the right side one row of the left meets at most."""
        assert self._matches is not None  # noqa: S101 - as constructed
        return self._matches

    @cached_property
    def _matches(self) -> int | None:
        return _least([self.right.repeats(right) for _, right in self.equal] + [self.right.rows_per_person or None])

    @cached_property
    def matched(self) -> int | None:
        """How many rows of the left side, of one person if it is private, one row of the right meets at most."""
        return _least([self.left.repeats(left) for left, _ in self.equal] + [self.left.rows_per_person or None])

    @cached_property
    def rows_per_person(self) -> int:
        rows = self.left.rows_per_person
        pairs, met = rows * self.matches, _times(self.right.rows_per_person or None, self.matched)
        return pairs if met is None else min(pairs, met + self.outer * rows)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        right = (replace(column, optional=True) for column in self.right.columns) if self.outer else self.right.columns
        return (*self.left.columns, *right)

    def repeats(self, column: Column) -> int | None:
        """A row that meets one other at most is not repeated."""
        of_right = column.source == self.right.name
        side, meets = (self.right, self.matched) if of_right else (self.left, max(1, self.matches))
        return _least([_times(side.repeats(column), meets), self.rows_per_person or None])


@hashed_once
@dataclass(frozen=True)
class Union:
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


@dataclass(frozen=True)
class OwnValue:
    """An aggregate of a person's own rows, clamped to a domain; None: as it is, for conditions."""

    tag: ClassVar[str] = "OwnValue"
    name: str
    aggregate: Own
    domain: Numbers | None = None

    @cached_property
    def column(self) -> Column:
        match self.aggregate:
            case OwnExtreme(value=Column() as column):
                return Column(self.name, column.kind, column.domain)
            case OwnExtreme(value=value):
                return Column(self.name, value.kind)
            case Rows() | NonNull() | DistinctValues() | Total() if self.domain is not None:
                whole = self.domain.step == 1
                return Column(self.name, Quantity(self.domain.lower, self.domain.upper, whole), self.domain)
            case Total(domain=domain):
                low, high = min(domain.lower, Fraction(0)), max(domain.upper, Fraction(0))
                return Column(self.name, Quantity(MOST_ROWS * low, MOST_ROWS * high, domain.step == 1))
            case Rows() | NonNull() | DistinctValues():
                return Column(self.name, Quantity(Fraction(0), Fraction(MOST_ROWS), whole=True))
        return Column(self.name, Quantity(self.aggregate.domain.lower, self.aggregate.domain.upper))


@hashed_once
@dataclass(frozen=True)
class PerPerson:
    """One row for each person, or for each person and values of further keys: aggregates of that person's own rows.

    Rows per person: 1 by the person alone, and then all rows are read, whatever their number; with further keys those
    of the source. Different values have to be remembered, so that for counting them rows are capped too. Columns: the
    person, the keys, and the aggregates within their domains.
    """

    tag: ClassVar[str] = "PerPerson"
    source: Relation
    keys: tuple[Selected, ...]
    outputs: tuple[OwnValue, ...]

    @property
    def rows_per_person(self) -> int:
        return self.source.rows_per_person if self.keys else 1

    @cached_property
    def read(self) -> Relation:
        """The rows that are aggregated."""
        remembers = any(isinstance(output.aggregate, DistinctValues) for output in self.outputs)
        return self.source if self.keys or remembers else everything(self.source)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        person = Column("person", Identity(person=True))
        return (person, *(key.column for key in self.keys), *(output.column for output in self.outputs))

    def repeats(self, _: Column) -> int | None:
        return self.rows_per_person


Relation: TypeAlias = Private | Public | Where | Select | Named | Join | Union | PerPerson


def everything(relation: Relation) -> Relation:
    """The relation without caps, for what counts a person once in all; below a join they stay."""
    match relation:
        case Private():
            return replace(relation, rows_per_person=MOST_ROWS)
        case Where() | Named():
            return replace(relation, source=everything(relation.source))
        case Select():
            return _everything(relation)
        case Union():
            return Union(tuple(_everything(part) for part in relation.parts))
    return relation


def recap(relation: Relation, caps: Mapping[str, int]) -> Relation:
    """The relation with other caps for the tables that are named; what reads all rows of a person still does."""
    match relation:
        case Private(name=name, rows_per_person=rows):
            return relation if rows == MOST_ROWS else replace(relation, rows_per_person=caps.get(name, rows))
        case Public():
            return relation
        case Join():
            left, right = recap(relation.left, caps), recap(relation.right, caps)
            return replace(relation, left=left, right=right)  # type: ignore[arg-type]  # nodes stay what they are
        case Union(parts=parts):
            return Union(tuple(recap(part, caps) for part in parts))  # type: ignore[misc]  # as above
    return replace(relation, source=recap(relation.source, caps))


def is_public(relation: Relation) -> bool:
    """Whether every table in it is about nobody."""
    match relation:
        case Private():
            return False
        case Public():
            return True
        case Join(left=left, right=right):
            return is_public(left) and is_public(right)
        case Union(parts=parts):
            return all(map(is_public, parts))
    return is_public(relation.source)


def most_rows(relation: Relation) -> int:
    """A bound on the rows of a relation, from public facts."""
    return max(MOST_ROWS, MOST_PEOPLE * relation.rows_per_person)


def _everything(select: Select) -> Select:
    return replace(select, source=everything(select.source))


def _least(bounds: list[int | None]) -> int | None:
    return min((bound for bound in bounds if bound is not None), default=None)


def _times(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one * other


def _spelled(kind: Kind) -> Kind:
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
    raise ValueError(f"Union column {first.name} must be stored alike, got {', '.join(map(str, kinds))}.")


def _hull(kinds: list[Quantity]) -> Quantity:
    lowers, uppers = [kind.lower for kind in kinds], [kind.upper for kind in kinds]
    lower = None if None in lowers else min(bound for bound in lowers if bound is not None)
    upper = None if None in uppers else max(bound for bound in uppers if bound is not None)
    return Quantity(lower, upper, all(kind.whole for kind in kinds))
