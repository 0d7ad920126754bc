"""Reads calls of functions of dates: their parts, what they begin, how far they are apart, how they are written."""

import re
from datetime import date

from sqlglot import exp

from adomnia.privacy.expressions import FUNCTIONS, Call, Expression, Literal, call, number, text
from adomnia.privacy.kinds import Day, Moment
from adomnia.privacy.wall_time import EPOCH
from adomnia.sql.reading.refusals import refusal
from adomnia.sql.values.building import (
    Arguments,
    Builder,
    as_day,
    build,
    read_dates,
    refusal_of_arguments,
    two_arguments,
    whole_number,
)
from adomnia.sql.values.conditions import fold
from adomnia.sql.values.date_formats import FIELDS, MOST_CHARACTERS, QUARTER, WORDS, is_format, translate_words

_DATE_PARTS = ("year", "quarter", "month", "week", "day", "doy", "dow", "isodow", "hour", "minute", "second")
_OTHER_PARTS = {"dayofmonth": "day", "dayofyear": "doy", "dayofweek": "dow", "weekday": "dow", "weekofyear": "week"}
_PLURAL = "s"
_LAST_MONTH = date.max.replace(day=1)
SECONDS = {"second": 1, "minute": 60, "hour": 3600}
_SECONDS_OF_A_DAY = 86_400
_DAYS_OF_UNITS = {"day": 1, "week": 7}
_MONTHS_OF_UNITS = {"month": 1, "quarter": 3, "year": 12}
_SECONDS_OF_UNITS = SECONDS | {unit: days * _SECONDS_OF_A_DAY for unit, days in _DAYS_OF_UNITS.items()}
_SHARED_FIELDS = re.compile(r"(%[Ymdjba%]|[^%])*")  # that other databases write alike


def count_days(day: Expression) -> Expression:
    """A date as a number: how many days it is after the first of the calendar."""
    return call("days between", day, Literal(date.min, Day(date.min, date.min)))


def count_moment_seconds(moment: Expression) -> Expression:
    """A timestamp as a number: how many seconds it is after the first one of 1970."""
    return call("seconds between", moment, Literal(EPOCH, Moment(EPOCH, EPOCH)))


def date_part(node: exp.Expr, name: str, value: Expression) -> Expression:
    """The year, the month, ... of a date, and the hour, the minute or the second of a timestamp."""
    part = _OTHER_PARTS.get(name.lower(), name.lower())
    if part == "epoch":
        return _count_epoch(node, value)
    if part not in _DATE_PARTS:
        why, fix = "is not a part of dates that can be answered", f"use one of {', '.join(_DATE_PARTS)}"
        raise refusal("function_not_allowed", node, why, fix, name.upper())
    return build(node, part, value)


def _count_epoch(node: exp.Expr, value: Expression) -> Expression:
    """Seconds since the first of 1970; a difference of timestamps is one of seconds already."""
    match value, value.kind:
        case Call(function="seconds between"), _:
            return value
        case _, Moment():
            return count_moment_seconds(value)
        case _, Day():
            first = Literal(EPOCH.date(), Day(EPOCH.date(), EPOCH.date()))
            return build(node, "*", build(node, "days between", value, first), number(_SECONDS_OF_A_DAY))
    fix = "ask it of a date, a timestamp, or a difference of timestamps"
    raise refusal("type_error", node, "is no time", fix, "EPOCH")


def count_whole_years(node: exp.Expr, later: Expression, earlier: Expression) -> Expression:
    """The years of AGE(later, earlier): birthdays between both days, negative if the first is the earlier one."""
    later, earlier = map(as_day, read_dates(node, later, earlier))
    if not (isinstance(later.kind, Day) and isinstance(earlier.kind, Day)):
        raise refusal_of_arguments(node, "days between", (later, earlier))
    forth, back = _count_birthdays(node, later, earlier), _count_birthdays(node, earlier, later)
    return build(node, "case", build(node, ">=", later, earlier), forth, build(node, "negative", back))


def _count_birthdays(node: exp.Expr, later: Expression, earlier: Expression) -> Expression:
    years = build(node, "-", build(node, "year", later), build(node, "year", earlier))
    days = (
        build(node, "+", build(node, "*", build(node, "month", each), number(100)), build(node, "day", each))
        for each in (later, earlier)
    )
    return build(node, "-", years, build(node, "boolean as number", build(node, "<", *days)))


