"""Reads calls of functions by name: those of the table of functions, and those that are composed of them."""

import re
from collections.abc import Callable, Sequence
from datetime import date
from fractions import Fraction

from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.privacy.expressions import FUNCTIONS, Expression, Literal, call, number, text
from adomnia.privacy.kinds import LONGEST_TEXT, Day, Identity
from adomnia.sql.reading.refusals import refusal, refusal_of_node
from adomnia.sql.values.conditions import apply, chain, fold, size
from adomnia.sql.values.date_formats import FIELDS, QUARTER, WORDS, is_format, translate_words
from adomnia.sql.values.date_formats import MOST_CHARACTERS as MOST_FORMAT
from adomnia.sql.values.patterns import MOST_ATOMS, Pattern, PatternError, match_whole, read_like, read_pattern
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
MOST_GROWTH = 8  # how many times longer REPLACE may make a text before it is cut
_MOST_INTERVALS = 10**6

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


def _replace(node: exp.Expr, arguments: Arguments) -> Expression:
    constants = [part.value if isinstance(part, Literal) else None for part in arguments[1:]]
    match constants:
        case [str(part), str(other)] if not part or len(other) > MOST_GROWTH * len(part):
            why = f"replaces nothing, or by a text that is more than {MOST_GROWTH} times as long"
            raise refusal("bad_literal", node, why, "replace longer parts, or by shorter ones", "REPLACE")
    return build(node, "replace", *arguments)


def match_pattern(node: exp.Expr, value: Expression, written: Expression, whole: bool = False) -> Expression:
    """Whether a regular expression describes a part of a text, or all of it if `whole`."""
    pattern = read_regular_expression(node, written)
    return _matches(node, value, match_whole(pattern) if whole else pattern)


def read_regular_expression(node: exp.Expr, written: Expression) -> Pattern:
    """Read a constant regular expression, or refuse it."""
    if not isinstance(written, Literal):
        why = "has a value of the row where only a constant may stand"
        raise refusal("function_not_allowed", node, why, "write the pattern as a constant")
    if not isinstance(written.value, str):
        raise refusal("type_error", node, f"has a pattern of type {written.kind}", "write the pattern as a text")
    try:
        return read_pattern(written.value)
    except PatternError as error:
        raise refusal_of_pattern(node, error) from None


def refusal_of_pattern(node: exp.Expr, error: PatternError) -> Refusal:
    """The refusal of a pattern that is not read."""
    fix = "use characters, classes, groups, |, ^, $ and repetitions up to 255; a sign itself is written with \\ before it"
    return refusal("bad_literal", node, str(error), fix, "The pattern")


def like_escaped(node: exp.Expr, value: Expression, pattern: str, escape: str) -> Expression:
    """LIKE with an escape character."""
    try:
        return _matches(node, value, read_like(pattern, escape))
    except PatternError as error:
        raise refusal("bad_literal", node, str(error), f"write {escape} twice for itself", "The pattern") from None


def _matches(node: exp.Expr, value: Expression, pattern: Pattern) -> Expression:
    if len(pattern.text) > LONGEST_TEXT or pattern.atoms > MOST_ATOMS:
        raise refusal("bad_literal", node, "becomes too long when it is written out", "shorten it", "The pattern")
    return build(node, "matches", value, text(pattern.text))


def _searched(whole: bool) -> Builder:
    def builder(node: exp.Expr, arguments: Arguments) -> Expression:
        value, pattern = _two_arguments(node, arguments)
        return match_pattern(node, value, pattern, whole)

    return builder


def _padded(before: bool) -> Builder:
    """LPAD and RPAD: a text filled up to a length, or cut to it."""

    def builder(node: exp.Expr, arguments: Arguments) -> Expression:
        value, length, fill = arguments if len(arguments) == 3 else (*_two_arguments(node, arguments), text(" "))
        characters, sign = _whole_number(node, length), fill.value if isinstance(fill, Literal) else None
        if not isinstance(sign, str) or len(sign) != 1 or not 0 <= characters <= LONGEST_TEXT // 2:
            fix = f"write a length up to {LONGEST_TEXT // 2} and one character: LPAD(a, 5, '0')"
            raise refusal("bad_literal", node, "fills up in a way that is not answered", fix)
        cut, filled = build(node, "substring", value, number(1), length), text(sign * characters)
        if not before:
            return build(node, "substring", build(node, "||", cut, filled), number(1), length)
        return build(node, "right", build(node, "||", filled, cut), length)

    return builder


