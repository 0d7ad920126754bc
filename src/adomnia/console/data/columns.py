"""The columns of a table as its page shows them: what they hold, what is declared of them, what may be done."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from adomnia.api.actions.tables import measure_sum
from adomnia.console.data.wording import show_number
from adomnia.privacy.kinds import Boolean, Day, Identity, Moment, Quantity, Text

if TYPE_CHECKING:
    from datetime import date

    from adomnia.catalog.model import Table
    from adomnia.privacy.expressions import Column
    from adomnia.privacy.kinds import Kind

_FIRST, _NEXT = 12, 200  # values that are shown at once, and that are shown when more are asked for
_WORDS = {
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "text": "text",
    "category": "category",
    "date": "day",
    "timestamp": "time",
    "id": "id",
}


@dataclass(frozen=True)
class Bounds:
    """From where to where values go. `zero` is where 0 lies between the two, as a share of the way, if it does."""

    lower: str
    upper: str
    zero: float | None = None
    step: str = ""


@dataclass(frozen=True)
class ValueList:
    """The values of a category: the first ones, more of them, and how many there are beyond these."""

    first: tuple[str, ...]
    more: tuple[str, ...]
    beyond: int
    total: int
    others: str | None

    @property
    def rest(self) -> int:
        """How many are not among the first."""
        return len(self.more) + self.beyond


@dataclass(frozen=True)
class ColumnFacts:
    """One column."""

    name: str
    holds: str
    bounds: Bounds | None
    values: ValueList | None
    says: str  # what else is declared
    moves: str  # by how much one person moves a sum of it
    uses: str  # of private columns: all may be done with public ones


def list_values(values: tuple[str, ...], others: str | None = None) -> ValueList:
    """As many of some values as a page shows; `others` is that which stands for all that are not declared."""
    more, beyond = values[_FIRST : _FIRST + _NEXT], max(0, len(values) - _FIRST - _NEXT)
    return ValueList(values[:_FIRST], more, beyond, len(values), others)


def describe_columns(table: Table) -> tuple[ColumnFacts, ...]:
    """All columns, in their order."""
    return tuple(
        ColumnFacts(
            name=column.name,
            holds=_WORDS[str(column.kind)],
            bounds=_find_bounds(column),
            values=_list_values(column.kind),
            says="other tables lead to it" if _is_end(column, table) else _say(column.kind),
            moves=_describe_moves(table, column),
            uses="" if table.public else _list_uses(column.kind),
        )
        for column in table.columns
    )


def _describe_moves(table: Table, column: Column) -> str:
    moves = None if table.public else measure_sum(table, column)
    return "" if moves is None else show_number(moves)


def _find_bounds(column: Column) -> Bounds | None:
    match column.kind:
        case Quantity(lower=Fraction() as lower, upper=Fraction() as upper, whole=whole):
            step = "" if whole or column.domain is None else show_number(column.domain.step)
            zero = float(-lower / (upper - lower)) if lower < 0 < upper else None
            return Bounds(show_number(lower), show_number(upper), zero, step)
        case Day(lower=first, upper=last) | Moment(lower=first, upper=last) if first is not None and last is not None:
            return Bounds(_show_day(first), _show_day(last))
    return None


def _show_day(day: date) -> str:
    return day.isoformat().replace("T", " ")


def _list_values(kind: Kind) -> ValueList | None:
    match kind:
        case Text(values=tuple(values), others=others):
            return list_values(values, values[-1] if others else None)
    return None


def _say(kind: Kind) -> str:
    match kind:
        case Identity(person=True):
            return "whose row it is"
        case Identity(linked=linked) if linked:
            return f"leads to {linked}"
        case Moment(zone=zone) if zone:
            return f"local time of {zone}"
        case Quantity(lower=None) | Day(lower=None) | Text(values=None) | Identity():
            return "nothing"
    return ""


def _is_end(column: Column, table: Table) -> bool:
    return isinstance(column.kind, Identity) and column.kind.linked == f"{table.name}.{column.name}"


def _list_uses(kind: Kind) -> str:  # noqa: PLR0911 - one for each kind
    match kind:
        case Quantity(lower=None):
            return "in conditions; added up between the bounds of a CLAMP"
        case Quantity(whole=whole):
            return "added up, grouped" if whole else "added up, grouped in steps by FLOOR"
        case Boolean():
            return "grouped, averaged to a share"
        case Text(values=tuple(values)):
            return f"grouped: all {len(values):,} come back"
        case Text():
            return "in conditions; grouped by values that you name, or that are found with a delta"
        case Day(lower=None) | Moment(lower=None):
            return "in conditions"
        case Day() | Moment():
            return "grouped by day, month or year; in conditions"
        case Identity(person=True):
            return "counted and joined on, never shown"
        case Identity(linked=linked) if linked:
            return "joined on, never shown"
    return "never shown"
