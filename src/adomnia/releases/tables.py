"""Releases as tables that questions can name: what their columns are follows from what was published."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, inf, nextafter
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from adomnia.catalog.model import Catalog, Table
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.filters import Budget
from adomnia.privacy.kinds import Boolean, Day, Kind, Quantity, Text
from adomnia.privacy.units import ROW

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adomnia.statistics.products import Attribute, Product

SCHEMA = "releases"
_BIN = "_bin"  # behind the name of a column: the bins themselves, as texts

Value: TypeAlias = str | bool | float | date | None
Ends: TypeAlias = tuple[Value, Value]  # the first and the last value of a level


@dataclass(frozen=True)
class AttributeTable:
    """The attributes of a release as the columns of a table: one row for each person or thing that it counts.

    A column in bins is a number or a date between their ends, and beside it stands one that names the bins.
    """

    name: str
    attributes: tuple[Attribute, ...]

    @cached_property
    def columns(self) -> dict[Column, int]:
        """The columns of the table, and the place of the attribute that each shows."""
        found = {_read_column(each): place for place, each in enumerate(self.attributes)}
        taken = {each.name.lower() for each in self.attributes}
        for place, each in enumerate(self.attributes):
            if each.edges:
                found[Column(_free_name(each.name + _BIN, taken), Text(_list_texts(each)))] = place
        return found

    @cached_property
    def table(self) -> Table:
        """As a catalog declares it: every row is one of its own."""
        return Table(self.name, self.name, tuple(self.columns))

    def shows_bins(self, column: Column) -> bool:
        """Whether a column holds numbers or dates of which the bin alone is known."""
        return bool(self.attributes[self.columns[column]].edges) and not isinstance(column.kind, Text)

    def ends(self, column: Column) -> tuple[Ends, ...]:
        """Of each level the first and the last value that it holds; the same twice where it is one value."""
        attribute = self.attributes[self.columns[column]]
        if not self.shows_bins(column):
            return tuple((_plain(level, column.kind),) * 2 for level in attribute.levels)
        return _list_ends(attribute)


def build_catalog(tables: Iterable[AttributeTable]) -> Catalog:
    """What questions about releases are read against: nothing else is in it."""
    return Catalog(SCHEMA, 1, ROW, Budget(1), (), tuple(each.table for each in tables), Path())


def make_table(name: str, product: Product) -> AttributeTable:
    """The table of a release of that name."""
    return AttributeTable(name, product.attributes)


def _read_column(attribute: Attribute) -> Column:
    """A column with the values that are declared, or numbers and dates with their bounds; missing is NULL."""
    ends = [end for both in _list_ends(attribute) for end in both if end is not None]
    match attribute.sort:
        case "boolean":
            return Column(attribute.name, Boolean())
        case "text":
            return Column(attribute.name, Text(_list_texts(attribute)))
        case "date":
            days = [end for end in ends if isinstance(end, date)]
            return Column(attribute.name, Day(min(days), max(days)) if days else Day())
    numbers = [Fraction(end) for end in ends if isinstance(end, int | float)]
    whole = attribute.sort == "integer" and all(each.denominator == 1 for each in numbers)
    lower, upper = (min(numbers), max(numbers)) if numbers else (Fraction(0), Fraction(0))
    if whole:
        return Column(attribute.name, Quantity(lower, upper, whole=True), Numbers.integers(lower, upper))
    return Column(attribute.name, Quantity(lower, upper))


def _list_texts(attribute: Attribute) -> tuple[str, ...]:
    return tuple(str(level) for level in attribute.levels if level is not None)


def _list_ends(attribute: Attribute) -> tuple[Ends, ...]:
    if not attribute.edges:
        return tuple((_number_or_day(level),) * 2 for level in attribute.levels)
    find = _ends if attribute.sort == "number" else _whole_ends
    bins = zip(attribute.edges, attribute.edges[1:], strict=False)
    found = iter([find(start, end, is_last=end == attribute.edges[-1]) for start, end in bins])
    numbers = [None if level is None else next(found) for level in attribute.levels]
    read = _day if attribute.sort == "date" else float
    return tuple((None, None) if ends is None else (read(ends[0]), read(ends[1])) for ends in numbers)


def _whole_ends(start: float, end: float, *, is_last: bool) -> tuple[float, float]:
    """The first and the last whole number of a bin; the last bin holds its upper end too."""
    first = ceil(start)
    return float(first), float(max(first, floor(end) if is_last else ceil(end) - 1))


def _ends(start: float, end: float, *, is_last: bool) -> tuple[float, float]:
    return start, end if is_last else nextafter(end, -inf)


def _day(days: float) -> date:
    return date.fromordinal(int(days) + 1)


def _number_or_day(level: object) -> Value:
    return level if isinstance(level, bool | int | float | date | str) else None


def _plain(level: object, kind: Kind) -> Value:
    """A level as a column of that kind has it."""
    if level is None:
        return None
    if isinstance(kind, Text):
        return str(level)
    return float(level) if isinstance(kind, Quantity) and isinstance(level, int | float) else _number_or_day(level)


def _free_name(name: str, taken: set[str]) -> str:
    """A name that no column has, which is then taken."""
    while name.lower() in taken:
        name += "_"
    taken.add(name.lower())
    return name