def _width_bucket(node: exp.Expr, arguments: Arguments) -> Expression:
    """The number of the interval that a number is in, of so many that are equally wide; 0 below and one more above."""
    if len(arguments) != 4:
        raise refusal("type_error", node, f"has {len(arguments)} arguments", "write WIDTH_BUCKET(value, 0, 100, 10)")
    value, *limits = arguments
    match [limit.value if isinstance(limit, Literal) else None for limit in limits]:
        case [Fraction() as low, Fraction() as high, Fraction() as count] if low < high and count.denominator == 1:
            if 1 <= count <= _MOST_INTERVALS:
                return _interval(node, value, (low, high), int(count))
    why, fix = "takes two constant bounds, the lower first, and how many intervals", "write WIDTH_BUCKET(value, 0, 100, 10)"
    raise refusal("bad_literal", node, why, fix, "WIDTH_BUCKET")


def _interval(node: exp.Expr, value: Expression, ends: tuple[Fraction, Fraction], count: int) -> Expression:
    low, high = map(number, ends)
    share = build(node, "/", build(node, "-", value, low), number(ends[1] - ends[0]))
    place = build(node, "floor", build(node, "*", share, number(count)))
    inside = build(node, "+", build(node, "clamp", place, number(0), number(count - 1)), number(1))
    below, above = build(node, "<", value, low), build(node, ">=", value, high)
    return build(node, "case", below, number(0), above, number(count + 1), inside)


def _strftime(node: exp.Expr, arguments: Arguments) -> Expression:
    value, written = _two_arguments(node, arguments)
    if not isinstance(written, Literal) or not isinstance(written.value, str) or not is_format(written.value):
        fix = f"use these fields and other signs, {MOST_FORMAT} characters at most: {FIELDS}"
        raise refusal("bad_literal", node, "has a format that is not answered", fix, "STRFTIME")
    return _write_date(node, value, written.value)


def _to_char(node: exp.Expr, arguments: Arguments) -> Expression:
    value, written = _two_arguments(node, arguments)
    format_ = translate_words(written.value) if isinstance(written, Literal) and _is_text(written) else None
    if not format_ or not is_format(format_):
        fix = f'use these words, signs, and texts in double quotes, {MOST_FORMAT} characters at most: {WORDS}'
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
    first = build(node, "start of month", *arguments)
    return build(node, "shift", build(node, "shift months", first, number(1)), number(-1))


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
        case "week":
            mondays = [build(node, "start of week", day) for day in (last, first)]
            return build(node, "round", build(node, "/", build(node, "days between", *mondays), number(7)))
        case "quarter":
            return build(node, "-", _quarters(node, last), _quarters(node, first))
        case "month":
            return build(node, "-", _months(node, last), _months(node, first))
        case "year":
            return build(node, "-", build(node, "year", last), build(node, "year", first))
    raise refusal("function_not_allowed", node, "counts no such unit", "use day, week, month, quarter or year", "DATE_DIFF")


def _months(node: exp.Expr, value: Expression) -> Expression:
    years = build(node, "*", build(node, "year", value), number(12))
    return build(node, "+", years, build(node, "month", value))


def _quarters(node: exp.Expr, value: Expression) -> Expression:
    years = build(node, "*", build(node, "year", value), number(4))
    return build(node, "+", years, build(node, "quarter", value))


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
    "REPLACE": _replace,
    "REGEXP_MATCHES": _searched(whole=False),
    "REGEXP_LIKE": _searched(whole=False),
    "REGEXP_FULL_MATCH": _searched(whole=True),
    "LPAD": _padded(before=True),
    "RPAD": _padded(before=False),
    "WIDTH_BUCKET": _width_bucket,
    "STRFTIME": _strftime,
    "TO_CHAR": _to_char,
    "DAYNAME": _named("%A"),
    "MONTHNAME": _named("%B"),
    "LAST_DAY": _last_day,
    "LEFT": _left,
    "SUBSTRING": _substring,
    "SUBSTR": _substring,
    "DATE_PART": _date_part,
    "DATE_TRUNC": _date_trunc,
    "DATE_DIFF": _date_diff,
    "DATEDIFF": _date_diff,
}
CONDITIONAL = frozenset({"IF", "IIF"})
FORMS = frozenset({"POSITION", "DATE_ADD", "DATE_SUB"})  # read by the words inside their brackets
NAMES = frozenset({*_SPELLINGS, *_COMPOSED, *CONDITIONAL, *FORMS})
