"""Applies functions of the table to arguments, or refuses them; and reads the constants that such arguments are."""

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from fractions import Fraction
from typing import TypeAlias

from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.messages.fixes import tell
from adomnia.privacy.expressions import FUNCTIONS, Expression, Literal, call
from adomnia.privacy.functions.days import DAYS
from adomnia.privacy.kinds import Day, Identity, Moment
from adomnia.sql.reading.refusals import refusal
from adomnia.sql.values.conditions import apply, size
from adomnia.work import spend

MOST_NODES = 10_000
MOST_NESTED = 2_000  # of what is not a chain: engines take their time over it
_NODES_OF_A_STEP = 32

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2})?)?")
_OFFSET = re.compile(r".*:[0-9.]+ ?([Zz]|[+-][0-9]{2}(:?[0-9]{2})?|[A-Za-z_/]+)")
# What of a date may be asked of a timestamp: it is that of its day.
_OF_DAYS = frozenset(row.name for row in DAYS if row.arity == 1 or row.name == "format")

Arguments: TypeAlias = Sequence[Expression]
Builder: TypeAlias = Callable[[exp.Expr, Arguments], Expression]


def build(node: exp.Expr, function: str, *arguments: Expression) -> Expression:
    """Apply a function, or refuse its arguments and say what it takes."""
    if function in _OF_DAYS:
        arguments = tuple(map(as_day, arguments))
    try:
        return check_size(node, apply(function, *arguments), MOST_NESTED)
    except ValueError:
        raise refusal_of_arguments(node, function, arguments) from None


def check_size(node: exp.Expr, value: Expression, most: int = MOST_NODES) -> Expression:
    """Return a value, or refuse it if it is too long when written out: some functions repeat an argument."""
    length = size(value)
    spend(1 + length // _NODES_OF_A_STEP)
    if length > most:
        raise refusal("too_complex", node, "becomes too long when it is written out", "take it apart")
    return value


def refusal_of_arguments(node: exp.Expr, function: str, given: Arguments) -> Refusal:
    """The refusal of arguments that a function does not take."""
    row = FUNCTIONS[function]
    if any(isinstance(each.kind, Identity) for each in given):
        return refusal("identifier_column", node, "looks at an id", "ids can be counted, not compared")
    if any(not isinstance(given[place], Literal) for place in row.constants if place < len(given)):
        why = "has a value of the row where only a constant may stand"
        return refusal("function_not_allowed", node, why, tell(f"it takes {row.takes}"))
    zones = sorted({each.kind.zone for each in given if isinstance(each.kind, Moment)} - {""})
    if len(zones) > 1:
        why = f"puts local times of {' and '.join(zones)} together, which do not fit"
        return refusal("type_error", node, why, "the owner can declare one time zone for both columns")
    found = ", ".join(dict.fromkeys(str(each.kind) for each in given)) or "nothing"
    return refusal("type_error", node, f"is made of {found}", tell(f"it takes {row.takes}"))


def as_day(value: Expression) -> Expression:
    """The day of a timestamp; any other value as it is."""
    return call("day of", value) if isinstance(value.kind, Moment) else value


def as_moment(value: Expression) -> Expression:
    """A date as the timestamp of its midnight; any other value as it is."""
    match value:
        case Literal(value=date() as day, kind=Day()):
            moment = datetime.combine(day, time.min)
            return Literal(moment, Moment(moment, moment))
    return call("midnight", value) if isinstance(value.kind, Day) else value


def read_dates(node: exp.Expr, *values: Expression) -> Arguments:
    """Read text constants as dates if another of the values is a date, and both as timestamps if one is a timestamp."""
    if any(isinstance(value.kind, Moment) for value in values):
        return [read_moment(node, value.value) if is_text(value) else as_moment(value) for value in values]  # type: ignore[union-attr]
    if not any(isinstance(value.kind, Day) for value in values):
        return values
    return [read_day(node, value.value) if is_text(value) else value for value in values]  # type: ignore[union-attr]


def read_day(node: exp.Expr, written: object) -> Literal:
    """Read a date."""
    try:
        value = date.fromisoformat(str(written)) if _DATE.fullmatch(str(written)) else None
    except ValueError:
        value = None
    if value is None:
        raise refusal("bad_literal", node, "has a date that is not in the calendar", "write it like DATE '2024-01-31'")
    return Literal(value, Day(value, value))


def read_moment(node: exp.Expr, written: object) -> Literal:
    """Read a timestamp, which is local time of the time zone that the catalog declares."""
    text, fix = str(written), "write it like TIMESTAMP '2024-01-31 12:30:00'"
    if _OFFSET.fullmatch(text):
        why = "has a time zone of its own, and timestamps are local times of the zone that the catalog declares"
        raise refusal("bad_literal", node, why, f"{fix}, in local time")
    try:
        value = datetime.fromisoformat(text) if _TIME.fullmatch(text) else None
    except ValueError:
        value = None
    if value is None:
        raise refusal("bad_literal", node, "has a time that is not in the calendar, or not in whole seconds", fix)
    return Literal(value, Moment(value, value))


def two_arguments(node: exp.Expr, arguments: Arguments) -> tuple[Expression, Expression]:
    if len(arguments) != 2:
        raise refusal("type_error", node, f"has {len(arguments)} arguments", "give it two")
    return arguments[0], arguments[1]


def check_number(least: int, node: exp.Expr, function: str, arguments: Arguments) -> None:
    if len(arguments) < least:
        raise refusal_of_arguments(node, function, arguments)


def whole_number(node: exp.Expr, value: Expression) -> int:
    if isinstance(value, Literal) and isinstance(value.value, Fraction) and value.value.denominator == 1:
        return int(value.value)
    if isinstance(value, Literal):
        raise refusal("bad_literal", node, "has a constant that is not a whole number", "write a whole number there")
    why = "has a value of the row where only a constant may stand"
    raise refusal("function_not_allowed", node, why, "write a whole number there")


def is_text(value: Expression) -> bool:
    return isinstance(value, Literal) and isinstance(value.value, str)
