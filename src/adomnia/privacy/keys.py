"""Keys of groups: what rows are grouped by, and the values it may take. They are declared, hence public."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from math import prod
from typing import ClassVar, TypeAlias, TypeGuard

from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Approximate, Concentrated
from adomnia.privacy.expressions import Column, Expression
from adomnia.privacy.kinds import LATER, Boolean, Text
from adomnia.privacy.units import MOST_ROWS
from adomnia.privacy.wall_time import read_seconds

Label: TypeAlias = str | bool | int | float | date | datetime

MOST_CELLS = 10**6  # groups that one question may have
BLOCK_HASHES = 2**24  # so many hashes decide who is in which block
MOST_BLOCKS = 2**17
_MONTHS, _QUARTERS, _WEEK = 12, 4, 7

# What a whole number stands for, by how a key is shown: days are counted from the first of year 1, which is a Monday,
# hours, minutes and seconds from the first of 1970.
_SHOWN: dict[str, Callable[[int], date]] = {
    "day": lambda days: date.fromordinal(days + 1),
    "week": lambda weeks: date.fromordinal(_WEEK * weeks + 1),
    "month": lambda months: date(months // _MONTHS, months % _MONTHS + 1, 1),
    "quarter": lambda quarters: date(quarters // _QUARTERS, quarters % _QUARTERS * 3 + 1, 1),
    "year": lambda year: date(year, 1, 1),
    "hour": lambda hours: read_seconds(3600 * hours),
    "minute": lambda minutes: read_seconds(60 * minutes),
    "second": read_seconds,
}


@dataclass(frozen=True)
class Names:
    """Values that nobody declared: those that enough people have. Before they are found, one that is made up.

    `most` is how many there may be as long as they are not found. `price` is what finding them costs, and `minimum` how
    many people a value must have: where these differ, so may what is found.
    """

    tag: ClassVar[str] = "Names"
    found: tuple[Label, ...]
    most: int = 0
    price: Approximate | Concentrated | None = None
    minimum: int = 1


@dataclass(frozen=True)
class Bucket:
    """Groups by an expression: a condition, a text that is one of a list, or a number on a grid between bounds.

    Or whatever values enough people have, once they are found. `written` is what the question says, which may be a day
    or a timestamp where `value` is its number, `shown` as that; or anything where `value` is its place in the list.
    `whole` is the key of which these are the values that WHERE leaves.
    """

    tag: ClassVar[str] = "Bucket"
    value: Expression
    among: tuple[Label, ...] | Numbers | Names | None
    written: Expression
    shown: str = "number"
    whole: "Key | None" = field(default=None, metadata={LATER: True})

    @cached_property
    def cells(self) -> range:
        """The integers that stand for its values."""
        match self.among:
            case Numbers() as numbers:
                return range(numbers.grid_lower, numbers.grid_upper + 1)
            case Names(most=most, found=found):
                return range(most or len(found))
            case None:
                return range(2)
        return range(len(self.among))

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        match self.among:
            case Numbers(step=step):
                shown = _SHOWN.get(self.shown)
                return tuple(
                    shown(cell) if shown else int(cell * step) if step.denominator == 1 else float(cell * step)
                    for cell in self.cells
                )
            case Names(found=found):
                return found
            case None:
                return (False, True)
        return self.among


@dataclass(frozen=True)
class Blocks:
    """Groups of people: everybody is in one of `count` blocks, by a keyed hash of the person alone.

    All rows of a person are in one cell, and no other person moves them to another. Proof: docs/proofs/blocks.md.
    """

    tag: ClassVar[str] = "Blocks"
    count: int

    def __post_init__(self) -> None:
        if not 2 <= self.count <= MOST_BLOCKS:
            raise ValueError(f"Blocks count must be from 2 to {MOST_BLOCKS}, got {self.count}.")

    @property
    def cells(self) -> range:
        """The numbers of the blocks."""
        return range(self.count)

    @property
    def labels(self) -> tuple[Label, ...]:
        return tuple(self.cells)


Key: TypeAlias = Column | Bucket  # of values
AnyKey: TypeAlias = Key | Blocks


def key_cells(key: AnyKey) -> range:
    """The integers that stand for the values of a key in a statement."""
    return range(len(key_values(key))) if isinstance(key, Column) else key.cells


def count_cells(keys: Iterable[AnyKey]) -> int:
    """In how many cells rows are divided by keys."""
    return prod(len(key_cells(key)) for key in keys)


def provable_cells(key: AnyKey) -> range:
    """The same as a statement shows it: where it gives values as they are, there may be as many as there are rows."""
    return range(MOST_ROWS) if is_open(key) else key_cells(key)


def widen_key(key: Key) -> Key:
    """The key with all of its values, whatever WHERE leaves of them."""
    return key.whole if isinstance(key, Bucket) and key.whole is not None else key


def is_unknown(key: AnyKey) -> bool:
    """Whether the values of a key have still to be found."""
    return isinstance(key, Bucket) and isinstance(key.among, Names) and key.among.most > 0


def is_open(key: AnyKey) -> TypeGuard[Bucket]:
    """Whether nobody declared the values of a key."""
    return isinstance(key, Bucket) and isinstance(key.among, Names)


def key_values(key: AnyKey) -> tuple[Label, ...]:
    """The values that a key may take, in their order."""
    match key:
        case Bucket() | Blocks():
            return key.labels
        case Column(kind=Text(values=tuple() as values)):
            return values
        case Column(kind=Boolean()):
            return (False, True)
    raise ValueError(f"Query key must have declared values, got {key.name}.")