def _date_part(node: exp.Expr, arguments: Arguments) -> Expression:
    part, value = two_arguments(node, arguments)
    return date_part(node, _word(node, part), value)


def _date_trunc(node: exp.Expr, arguments: Arguments) -> Expression:
    unit, value = two_arguments(node, arguments)
    function = f"start of {_word(node, unit)}"
    if _word(node, unit) == "day":
        return build(node, "shift", as_day(value), number(0))
    if _word(node, unit) == "second":
        return build(node, "shift seconds", value, number(0))
    if function not in FUNCTIONS:
        units = ", ".join(name.removeprefix("start of ") for name in FUNCTIONS if name.startswith("start of "))
        raise refusal(
            "function_not_allowed", node, "begins at no such unit", f"use one of {units}, day, second", "DATE_TRUNC"
        )
    return build(node, function, value)


def _date_add(sign: int) -> Builder:
    """DATE_ADD(day, 3): so many days later, or earlier."""

    def builder(node: exp.Expr, arguments: Arguments) -> Expression:
        day, days = two_arguments(node, arguments)
        return build(node, "shift", day, number(sign * whole_number(node, days)))

    return builder


def _add_units(node: exp.Expr, arguments: Arguments) -> Expression:
    """DATEADD('month', 3, day)."""
    if len(arguments) != 3:
        raise refusal("type_error", node, f"has {len(arguments)} arguments", "write day + INTERVAL 3 MONTH")
    unit, amount, value = (
        _word(node, arguments[0]).removesuffix(_PLURAL),
        whole_number(node, arguments[1]),
        arguments[2],
    )
    lengths = _SECONDS_OF_UNITS if isinstance(value.kind, Moment) else _DAYS_OF_UNITS
    if unit in lengths:
        function = "shift seconds" if isinstance(value.kind, Moment) else "shift"
        return build(node, function, value, number(amount * lengths[unit]))
    if unit in _MONTHS_OF_UNITS and not isinstance(value.kind, Moment):
        return build(node, "shift months", value, number(amount * _MONTHS_OF_UNITS[unit]))
    raise refusal("function_not_allowed", node, "adds no such unit", f"use one of {', '.join(lengths)}", "DATEADD")


def _whole_units(node: exp.Expr, arguments: Arguments) -> Expression:
    """TIMESTAMPDIFF counts whole units that have passed: of days alone that is what DATE_DIFF counts."""
    if len(arguments) == 3 and _word(node, arguments[0]) == "day":
        first, last = read_dates(node, *arguments[1:])
        if isinstance(first.kind, Day) and isinstance(last.kind, Day):
            return build(node, "days between", last, first)
    fix = "write DATE_DIFF('month', a, b): how often a month began, or EXTRACT(YEAR FROM AGE(b, a)): whole years"
    raise refusal("function_not_allowed", node, "counts whole units that have passed", fix, "TIMESTAMPDIFF")


def _date_diff(node: exp.Expr, arguments: Arguments) -> Expression:  # noqa: PLR0911 - one for each unit
    """How many units began from the second argument to the third: days, months, ..., of timestamps also hours.

    DATEDIFF(a, b) is a - b in days.
    """
    if len(arguments) == 2 and str(node.this).upper() == "DATEDIFF":
        return build(node, "days between", *map(as_day, read_dates(node, *arguments)))
    if len(arguments) != 3:
        raise refusal_of_arguments(node, "days between", arguments)
    unit, (first, last) = _word(node, arguments[0]).removesuffix(_PLURAL), read_dates(node, *arguments[1:])
    if unit in SECONDS and isinstance(first.kind, Moment):
        return _started(node, unit, first, last)
    first, last = as_day(first), as_day(last)
    match unit:
        case "day":
            return build(node, "days between", last, first)
        case "week":
            mondays = [build(node, "start of week", day) for day in (last, first)]
            return build(node, "round", build(node, "/", build(node, "days between", *mondays), number(7)))
        case "quarter":
            return build(node, "-", _quarters(node, last), _quarters(node, first))
        case "month":
            return build(node, "-", _months(node, last), _months(node, first))
        case "year":
            return build(node, "-", build(node, "year", last), build(node, "year", first))
    fix = "use day, week, month, quarter or year, and of timestamps second, minute or hour"
    raise refusal("function_not_allowed", node, "counts no such unit", fix, "DATE_DIFF")


