"""Reads calls of functions by name: those of the table of functions, and those that are composed of them."""

import re
from collections.abc import Callable, Sequence
from datetime import date
from fractions import Fraction

from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.privacy.expressions import FUNCTIONS, Expression, Literal, call, number, text
from adomnia.privacy.kinds import Day, Identity
from adomnia.sql.reading.refusals import refusal, refusal_of_node
from adomnia.sql.values.conditions import apply, chain, fold, size
from adomnia.work import spend

MOST_NODES = 10_000
MOST_NESTED = 2_000  # of what is not a chain: engines take their time over it
_NODES_OF_A_STEP = 32

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOST_DIGITS = 15
_TO_THE_END = 2**31 - 1
_DATE_PARTS = ("year", "quarter", "month", "week", "day", "doy", "dow", "isodow")
_OTHER_PARTS = {"dayofmonth": "day", "dayofyear": "doy", "dayofweek": "dow", "weekday": "dow", "weekofyear": "week"}
_PLURAL = "s"

Arguments = Sequence[Expression]
Builder = Callable[[exp.Expr, Arguments], Expression]


def call_function(node: exp.Expr, name: str, arguments: Arguments) -> Expression:
    """Call a function by the name that the question uses, or refuse it."""
    builder = _COMPOSED.get(name)
    if builder is not None:
        return builder(node, arguments)
    if name in _SPELLINGS:
        return build(node, _SPELLINGS[name], *arguments)
    raise refusal_of_node(node)


def build(node: exp.Expr, function: str, *arguments: Expression) -> Expression:
    """Apply a function, or refuse its arguments and say what it takes."""
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
        return refusal("function_not_allowed", node, why, f"it takes {row.takes}")
    found = ", ".join(dict.fromkeys(str(each.kind) for each in given)) or "nothing"
    return refusal("type_error", node, f"is made of {found}", f"it takes {row.takes}")


def read_dates(node: exp.Expr, *values: Expression) -> Arguments:
    """Read text constants as dates if another of the values is a date."""
    if not any(isinstance(value.kind, Day) for value in values):
        return values
    return [read_day(node, value.value) if _is_text(value) else value for value in values]  # type: ignore[union-attr]


def count_days(day: Expression) -> Expression:
    """A date as a number: how many days it is after the first of the calendar."""
    return call("days between", day, Literal(date.min, Day(date.min, date.min)))


def read_day(node: exp.Expr, written: object) -> Literal:
    """Read a date."""
    try:
        value = date.fromisoformat(str(written)) if _DATE.fullmatch(str(written)) else None
    except ValueError:
        value = None
    if value is None:
        raise refusal("bad_literal", node, "has a date that is not in the calendar", "write it like DATE '2024-01-31'")
    return Literal(value, Day(value, value))


def date_part(node: exp.Expr, name: str, value: Expression) -> Expression:
    """The year, the month, ... of a date."""
    part = _OTHER_PARTS.get(name.lower(), name.lower())
    if part not in _DATE_PARTS:
        why, fix = "is not a part of dates that can be answered", f"use one of {', '.join(_DATE_PARTS)}"
        raise refusal("function_not_allowed", node, why, fix, name.upper())
    return build(node, part, value)


def round_digits(node: exp.Expr, value: Expression, digits: int) -> Expression:
    """Round a number to some digits after the point, or before it."""
    if digits == 0:
        return build(node, "round", value)
    if abs(digits) > _MOST_DIGITS:
        fix = f"use at most {_MOST_DIGITS}"
        raise refusal("bad_literal", node, "has more digits than a double", fix, "Rounding")
    scale = number(10 ** abs(digits))
    there, back = ("*", "/") if digits > 0 else ("/", "*")
    return build(node, back, build(node, "round", build(node, there, value, scale)), scale)


def _round(node: exp.Expr, arguments: Arguments) -> Expression:
    value, digits = _two_arguments(node, arguments) if len(arguments) != 1 else (arguments[0], number(0))
    return round_digits(node, value, _whole_number(node, digits))


def _chain(function: str) -> Builder:
    """The builder of a function of two or more values, in any order."""

    def builder(node: exp.Expr, arguments: Arguments) -> Expression:
        _check_number(2, node, function, arguments)
        parts = read_dates(node, *arguments)
        try:
            return check_size(node, chain(function, parts))
        except ValueError:
            raise refusal_of_arguments(node, function, parts) from None

    return builder


def _coalesce(node: exp.Expr, arguments: Arguments) -> Expression:
    _check_number(2, node, "coalesce", arguments)
    return fold(read_dates(node, *arguments), lambda left, right: build(node, "coalesce", left, right))


def _concat(node: exp.Expr, arguments: Arguments) -> Expression:
    _check_number(1, node, "||", arguments)
    parts = [build(node, "coalesce", part, text("")) for part in arguments]
    return fold(parts, lambda left, right: build(node, "||", left, right))


