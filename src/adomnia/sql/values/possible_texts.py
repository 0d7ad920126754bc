"""Lists the texts that an expression can give, computed from values that the catalog declares: what keys are made of.

Declared categories, conditions, bounded dates and bounded whole numbers are taken through all of their values, and what
is made of them is computed as engines compute it. No row is looked at.
"""

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from fractions import Fraction
from itertools import product
from math import gcd, prod
from typing import Any, TypeAlias

from adomnia.engines.render.scalars import matches, nearest_double
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Call, Column, Expression, Literal, call, number, text
from adomnia.privacy.kinds import LONGEST_TEXT, Boolean, Day, Quantity, Text
from adomnia.sql.values.date_formats import rank_days, write_date
from adomnia.work import spend

MOST_COMBINED = 100_000  # values of all that an expression is made of, times each other
_MOST_NUMBERS = 10_000
_OPERATIONS_OF_A_STEP = 8
_LONG = 2**63  # integers of engines end before it
_CASED = 0x600  # up to here letters are compared with those of the engines, one by one
_UNCASED = (range(0x3040, 0xA4D0), range(0xAC00, 0xD7A4))  # of East Asia, without upper and lower case

Values: TypeAlias = tuple[Any, ...]
Computed: TypeAlias = Callable[[Values], Any]
_EXACT = 2**53  # up to here every integer is a double, hence a value of its own


class UnknownTextError(ValueError):
    """A text of which engines might make different things."""


