"""Options as people type them: behind the flags of a command or of a cell of a notebook, or set in the shell."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from adomnia.errors import Refusal
from adomnia.messages.references import Flag
from adomnia.messages.texts import Message
from adomnia.options import ASK, LARGEST_GROUP, list_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from adomnia.options import QuestionOption

_WORDS = {"true": True, "false": False, "null": None}
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?", re.ASCII)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


def list_typed(request: str) -> tuple[QuestionOption, ...]:
    """The options that a request has where it is typed: an answer that is shown has one kind of intervals."""
    return tuple(row for row in list_options(request) if request != ASK or not row.asked_afterwards)


def list_former_flags(request: str) -> Iterator[tuple[str, QuestionOption]]:
    """What the flags of options were called before, each with its option."""
    return ((row.formerly, row) for row in list_typed(request) if row.formerly)


def read_options(typed: Mapping[str, Any], request: str) -> dict[str, Any]:
    """What a session takes for the flags that were typed, by their names; of those that the request has."""
    rows = {row.typed.flag: row for row in list_options(request)}
    named = {flag: written for flag, written in typed.items() if flag in rows and written not in (None, False, [])}
    return {rows[flag].name: _read(rows[flag], written) for flag, written in named.items()}


def _read(row: QuestionOption, written: Any) -> object:  # noqa: ANN401, PLR0911 - one for each kind
    if row.typed.stands_for is not None:
        return row.typed.stands_for
    flag = row.typed.flag
    match row.kind:
        case "amount":
            return parse_number(flag, written)
        case "distance":
            return float(parse_number(flag, written))
        case "whole number":
            return _parse_whole(flag, written)
        case "share":
            return parse_share(flag, written)
        case "amounts":
            return _parse_weights(flag, written)
        case "values":
            return _parse_parameters(flag, written)
    return written


def parse_number(flag: str, written: str) -> Decimal:
    """The number a person typed, read as the decimal it is."""
    try:
        return Decimal(written)
    except InvalidOperation:
        raise refuse_flag(flag, repr(written), "is not a number", "0.5") from None


def parse_share(flag: str, written: str) -> float:
    """A number between 0 and 1, both excluded."""
    part = parse_number(flag, written)
    if not part.is_finite() or not 0 < part < 1:
        raise refuse_flag(flag, repr(written), "is not between 0 and 1", "0.95", " for 95%")
    return float(part)


def refuse_flag(  # noqa: PLR0913, PLR0917 - the parts of two sentences
    flag: str, written: str, why: str, right: str, rest: str = "", code: str = "refused"
) -> Refusal:
    """The refusal of what was typed behind a flag, or set in the shell, with what could be."""
    return Refusal(Message(Flag(flag, written)), why, Message("write ", Flag(flag, right), rest), code=code)


def _parse_whole(flag: str, written: str) -> int:
    size = parse_number(flag, written)
    if not size.is_finite() or not 1 <= size <= LARGEST_GROUP or size != int(size):
        raise refuse_flag(flag, repr(written), "is not a whole number of at least 1", "1000")
    return int(size)


def _parse_weights(flag: str, written: list[str]) -> dict[str, Decimal]:
    """The weights a person typed: `pay=3`, by the names of outputs."""
    weights: dict[str, Decimal] = {}
    for each in written:
        name, _, size = each.rpartition("=")
        if not name or name in weights:
            why = "is given twice" if name else "does not name an output and its weight"
            raise refuse_flag(flag, repr(each), why, "pay=3")
        weights[name] = parse_number(flag, size)
    return weights


def _parse_parameters(flag: str, written: list[str]) -> dict[str, object]:
    """The values a person typed: `least=18`. What reads like a number, date, true, false or null is one.

    Everything else is a text; between single quotes, so is what would be read otherwise.

    >>> _parse_parameters("parameter", ["age=18", "city=Oslo", "day=2024-01-31", "code='18'"])
    {'age': Decimal('18'), 'city': 'Oslo', 'day': datetime.date(2024, 1, 31), 'code': '18'}
    """
    values: dict[str, object] = {}
    for each in written:
        name, found, value = each.partition("=")
        if not found or not name.isidentifier() or name in values:
            why = "is given twice" if name in values else "does not name a parameter and its value"
            raise refuse_flag(flag, repr(each), why, "city=Oslo", " for :city", "bad_parameter")
        values[name] = _parse_value(value)
    return values


def _parse_value(written: str) -> object:
    if len(written) > 1 and written[0] == written[-1] == "'":
        return written[1:-1]
    if written.lower() in _WORDS:
        return _WORDS[written.lower()]
    if _NUMBER.fullmatch(written):
        return Decimal(written)
    if _DATE.fullmatch(written):
        with suppress(ValueError):
            return date.fromisoformat(written)
    return written
