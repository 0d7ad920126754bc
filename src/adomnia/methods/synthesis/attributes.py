"""The columns of a release: declared values as they are, numbers in bins, and missing values as one more of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import ClassVar

from adomnia.methods.column_bins import split_finely
from adomnia.methods.contract import Arguments, BadArgument, Factor, Frame, NumberColumn, Parameter
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column, Expression, call, number, text
from adomnia.privacy.keys import Bucket, Key, key_cells
from adomnia.privacy.kinds import Boolean, Quantity
from adomnia.privacy.relations import Relation, Where
from adomnia.statistics.products import Attribute, Sort

MISSING = "(missing)"  # how a missing value is written among those of a category
MOST_COLUMNS = 64
_MOST_VALUES = 1_000  # of a column

COLUMNS = Parameter(
    "columns", "names", "the columns of the release; all of the rows' own if none are named", all_columns=True
)
BINS = Parameter(
    "bins",
    "integer",
    "into how many bins a number is put that has more values",
    default=16,
    lower=2,
    upper=_MOST_VALUES,
)
MISSING_VALUES = Parameter(
    "missing",
    "choice",
    "whether a missing value is a value like others, or its row is left out",
    default="kept",
    choices=("kept", "left_out"),
)


@dataclass(frozen=True)
class ReleaseColumn:
    """A column of a release, and the key by which its rows are counted: the place of each value."""

    tag: ClassVar[str] = "ReleaseColumn"
    attribute: Attribute
    key: Key

    def __len__(self) -> int:
        return len(self.attribute)


def read_columns(frame: Frame, arguments: Arguments) -> tuple[Relation, tuple[ReleaseColumn, ...]]:
    """The rows that count, and their columns in the order in which they are named."""
    names = _names(frame, arguments)
    kept = arguments["missing"] == "kept"
    columns = tuple(_read_column(frame, name, arguments["bins"], kept=kept) for name in names)
    relation = frame.relation
    if not kept:
        for name in names:
            relation = Where(relation, call("not", call("is null", _value(frame, name))))
    return relation, columns


def show_columns(frame: Frame, arguments: Arguments) -> tuple[str, ...]:
    """The names of the columns of a release as the rows spell them."""
    return tuple(frame.columns[name].name for name in _names(frame, arguments))


def list_left_out(frame: Frame, arguments: Arguments) -> tuple[str, ...]:
    """The columns of the rows that are not part of a release of all of them: nothing is declared of their values."""
    return () if arguments["columns"] else tuple(name for name in frame.order if name not in frame.columns)


def count_cells(columns: Sequence[ReleaseColumn]) -> int:
    """How many cells the table of all these columns has."""
    return prod(map(len, columns))


def _names(frame: Frame, arguments: Arguments) -> tuple[str, ...]:
    chosen: tuple[str, ...] = arguments["columns"] or tuple(frame.columns)
    if not 1 <= len(chosen) <= MOST_COLUMNS:
        raise BadArgument("columns", f"are {len(chosen)}", f"name between 1 and {MOST_COLUMNS}")
    return chosen


def _value(frame: Frame, name: str) -> Expression:
    column = frame.numbers.get(name) or frame.days.get(name)
    if column is not None:
        return column.value
    key = frame.factors[name].key
    return key.value if isinstance(key, Bucket) else key


def _read_column(frame: Frame, name: str, bins: int, *, kept: bool) -> ReleaseColumn:
    factor, column = frame.factors.get(name), frame.numbers.get(name)
    if factor is not None and (column is None or len(factor.levels) <= max(bins, 2)):
        return _declared(factor, kept=kept)
    if column is not None:
        return _binned(column, "integer" if _is_whole(column) else "number", bins, kept=kept)
    return _binned(frame.days[name], "date", bins, kept=kept)


def _declared(factor: Factor, *, kept: bool) -> ReleaseColumn:
    """Values as they are declared."""
    levels, key = factor.levels, factor.key
    sort: Sort = "boolean" if levels and isinstance(levels[0], bool) else "text"
    if levels and not isinstance(levels[0], bool | str):
        sort = "integer"
    attribute = Attribute(factor.name, (*levels, None) if kept else levels, sort)
    return ReleaseColumn(attribute, _with_missing(key) if kept else key)


def _is_whole(column: NumberColumn) -> bool:
    return isinstance(column.value.kind, Quantity) and column.value.kind.whole


def _binned(column: NumberColumn, sort: Sort, bins: int, *, kept: bool) -> ReleaseColumn:
    """Numbers in bins of equal width; whole numbers and days the same number of them in each bin but the last."""
    split = split_finely(column, bins)
    edges = tuple(map(float, split.edges))
    levels = tuple(_label(start, end, sort) for start, end in pairwise(split.edges))
    attribute = Attribute(column.name, (*levels, None) if kept else levels, sort, edges, _declared_step(column.domain))
    return ReleaseColumn(attribute, _with_missing(split.key) if kept else split.key)


def _declared_step(domain: Numbers) -> float | None:
    """What values are multiples of, unless nobody declared that."""
    chosen = domain.upper > domain.lower and Numbers.bounded(domain.lower, domain.upper).step == domain.step
    return None if chosen else float(domain.step)


def _label(start: Fraction, end: Fraction, sort: Sort) -> str:
    """A bin in words."""
    if sort == "number":
        return f"{float(start):g} to {float(end):g}"
    first, last = int(start + Fraction(1, 2)), int(end - Fraction(1, 2))
    ends = [str(date.min + timedelta(days=each)) if sort == "date" else str(each) for each in (first, last)]
    return ends[0] if first == last else " to ".join(ends)


def _with_missing(key: Key) -> Bucket:
    """The same key with one more cell, the last, for rows without a value."""
    match key:
        case Column(kind=Boolean()) | Bucket(among=None):
            value = key if isinstance(key, Column) else key.value
            place = call("case", value, number(1), call("is null", value), number(2), number(0))
            return Bucket(place, Numbers.integers(0, 2), place)
        case Column(kind=kind):
            found = call("coalesce", key, text(MISSING))
            return Bucket(found, (*kind.values, MISSING), found)  # type: ignore[union-attr,misc]  # a category
        case Bucket(value=value, among=Numbers(), cells=cells):
            # What lies beyond the last value is counted as that one, and not as missing.
            last = call("least", value, number(cells.stop - 1))
            found = call("case", call("is null", value), number(cells.stop), last)
            return Bucket(found, Numbers.integers(cells.start, cells.stop), found)
        case Bucket(value=value, among=tuple() as texts):
            found = call("coalesce", value, text(MISSING))
            return Bucket(found, (*texts, MISSING), found)
    raise ValueError(f"ReleaseColumn key must have declared values, got {len(key_cells(key))} that are found.")
