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
from adomnia.options import ASK, list_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

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


class Misread(ValueError):
    """That what was typed is not of the kind of its option: why, and an example of what would be, with its note."""

    def __init__(self, written: str, why: str, example: str, note: str = "", code: str = "refused") -> None:
        super().__init__(why)
        self.written, self.why, self.example, self.note, self.code = written, why, example, note, code


def read_options(typed: Mapping[str, Any], request: str) -> dict[str, Any]:
    """What a session takes for the flags that were typed, by their names; of those that the request has."""
    rows = {row.typed.flag: row for row in list_options(request)}
    named = {flag: written for flag, written in typed.items() if flag in rows and written not in (None, False, [])}
    return {rows[flag].name: _read(rows[flag], written) for flag, written in named.items()}


def _read(row: QuestionOption, written: Any) -> object:  # noqa: ANN401 - a text, several, or that a switch was typed
    if row.typed.stands_for is not None:
        return row.typed.stands_for
    try:
        return read_value(row, written)
    except Misread as wrong:
        flag = row.typed.flag
        raise refuse_flag(flag, repr(wrong.written), wrong.why, wrong.example, wrong.note, wrong.code) from None


def read_value(row: QuestionOption, written: Any, read_amount: Callable[[str], object] | None = None) -> object:  # noqa: ANN401, PLR0911 - a text, or several; one for each kind
    """What was typed for an option in the kind of its row; `read_amount` if amounts are to be other than decimals."""
    read_amount = read_amount or read_decimal
    match row.kind:
        case "amount":
            return read_amount(written)
        case "distance":
            return float(read_decimal(written))
        case "whole number":
            return _read_whole(row, written)
        case "share":
            return _read_share(written)
        case "amounts":
            return {name: read_amount(amount) for name, amount in _read_weights(written).items()}
        case "values":
            return _read_parameters(written)
    return written


def parse_number(flag: str, written: str) -> Decimal:
    """The number a person typed, read as the decimal it is."""
    try:
        return read_decimal(written)
    except Misread as wrong:
        raise refuse_flag(flag, repr(written), wrong.why, wrong.example) from None


def parse_share(flag: str, written: str) -> float:
    """A number between 0 and 1, both excluded."""
    try:
        return _read_share(written)
    except Misread as wrong:
        raise refuse_flag(flag, repr(written), wrong.why, wrong.example, wrong.note) from None


def refuse_flag(  # noqa: PLR0913, PLR0917 - the parts of two sentences
    flag: str, written: str, why: str, right: str, rest: str = "", code: str = "refused"
) -> Refusal:
    """The refusal of what was typed behind a flag, or set in the shell, with what could be."""
    return Refusal(Message(Flag(flag, written)), why, Message("write ", Flag(flag, right), rest), code=code)


def read_decimal(written: str) -> Decimal:
    """A number with all of its digits."""
    try:
        return Decimal(written)
    except InvalidOperation:
        raise Misread(written, "is not a number", "0.5") from None


def _read_share(written: str) -> float:
    part = read_decimal(written)
    if not part.is_finite() or not 0 < part < 1:
        raise Misread(written, "is not between 0 and 1", "0.95", " for 95%")
    return float(part)


def _read_whole(row: QuestionOption, written: str) -> int:
    least, most = row.least or 0, row.most
    size = read_decimal(written)
    if not size.is_finite() or size < least or (most is not None and size > most) or size != int(size):
        raise Misread(written, f"is not a whole number of at least {least}", row.example.replace(",", ""))
    return int(size)


def _read_weights(written: list[str]) -> dict[str, str]:
    """The weights a person typed: `pay=3`, by the names of outputs."""
    weights: dict[str, str] = {}
    for each in written:
        name, _, size = each.rpartition("=")
        if not name or name in weights:
            why = "is given twice" if name else "does not name an output and its weight"
            raise Misread(each, why, "pay=3")
        weights[name] = size
    return weights


def _read_parameters(written: list[str]) -> dict[str, object]:
    """The values a person typed: `least=18`. What reads like a number, date, true, false or null is one.

    Everything else is a text; between single quotes, so is what would be read otherwise.

    >>> _read_parameters(["age=18", "city=Oslo", "day=2024-01-31", "code='18'"])
    {'age': Decimal('18'), 'city': 'Oslo', 'day': datetime.date(2024, 1, 31), 'code': '18'}
    """
    values: dict[str, object] = {}
    for each in written:
        name, found, value = each.partition("=")
        if not found or not name.isidentifier() or name in values:
            why = "is given twice" if name in values else "does not name a parameter and its value"
            raise Misread(each, why, "city=Oslo", " for :city", "bad_parameter")
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
