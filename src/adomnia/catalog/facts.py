"""Facts of public tables: bounds and values that the catalog does not declare may be read from the file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from math import floor
from typing import TYPE_CHECKING, TypeAlias

from adomnia.catalog.model import Table
from adomnia.privacy.domains import Numbers
from adomnia.privacy.kinds import Day, Moment, Quantity, Text

if TYPE_CHECKING:
    from adomnia.privacy.expressions import Column

_MOST_CATEGORIES = 100_000  # of a text that nobody declared as a category
_LARGEST_INTEGER = 2**53  # as in bounds that are declared


@dataclass(frozen=True)
class Facts:
    """What is known of one column: the most rows that share a value, the least and greatest value, and all texts."""

    repeats: int
    lower: float | date | datetime | None = None
    upper: float | date | datetime | None = None
    values: tuple[str, ...] = ()


FactsOf: TypeAlias = Callable[[Table], Sequence[Facts]]


def apply_facts(table: Table, facts: Sequence[Facts]) -> Table:
    """Add facts to the columns of a public table; bounds and values that the catalog declares stay as they are."""
    columns = tuple(_apply_to_column(column, found) for column, found in zip(table.columns, facts, strict=True))
    return replace(table, columns=columns, repeats=tuple(max(found.repeats, 1) for found in facts))


def sort_values(facts: Facts) -> tuple[str, ...]:
    """The distinct texts of a column, sorted: a file has no fixed order of rows, and the index stores positions."""
    return tuple(sorted(set(facts.values)))


def _apply_to_column(column: Column, facts: Facts) -> Column:
    match column.kind, facts.lower, facts.upper:
        case Quantity(lower=None, whole=whole), float() as lower, float() as upper if lower < upper:
            return _add_bounds(column, lower, upper, whole)
        case Day(lower=None), date() as first, date() as last:
            return replace(column, kind=Day(first, last))
        case Moment(lower=None, zone=zone), datetime() as first, datetime() as last:
            return replace(column, kind=Moment(first, last, zone))
        case Text(values=None), _, _ if 1 <= len(facts.values) <= _MOST_CATEGORIES:
            return replace(column, kind=Text(sort_values(facts)))
    return column


def _add_bounds(column: Column, lower: float, upper: float, whole: bool) -> Column:
    if whole and max(-lower, upper) > _LARGEST_INTEGER:
        return column
    try:
        domain = Numbers.integers(_round(lower), _round(upper)) if whole else Numbers.bounded(lower, upper)
    except ValueError:  # infinite, or finer than any grid
        return column
    return replace(column, kind=Quantity(domain.lower, domain.upper, whole), domain=domain)


def _round(number: float) -> int:
    return floor(number + 0.5)  # as the index rounds
