"""Groups of rows: one row for each person or block of people, made of their own, or of public ones one for each key."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from adomnia.privacy.expressions import Column
from adomnia.privacy.hashing import hashed_once
from adomnia.privacy.kinds import Identity, Quantity
from adomnia.privacy.relations.tables import Relation, Selected, everything, spell_out
from adomnia.privacy.scans import (
    Average,
    DistinctValues,
    NonNull,
    Own,
    OwnChoice,
    OwnExtreme,
    OwnMedian,
    OwnSpread,
    Rows,
    Total,
)
from adomnia.privacy.units import MOST_ROWS

if TYPE_CHECKING:
    from adomnia.privacy.domains import Numbers
    from adomnia.privacy.expressions import Expression
    from adomnia.privacy.keys import Blocks


@dataclass(frozen=True)
class OwnValue:
    """An aggregate of a person's own rows, clamped to a domain; None: as it is, for conditions."""

    tag: ClassVar[str] = "OwnValue"
    name: str
    aggregate: Own
    domain: Numbers | None = None

    @cached_property
    def column(self) -> Column:  # noqa: PLR0911 - one for each aggregate
        match self.aggregate:
            case OwnExtreme(value=Column() as column) | OwnChoice(value=Column() as column):
                return Column(self.name, column.kind, column.domain)
            case OwnExtreme(value=value) | OwnChoice(value=value):
                return Column(self.name, value.kind)
            case OwnMedian(value=value):
                assert isinstance(value.kind, Quantity)  # noqa: S101 - of numbers alone
                return Column(self.name, Quantity(value.kind.lower, value.kind.upper))
            case OwnSpread(domain=domain, root=root):
                width = domain.upper - domain.lower
                return Column(self.name, Quantity(Fraction(0), width if root else width**2))
            case Rows() | NonNull() | DistinctValues() | Total() if self.domain is not None:
                whole = self.domain.step == 1
                return Column(self.name, Quantity(self.domain.lower, self.domain.upper, whole), self.domain)
            case Total(domain=domain):
                low, high = min(domain.lower, Fraction(0)), max(domain.upper, Fraction(0))
                return Column(self.name, Quantity(MOST_ROWS * low, MOST_ROWS * high, domain.step == 1))
            case Rows() | NonNull() | DistinctValues():
                return Column(self.name, Quantity(Fraction(0), Fraction(MOST_ROWS), whole=True))
        assert isinstance(self.aggregate, Average)  # noqa: S101 - all others are above
        return Column(self.name, Quantity(self.aggregate.domain.lower, self.aggregate.domain.upper))


@hashed_once
@dataclass(frozen=True)
class PerPerson(Relation):
    """One row for each person, or for each person and values of further keys: aggregates of that person's own rows.

    Rows per person: 1 by the person alone, and then all rows are read, whatever their number; with further keys those
    of the source. Different values have to be remembered, so that for counting them, and for a median, rows are capped
    too. Columns: the person, the keys, and the aggregates within their domains.
    """

    tag: ClassVar[str] = "PerPerson"
    source: Relation
    keys: tuple[Selected, ...]
    outputs: tuple[OwnValue, ...]

    def __post_init__(self) -> None:
        if self.source.has_blocks:
            raise ValueError("PerPerson source must be rows of people, got those of blocks.")

    @property
    def rows_per_person(self) -> int:
        return self.source.rows_per_person if self.keys else 1

    @cached_property
    def read(self) -> Relation:
        """The rows that are aggregated."""
        return self.source if self.keys else read_all(self.source, self.outputs)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        person = Column("person", Identity(person=True))
        return (person, *(key.column for key in self.keys), *(output.column for output in self.outputs))

    def repeats(self, _: Column) -> int | None:
        return self.rows_per_person


@hashed_once
@dataclass(frozen=True)
class PerBlock(Relation):
    """One row for each block of people that has rows: aggregates of that block's rows.

    Rows per person: 2, because a person who joins a block takes its row away and puts another in its place. So nothing
    over these rows only rises. All rows are read, whatever a person's number, but for what has to remember values, as
    PerPerson does. Columns: the aggregates within their domains. Whose a row is, nobody can ask.
    """

    tag: ClassVar[str] = "PerBlock"
    source: Relation
    blocks: Blocks
    outputs: tuple[OwnValue, ...]

    rows_per_person = 2
    has_blocks = True

    def __post_init__(self) -> None:
        if not self.source.rows_per_person or self.source.has_blocks:
            raise ValueError("PerBlock source must be rows of people, got others.")

    @cached_property
    def read(self) -> Relation:
        """The rows that are aggregated."""
        return read_all(self.source, self.outputs)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        return tuple(output.column for output in self.outputs)

    def repeats(self, _: Column) -> int | None:
        return self.rows_per_person


def read_all(source: Relation, outputs: tuple[OwnValue, ...]) -> Relation:
    """All rows of a source, or as many as its caps allow where values have to be remembered."""
    remembers = any(isinstance(output.aggregate, DistinctValues | OwnMedian) for output in outputs)
    return source if remembers else everything(source)


@dataclass(frozen=True)
class PublicValue:
    """An aggregate of public rows, computed in doubles as the engine adds them up; `value` is missing for COUNT(*).

    The last digits of a sum depend on the order in which it is made: where rows of people are compared with it, it has
    to be an OwnValue, which is exact.
    """

    tag: ClassVar[str] = "PublicValue"
    name: str
    function: str  # of PUBLIC_FUNCTIONS
    value: Expression | None = None

    def __post_init__(self) -> None:
        if self.function not in PUBLIC_FUNCTIONS:
            raise ValueError(f"PublicValue function must be one of {', '.join(PUBLIC_FUNCTIONS)}, got {self.function}.")

    @cached_property
    def column(self) -> Column:
        kind = None if self.value is None else self.value.kind
        if self.function in ("count", "count distinct"):
            return Column(self.name, Quantity(Fraction(0), Fraction(MOST_ROWS), whole=True))
        if isinstance(kind, Quantity) and self.function in ("avg", "median"):
            return Column(self.name, Quantity(kind.lower, kind.upper))
        if isinstance(kind, Quantity) and self.function not in ("min", "max"):
            return Column(self.name, Quantity(whole=self.function == "sum" and kind.whole))
        assert kind is not None  # noqa: S101 - COUNT(*) is told above
        return Column(self.name, spell_out(kind))


PUBLIC_FUNCTIONS = (
    "count",
    "count distinct",
    "sum",
    "avg",
    "min",
    "max",
    "median",
    "bool_or",
    "bool_and",
    "var_pop",
    "var_samp",
    "stddev_pop",
    "stddev_samp",
)


@hashed_once
@dataclass(frozen=True)
class PublicGroups(Relation):
    """One row for each combination of keys in public rows, or one in all: aggregates of them.

    Rows per person: none, because public rows are nobody's. A key that stands alone has no value twice. Columns: the
    keys, and the aggregates.
    """

    tag: ClassVar[str] = "PublicGroups"
    source: Relation
    keys: tuple[Selected, ...]
    outputs: tuple[OwnValue | PublicValue, ...]

    rows_per_person = 0

    def __post_init__(self) -> None:
        if self.source.rows_per_person:
            raise ValueError("PublicGroups source must be public, got rows of people.")

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        return (*(key.column for key in self.keys), *(output.column for output in self.outputs))

    def repeats(self, column: Column) -> int | None:
        return 1 if {key.name for key in self.keys} <= {column.name} else None
