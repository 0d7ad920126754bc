"""What sort of value an expression has, and within which bounds: all that may be known of it without looking."""

from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction
from typing import ClassVar, TypeAlias

from adomnia.privacy.hashing import hashed_once

LATER = "later"  # marks a field that a class got after answers were stored under the hashes of its values
LONGEST_TEXT = 1024  # characters: what is longer is cut off, so that no row can make texts grow without end


@dataclass(frozen=True)
class Quantity:
    """A number. A bound of None is not known; `whole` says that only integers occur."""

    tag: ClassVar[str] = "Quantity"
    lower: Fraction | None = None
    upper: Fraction | None = None
    whole: bool = False

    @property
    def bounded(self) -> bool:
        return self.lower is not None and self.upper is not None

    def __str__(self) -> str:
        return "integer" if self.whole else "number"


@dataclass(frozen=True)
class Boolean:
    """True or false."""

    tag: ClassVar[str] = "Truth"

    def __str__(self) -> str:
        return "boolean"


@hashed_once
@dataclass(frozen=True)
class Text:
    """Text; `values` is the closed list of a declared category, in its order.

    With `others`, whatever text is not in the list is read as its last value; without, as NULL.
    """

    tag: ClassVar[str] = "Text"
    values: tuple[str, ...] | None = None
    others: bool = field(default=False, metadata={LATER: True})

    def __str__(self) -> str:
        return "text" if self.values is None else "category"


@dataclass(frozen=True)
class Day:
    """A calendar day."""

    tag: ClassVar[str] = "Day"
    lower: date | None = None
    upper: date | None = None

    def __str__(self) -> str:
        return "date"


@dataclass(frozen=True)
class Moment:
    """A second of local wall time. `zone` is the time zone that its column declares; constants have none."""

    tag: ClassVar[str] = "Moment"
    lower: datetime | None = None
    upper: datetime | None = None
    zone: str = ""

    def fits(self, other: "Moment") -> bool:
        """Whether the two can be compared: local times of different zones cannot."""
        return self.zone == other.zone or not self.zone or not other.zone

    def __str__(self) -> str:
        return "timestamp"


@dataclass(frozen=True)
class Identity:
    """An identifier: it may be counted, never looked at.

    `person` marks the privacy unit's own key. `linked` names where the link of any other one ends, by which rows of two
    tables belong together.
    """

    tag: ClassVar[str] = "Identity"
    person: bool = False
    linked: str = ""

    def __str__(self) -> str:
        return "id"


Kind: TypeAlias = Quantity | Boolean | Text | Day | Moment | Identity
