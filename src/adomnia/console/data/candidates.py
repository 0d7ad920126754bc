"""Which columns of a table suit which sort of question, by what is declared of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from adomnia.explaining.sql_text import choose_alias, quote_identifier
from adomnia.privacy.kinds import Boolean, Day, Identity, Moment, Quantity, Text

if TYPE_CHECKING:
    from adomnia.catalog.model import Table
    from adomnia.privacy.expressions import Column
    from adomnia.privacy.kinds import Kind

_SHORT_LIST, _LONG_LIST, _LONGEST_LIST = 12, 50, 1000  # values: for means, for counts, at all
_LONGEST_VALUE = 40  # characters of a value that a title shows
_MOST_STEPS = 20
_MOST_YEARS = 200
_LARGEST = 10**12  # beyond it, noise says more than the numbers do


@dataclass(frozen=True)
class KeyExpression:
    """A key that is computed: as SQL, under its alias, and in words."""

    sql: str
    alias: str
    says: str
    width: str = ""


@dataclass(frozen=True)
class Candidates:
    """The columns of a table, by what may be asked of them; None where there is none."""

    categories: tuple[str, ...]  # with a list of values, the best for counts first
    many: str | None
    few: str | None
    value: tuple[str, str] | None  # of the shortest list, and its first
    truth: str | None
    person: str | None
    numbers: tuple[str, ...]
    measure: str | None
    stepped: Column | None
    time: KeyExpression | None
    names: frozenset[str]

    @classmethod
    def find(cls, table: Table) -> Candidates:
        """Look through the columns once."""
        names = frozenset(column.name.lower() for column in table.columns)
        lists = {column.name: values for column in table.columns if (values := _list_values(column))}
        truths = [column.name for column in table.columns if isinstance(column.kind, Boolean)]
        numbers = [column for column in table.columns if _is_measured(column)]
        short = sorted(lists, key=lambda name: len(lists[name]))  # stable: among equals, the first declared
        long = sorted(lists, key=lambda name: (len(lists[name]) > _LONG_LIST, -len(lists[name])))
        few = [name for name in short if len(lists[name]) <= _SHORT_LIST] + truths
        return cls(
            categories=tuple(long),
            many=next(iter([*long, *truths]), None),
            few=next(iter(few), None),
            value=next(((name, lists[name][0]) for name in short if len(lists[name][0]) <= _LONGEST_VALUE), None),
            truth=next(iter(truths), None),
            person=next((column.name for column in table.columns if _is_person(column)), None),
            numbers=tuple(column.name for column in numbers),
            measure=next((column.name for column in sorted(numbers, key=_is_whole)), None),
            stepped=next(iter(sorted(numbers, key=lambda column: not _is_whole(column))), None),
            time=next((part for column in table.columns if (part := _find_part(column, names)) is not None), None),
            names=names,
        )


def list_steps(column: Column, names: frozenset[str]) -> KeyExpression:
    """A number in steps of 1, 2 or 5 times a power of ten, so that there are at most twenty or so of them."""
    name, width = quote_identifier(column.name), _choose_width(column.kind)
    if width == 1 and _is_whole(column):
        return KeyExpression(name, choose_alias(f"{column.name} itself", names), "", "1")
    if width.denominator == 1:
        alias = choose_alias(f"{column.name} from", names)
        return KeyExpression(f"FLOOR({name} / {width}) * {width}", alias, "", f"{width.numerator:,}")
    written = f"{float(width):.15f}".rstrip("0")
    return KeyExpression(f"FLOOR({name} / {written})", choose_alias(f"{column.name} step", names), "", written)


def _choose_width(kind: Kind) -> Fraction:
    assert isinstance(kind, Quantity)  # noqa: S101 - as _is_measured says
    assert kind.lower is not None  # noqa: S101 - likewise
    assert kind.upper is not None  # noqa: S101 - likewise
    width = _round_up((kind.upper - kind.lower) / _MOST_STEPS)
    return max(width, Fraction(1)) if kind.whole else width


def _round_up(wanted: Fraction) -> Fraction:
    """The first of 1, 2, 5, 10, 20 ... and of their tenths and hundredths that is at least as large."""
    power = Fraction(10) ** (len(str(int(wanted))) - 1) if wanted >= 1 else Fraction(1)
    while power > wanted:
        power /= 10
    return next(power * times for times in (1, 2, 5, 10) if power * times >= wanted)


def _list_values(column: Column) -> tuple[str, ...]:
    """The values of a category that is worth grouping by; none of any other column."""
    values = column.kind.values if isinstance(column.kind, Text) else None
    return values if values is not None and 2 <= len(values) <= _LONGEST_LIST else ()


def _is_measured(column: Column) -> bool:
    match column.kind:
        case Quantity(lower=Fraction() as lower, upper=Fraction() as upper):
            return -_LARGEST <= lower < upper <= _LARGEST
    return False


def _is_whole(column: Column) -> bool:
    return isinstance(column.kind, Quantity) and column.kind.whole


def _is_person(column: Column) -> bool:
    return isinstance(column.kind, Identity) and column.kind.person


def _find_part(column: Column, names: frozenset[str]) -> KeyExpression | None:
    """The years or months of a day with bounds; otherwise the hours or months that every day has."""
    name, plain = quote_identifier(column.name), column.name.replace("_", " ")
    match column.kind:
        case Day(lower=first, upper=last) | Moment(lower=first, upper=last) if first is not None and last is not None:
            if first.year == last.year:
                return KeyExpression(f"DATE_TRUNC('month', {name})", _name("month", column, names), f"month of {plain}")
            if last.year - first.year < _MOST_YEARS:
                return KeyExpression(f"YEAR({name})", _name("year", column, names), f"year of {plain}")
    match column.kind:
        case Moment():
            return KeyExpression(f"HOUR({name})", _name("hour", column, names), f"hour of {plain}")
        case Day():
            return KeyExpression(f"MONTH({name})", _name("month", column, names), f"month of {plain}")
    return None


def _name(part: str, column: Column, names: frozenset[str]) -> str:
    return choose_alias(f"{part} of {column.name}", names)
