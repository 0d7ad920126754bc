"""What is shown of the table that a method returns: its columns, the rows that are chosen, their order. It is free."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

from adomnia.methods.parts.models.coefficients import ESTIMATE, exponentiate_table
from adomnia.methods.parts.testing.report import NONE, P_VALUE, adjust_table
from adomnia.statistics.contract import Fact, ResultTable

Constant: TypeAlias = Fraction | str | bool | date | None
Values: TypeAlias = Mapping[str, Sequence[Fact]]


@dataclass(frozen=True)
class TableColumn:
    """A column of the table, by its name there."""

    tag: ClassVar[str] = "TableColumn"
    name: str


@dataclass(frozen=True)
class TableCondition:
    """A condition of one row: a comparison, or several put together by SQL's three-valued logic."""

    tag: ClassVar[str] = "TableCondition"
    function: str
    operands: tuple[Union["TableCondition", TableColumn, Constant], ...]


@dataclass(frozen=True)
class TableOrder:
    """A column that rows are sorted by."""

    tag: ClassVar[str] = "TableOrder"
    column: str
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True)
class TableView:
    """The columns that are shown, each by the name that it is shown under; which rows, and in what order."""

    tag: ClassVar[str] = "TableView"
    columns: tuple[tuple[str, str], ...]  # (shown as, in the table)
    condition: TableCondition | None = None
    order: tuple[TableOrder, ...] = ()
    left_out: tuple[str, ...] = ()  # columns of the rows that a release of all of them cannot have
    adjust: str = NONE  # how p-values are adjusted for their number, before rows are chosen by them
    exponentiate: bool = False  # whether ratios stand in the place of coefficients

    @property
    def changes(self) -> tuple[str, ...]:
        """What is computed otherwise than usual from the same measurements."""
        return (*((self.adjust,) if self.adjust != NONE else ()), *(("exponentiate",) if self.exponentiate else ()))

    def identify_column(self, column: str) -> tuple[str, ...]:
        """What tells a column of the table from others that are computed from the same measurements."""
        own = {P_VALUE: self.adjust != NONE and self.adjust, ESTIMATE: self.exponentiate and "exponentiate"}
        changed = own.get(column)
        return ("column", column, changed) if changed else ("column", column)

    def adapt(self, table: ResultTable) -> ResultTable:
        """The table with what is computed otherwise."""
        adjusted = adjust_table(table, self.adjust)
        return exponentiate_table(adjusted) if self.exponentiate else adjusted


def choose_rows(view: TableView, table: ResultTable) -> NDArray[np.intp]:
    """The rows that are shown, in their order; of equal ones, in that of the table."""
    needed = _list_needed(view)
    values = {name: read_column(table, name) for name in needed}
    rows = [row for row in range(table.rows) if view.condition is None or _holds(view.condition, values, row) is True]
    for order in reversed(view.order):
        held = values[order.column]
        known = sorted(
            (row for row in rows if held[row] is not None),
            key=lambda row: held[row],  # type: ignore[arg-type, return-value]  # of one type, or a number
            reverse=order.descending,
        )
        missing = [row for row in rows if held[row] is None]
        rows = missing + known if order.nulls_first else known + missing
    return np.array(rows, dtype=np.intp)


def read_column(table: ResultTable, name: str) -> Sequence[Fact]:
    """The values of a column of the table; None where it is not estimable."""
    if name in table.labels:
        return table.labels[name]
    if name in table.facts:
        return table.facts[name]()
    return [None if np.isnan(value) else value for value in table.estimates[name].values.tolist()]


def _list_needed(view: TableView) -> list[str]:
    found = [order.column for order in view.order]
    waiting: list[object] = [view.condition]
    while waiting:
        match waiting.pop():
            case TableCondition(operands=operands):
                waiting += operands
            case TableColumn(name=name):
                found.append(name)
    return list(dict.fromkeys(found))


def _holds(  # noqa: PLR0911 - one for each function
    condition: TableCondition, values: Values, row: int
) -> bool | None:
    operands = [_evaluate(each, values, row) for each in condition.operands]
    match condition.function:
        case "and":
            return False if False in operands else None if None in operands else True
        case "or":
            return True if True in operands else None if None in operands else False
        case "not":
            return None if operands[0] is None else not operands[0]
        case "is null":
            return operands[0] is None
        case "in":
            equal = [_compare("=", operands[0], each) for each in operands[1:]]
            return True if True in equal else None if None in equal else False
        case "like":
            text, pattern = operands
            if not isinstance(text, str) or not isinstance(pattern, str):
                return None
            return bool(_pattern(pattern).fullmatch(text))
    return _compare(condition.function, *operands)


def _evaluate(operand: object, values: Values, row: int) -> Fact | Fraction:
    match operand:
        case TableCondition():
            return _holds(operand, values, row)
        case TableColumn(name=name):
            return values[name][row]
    return operand  # type: ignore[return-value]  # a constant


_SIGNS: dict[str, Callable[[float], bool]] = {
    "=": lambda order: order == 0,
    "<>": lambda order: order != 0,
    "<": lambda order: order < 0,
    "<=": lambda order: order <= 0,
    ">": lambda order: order > 0,
    ">=": lambda order: order >= 0,
}


def _compare(sign: str, one: object, two: object) -> bool | None:
    """How two values compare, numbers as doubles; nothing is known of values that are not alike."""
    one, two = (float(each) if isinstance(each, Fraction) else each for each in (one, two))
    for kind in (str, bool, (int, float), date):
        if isinstance(one, kind) and isinstance(two, kind):
            return _SIGNS[sign]((one > two) - (one < two))  # type: ignore[operator]
    return None


@lru_cache(maxsize=16)
def _pattern(like: str) -> re.Pattern[str]:
    """What stands between two % is taken where it first fits, for good: to try all ways to share a text has no end."""
    first, *others = ("".join("." if each == "_" else re.escape(each) for each in part) for part in like.split("%"))
    middle = "".join(f"(?>.*?{part})" for part in others[:-1] if part)
    return re.compile(f"{first}{middle}.*{others[-1]}" if others else first, re.DOTALL)