def list_texts(written: Expression, most: int) -> list[str]:
    """The texts that an expression can give, in the order of what they are made of; none where there are over `most`.

    NULL is none of them.
    """
    # Conditions change slowest: first all that is there without them.
    leaves = sorted(dict.fromkeys(_list_leaves(written) or ()), key=lambda leaf: not isinstance(leaf.kind, Boolean))
    combined = prod(1 + _count_values(leaf) for leaf in leaves)
    if not leaves or combined > MOST_COMBINED:
        return []
    spend(1 + combined * _count_calls(written) // _OPERATIONS_OF_A_STEP)
    ranges = [_list_values(leaf) for leaf in leaves]
    match written, leaves:
        case Call(function="format", arguments=(_, Literal(value=str(format_)))), [leaf] if isinstance(leaf.kind, Day):
            ranges = [(*sorted(ranges[0][:-1], key=rank_days(format_)), None)]
    compute = _compile(written, {leaf: place for place, leaf in enumerate(leaves)})
    found: dict[str, None] = {}
    try:
        for values in product(*ranges):
            found[compute(values)] = None
            if len(found) > most + 1:  # NULL may be among them
                return []
    except UnknownTextError:
        return []
    found.pop(None, None)  # type: ignore[call-overload]  # NULL
    return list(found) if len(found) <= most else []


def number_texts(written: Expression, texts: Sequence[str]) -> Expression | None:
    """The place in a list of a text that is made of one category: engines compare codes far sooner than texts.

    None for any other text. It is NULL where the text is.
    """
    match list(dict.fromkeys(_list_leaves(written) or ())):
        case [Column(kind=Text(values=tuple() as values)) as category]:
            compute, places = _compile(written, {category: 0}), {text: place for place, text in enumerate(texts)}
            cases = [
                part
                for value in (*values, None)
                if compute((value,)) is not None
                for part in (_is(category, value), number(places[compute((value,))]))
            ]
            return call("case", *cases, Literal(None, Quantity(Fraction(0), Fraction(0), whole=True)))
    return None


def _is(category: Column, value: str | None) -> Expression:
    return call("is null", category) if value is None else call("=", category, text(value))


def _list_leaves(expression: Expression) -> list[Expression] | None:
    """What an expression is computed from: parts whose values can be listed; None if there are others."""
    if isinstance(expression, Literal):
        return []
    if isinstance(expression, Call) and expression.function in COMPUTED:
        parts = [_list_leaves(argument) for argument in expression.arguments]
        leaves = [leaf for part in parts for leaf in part or ()]
        # A condition on numbers or dates is one or the other, which is sooner tried than all of these.
        simple = not isinstance(expression.kind, Boolean) or all(
            isinstance(each.kind, Boolean | Text) for each in leaves
        )
        if None not in parts and simple:
            return leaves
    return [expression] if _count_values(expression) else None


def _count_values(leaf: Expression) -> int:
    """How many values a part has without NULL, as far as the catalog says; 0 if it does not."""
    match leaf.kind:
        case Boolean():
            return 2
        case Text(values=tuple() as values):
            return len(values)
        case Day(lower=date() as lower, upper=date() as upper):
            return (upper - lower).days + 1
        case Quantity():
            numbers = find_whole_numbers(leaf, _MOST_NUMBERS)
            return 0 if numbers is None else numbers.width + 1
    return 0


def _list_values(leaf: Expression) -> Sequence[Any]:
    """The values of a part, and NULL behind them."""
    match leaf.kind:
        case Boolean():
            return (False, True, None)
        case Text(values=tuple() as values):
            return (*values, None)
        case Day(lower=date() as lower):
            return (*(lower + timedelta(days) for days in range(_count_values(leaf))), None)
    numbers = find_whole_numbers(leaf, _MOST_NUMBERS)
    assert numbers is not None  # noqa: S101 - it is a leaf
    return (*(float(place * numbers.step) for place in range(numbers.grid_lower, numbers.grid_upper + 1)), None)


def _count_calls(expression: Expression) -> int:
    return 1 + sum(map(_count_calls, expression.arguments)) if isinstance(expression, Call) else 1


def _compile(expression: Expression, leaves: dict[Expression, int]) -> Computed:
    """A function of the values of all leaves."""
    if expression in leaves:
        place = leaves[expression]
        return lambda values: values[place]
    if isinstance(expression, Literal):
        constant = read_constant(expression)
        return lambda _: constant
    assert isinstance(expression, Call)  # noqa: S101 - a column is a leaf
    meaning, parts = COMPUTED[expression.function], [_compile(each, leaves) for each in expression.arguments]
    return lambda values: meaning(*(part(values) for part in parts))


def read_constant(literal: Literal) -> Any:  # noqa: ANN401 - whatever kind it is of
    """A constant as engines read it: a number is the nearest double, and whole ones are places of characters."""
    if not isinstance(literal.value, Fraction):
        return literal.value
    nearest = nearest_double(literal.value)
    return int(nearest) if nearest.is_integer() else nearest


def _write_digits(value: float) -> str | None:
    return str(int(value)) if -_LONG <= value < _LONG else None


def pass_nulls(meaning: Callable[..., Any]) -> Callable[..., Any]:
    """NULL in, NULL out."""
    return lambda *values: None if None in values else meaning(*values)


def _each_letter(change: Callable[[str], str]) -> Callable[..., Any]:
    def changed(text: str) -> str:
        found = [change(letter) for letter in text]
        if any(len(each) > 1 or not _is_familiar(letter) for letter, each in zip(text, found, strict=True)):
            raise UnknownTextError(f"Letters must change one by one, got {text!r}.")
        return "".join(found)

    return pass_nulls(changed)


def _is_familiar(letter: str) -> bool:
    return ord(letter) < _CASED or any(ord(letter) in each for each in _UNCASED)


def _choose(*parts: Any) -> Any:  # noqa: ANN401 - whatever its outcomes are
    for test, outcome in zip(parts[:-1:2], parts[1::2], strict=True):
        if test is True:
            return outcome
    return parts[-1]


def _both(left: bool | None, right: bool | None) -> bool | None:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def _negate(value: bool | None) -> bool | None:
    return None if value is None else not value


# What engines compute, in Python; of a function that is not here, the values are listed or not known.
COMPUTED: dict[str, Callable[..., Any]] = {
    "=": pass_nulls(lambda left, right: left == right),
    "<>": pass_nulls(lambda left, right: left != right),
    "same": lambda left, right: left == right,
    "and": _both,
    "or": lambda left, right: _negate(_both(_negate(left), _negate(right))),
    "not": _negate,
    "is null": lambda value: value is None,
    "coalesce": lambda left, right: right if left is None else left,
    "nullif": lambda left, right: None if left == right else left,
    "case": _choose,
    "like": pass_nulls(matches),
    "starts_with": pass_nulls(str.startswith),
    "ends_with": pass_nulls(str.endswith),
    "contains": pass_nulls(lambda text, part: part in text),
    "upper": _each_letter(str.upper),
    "lower": _each_letter(str.lower),
    "trim": pass_nulls(lambda text: text.strip(" ")),
    "ltrim": pass_nulls(lambda text: text.lstrip(" ")),
    "rtrim": pass_nulls(lambda text: text.rstrip(" ")),
    "position": pass_nulls(lambda text, part: float(text.find(part) + 1)),
    "replace": pass_nulls(lambda text, part, other: text.replace(part, other)[:LONGEST_TEXT]),
    "format": pass_nulls(write_date),
    "quarter": pass_nulls(lambda day: float((day.month + 2) // 3)),
    "substring": pass_nulls(lambda text, start, length: text[start - 1 : start - 1 + length]),
    "right": pass_nulls(lambda text, length: text[max(0, len(text) - length) :]),
    "||": pass_nulls(lambda left, right: (left + right)[:LONGEST_TEXT]),
    "number as text": pass_nulls(_write_digits),
    "boolean as text": pass_nulls(lambda value: "true" if value else "false"),
    "date as text": pass_nulls(date.isoformat),
}


def find_whole_numbers(value: Expression, most: int) -> Numbers | None:
    """Whole numbers between bounds, in the largest steps that all of them are multiples of, if there are few enough."""
    match value.kind:
        case Quantity(lower=Fraction() as lower, upper=Fraction() as upper, whole=True):
            step = _stride(value) or 1
            first, last = lower // step, -(-upper // step)
            near = max(-lower, upper) <= _EXACT
            return Numbers(first * step, last * step, step) if near and last - first < most else None
    return None


def _stride(value: Expression) -> int:
    """A number that divides every value of an expression; 0 divides only 0."""
    match value:
        case Literal(value=Fraction(numerator=constant, denominator=1)):
            return abs(constant)
        case Call(function="+" | "-", arguments=(left, right)):
            return gcd(_stride(left), _stride(right))
        case Call(function="*", arguments=(left, right)):
            return _stride(left) * _stride(right)
        case Call(function="negative", arguments=(inner,)):
            return _stride(inner)
    return 1