def _nullif(node: exp.Expr, arguments: Arguments) -> Expression:
    return build(node, "nullif", *read_dates(node, *arguments))


def _clamp(node: exp.Expr, arguments: Arguments) -> Expression:
    bounds = [bound.value for bound in arguments[1:] if isinstance(bound, Literal)]
    if len(bounds) < len(arguments) - 1:
        raise refusal("bad_literal", node, "has a bound that is not a constant", "write CLAMP(value, 0, 100)", "CLAMP")
    match bounds:
        case [Fraction() as lower, Fraction() as upper] if lower > upper:
            fix = "write the lower bound first"
            raise refusal("empty_bounds", node, "has a lower bound above its upper one", fix, "CLAMP")
    return build(node, "clamp", *arguments)


def _left(node: exp.Expr, arguments: Arguments) -> Expression:
    value, length = _two_arguments(node, arguments)
    return build(node, "substring", value, number(1), length)


def _substring(node: exp.Expr, arguments: Arguments) -> Expression:
    to_the_end = (number(_TO_THE_END),) if len(arguments) == 2 else ()
    return build(node, "substring", *arguments, *to_the_end)


def _date_part(node: exp.Expr, arguments: Arguments) -> Expression:
    part, value = _two_arguments(node, arguments)
    return date_part(node, _word(node, part), value)


def _date_trunc(node: exp.Expr, arguments: Arguments) -> Expression:
    unit, value = _two_arguments(node, arguments)
    function = f"start of {_word(node, unit)}"
    if _word(node, unit) == "day":
        return build(node, "shift", value, number(0))
    if function not in FUNCTIONS:
        units = ", ".join(name.removeprefix("start of ") for name in FUNCTIONS if name.startswith("start of "))
        raise refusal("function_not_allowed", node, "begins at no such unit", f"use one of {units}, day", "DATE_TRUNC")
    return build(node, function, value)


def _date_diff(node: exp.Expr, arguments: Arguments) -> Expression:
    """The days from the second argument to the third, or how many months or years began between them."""
    if len(arguments) != 3:
        raise refusal_of_arguments(node, "days between", arguments)
    first, last = read_dates(node, *arguments[1:])
    match _word(node, arguments[0]).removesuffix(_PLURAL):
        case "day":
            return build(node, "days between", last, first)
        case "month":
            return build(node, "-", _months(node, last), _months(node, first))
        case "year":
            return build(node, "-", build(node, "year", last), build(node, "year", first))
    raise refusal("function_not_allowed", node, "counts no such unit", "use day, month or year", "DATE_DIFF")


def _months(node: exp.Expr, value: Expression) -> Expression:
    years = build(node, "*", build(node, "year", value), number(12))
    return build(node, "+", years, build(node, "month", value))


def _two_arguments(node: exp.Expr, arguments: Arguments) -> tuple[Expression, Expression]:
    if len(arguments) != 2:
        raise refusal("type_error", node, f"has {len(arguments)} arguments", "give it two")
    return arguments[0], arguments[1]


def _check_number(least: int, node: exp.Expr, function: str, arguments: Arguments) -> None:
    if len(arguments) < least:
        raise refusal_of_arguments(node, function, arguments)


def _whole_number(node: exp.Expr, value: Expression) -> int:
    if isinstance(value, Literal) and isinstance(value.value, Fraction) and value.value.denominator == 1:
        return int(value.value)
    if isinstance(value, Literal):
        raise refusal("bad_literal", node, "has a constant that is not a whole number", "write a whole number there")
    why = "has a value of the row where only a constant may stand"
    raise refusal("function_not_allowed", node, why, "write a whole number there")


def _word(node: exp.Expr, value: Expression) -> str:
    if isinstance(value, Literal) and isinstance(value.value, str):
        return value.value.lower()
    raise refusal("function_not_allowed", node, "takes its unit as a constant text", "write 'day', 'month' or 'year'")


def _is_text(value: Expression) -> bool:
    return isinstance(value, Literal) and isinstance(value.value, str)


_SPELLINGS = {spelling: row.name for row in FUNCTIONS.values() for spelling in row.spellings}
_COMPOSED: dict[str, Builder] = {
    "ROUND": _round,
    "GREATEST": _chain("greatest"),
    "LEAST": _chain("least"),
    "COALESCE": _coalesce,
    "IFNULL": _coalesce,
    "NULLIF": _nullif,
    "CONCAT": _concat,
    "CLAMP": _clamp,
    "LEFT": _left,
    "SUBSTRING": _substring,
    "SUBSTR": _substring,
    "DATE_PART": _date_part,
    "DATE_TRUNC": _date_trunc,
    "DATE_DIFF": _date_diff,
    "DATEDIFF": _date_diff,
}
CONDITIONAL = frozenset({"IF", "IIF"})
NAMES = frozenset({*_SPELLINGS, *_COMPOSED, *CONDITIONAL})