def _started(node: exp.Expr, unit: str, first: Expression, last: Expression) -> Expression:
    """How many seconds, minutes or hours began between two timestamps."""
    if unit == "second":
        return build(node, "seconds between", last, first)
    starts = [build(node, f"start of {unit}", each) for each in (last, first)]
    return build(node, "round", build(node, "/", build(node, "seconds between", *starts), number(SECONDS[unit])))


def _quarters(node: exp.Expr, value: Expression) -> Expression:
    years = build(node, "*", build(node, "year", value), number(4))
    return build(node, "+", years, build(node, "quarter", value))


def _months(node: exp.Expr, value: Expression) -> Expression:
    years = build(node, "*", build(node, "year", value), number(12))
    return build(node, "+", years, build(node, "month", value))


def _strftime(node: exp.Expr, arguments: Arguments) -> Expression:
    value, written = two_arguments(node, arguments)
    if not isinstance(written, Literal) or not isinstance(written.value, str) or not is_format(written.value):
        fix = f"use these fields and other signs, {MOST_CHARACTERS} characters at most: {FIELDS}"
        raise refusal("bad_literal", node, "has a format that is not answered", fix, "STRFTIME")
    return _write_date(node, value, written.value)


def _date_format(node: exp.Expr, arguments: Arguments) -> Expression:
    """DATE_FORMAT, where its fields are those of STRFTIME."""
    value, written = two_arguments(node, arguments)
    constant = written.value if isinstance(written, Literal) and isinstance(written.value, str) else ""
    if "%" in constant and _SHARED_FIELDS.fullmatch(constant):
        return _strftime(node, (value, written))
    fix = f"write STRFTIME(day, '%Y-%m'), with these fields: {FIELDS}"
    raise refusal("bad_literal", node, "has fields that mean different things in different databases", fix)


def _to_char(node: exp.Expr, arguments: Arguments) -> Expression:
    value, written = two_arguments(node, arguments)
    format_ = (
        translate_words(written.value) if isinstance(written, Literal) and isinstance(written.value, str) else None
    )
    if not format_ or not is_format(format_):
        fix = f"use these words, signs, and texts in double quotes, {MOST_CHARACTERS} characters at most: {WORDS}"
        raise refusal("bad_literal", node, "has a format that is not answered", fix, "TO_CHAR")
    return _write_date(node, value, format_)


def _named(field: str) -> Builder:
    def builder(node: exp.Expr, arguments: Arguments) -> Expression:
        return build(node, "format", *arguments, text(field))

    return builder


def _write_date(node: exp.Expr, value: Expression, written: str) -> Expression:
    """A date in a format. Engines do not know the quarter: it is put between the other fields."""
    (first, *others) = [[build(node, "format", value, text(part))] if part else [] for part in written.split(QUARTER)]
    quarter = build(node, "number as text", build(node, "quarter", value)) if others else None
    parts = [*first, *(part for other in others for part in (quarter, *other))]
    return fold([part for part in parts if part is not None], lambda left, right: build(node, "||", left, right))


def _last_day(node: exp.Expr, arguments: Arguments) -> Expression:
    """The day before the next month begins; the last month of the calendar has none after it, and 31 days."""
    first = build(node, "start of month", *arguments)
    last = build(node, "shift", build(node, "shift months", first, number(1)), number(-1))
    match first.kind:
        case Day(upper=date() as upper) if upper < _LAST_MONTH:
            return last
    return build(node, "coalesce", last, build(node, "shift", first, number(30)))


def _word(node: exp.Expr, value: Expression) -> str:
    if isinstance(value, Literal) and isinstance(value.value, str):
        return value.value.lower()
    raise refusal("function_not_allowed", node, "takes its unit as a constant text", "write 'day', 'month' or 'year'")


DATE_FUNCTIONS: dict[str, Builder] = {
    "DATE_PART": _date_part,
    "DATE_TRUNC": _date_trunc,
    "DATE_DIFF": _date_diff,
    "DATEDIFF": _date_diff,
    "DATEPART": _date_part,
    "DATEADD": _add_units,
    "TIMESTAMPADD": _add_units,
    "TIMESTAMPDIFF": _whole_units,
    "DATE_ADD": _date_add(1),
    "DATE_SUB": _date_add(-1),
    "DATE_FORMAT": _date_format,
    "STRFTIME": _strftime,
    "TO_CHAR": _to_char,
    "DAYNAME": _named("%A"),
    "MONTHNAME": _named("%B"),
    "LAST_DAY": _last_day,
}
