"""Values for the parameters of a text: each becomes the tokens of one constant, so that no value is ever read as SQL.

The text with its constants is what is parsed, priced and kept: it has the plan of the same question written out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TypeAlias

import numpy as np
from sqlglot.tokenizer_core import Token, TokenType

from adomnia.errors import Refusal
from adomnia.messages.references import Option
from adomnia.messages.texts import Message
from adomnia.privacy.kinds import LONGEST_TEXT
from adomnia.sql.reading.parse import position_at, split_tokens
from adomnia.sql.reading.refusals import shorten

Parameters: TypeAlias = Sequence[object] | Mapping[str, object]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}", re.ASCII)
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?", re.ASCII | re.IGNORECASE)
_MOST_BITS = 1024  # of an integer that is a double
_MOST_DIGITS = 400
_SHAPES = {  # the tokens of a constant
    (TokenType.NULL,),
    (TokenType.TRUE,),
    (TokenType.FALSE,),
    (TokenType.NUMBER,),
    (TokenType.L_PAREN, TokenType.DASH, TokenType.NUMBER, TokenType.R_PAREN),
    (TokenType.STRING,),
    (TokenType.DATE, TokenType.STRING),
    (TokenType.TIMESTAMPNTZ, TokenType.STRING),
}
_VALUES = "pass a number, a text, a datetime.date or datetime.datetime, True, False or None"


@dataclass(frozen=True)
class _Place:
    """A parameter of a text: its name ("" for ?), and where it begins and ends."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class _Splice:
    """Where a constant begins, and where what was written after its parameter goes on."""

    start: int
    rest: int
    place: _Place


class BoundText(str):
    """A text with constants in the places of its parameters, which knows what was written."""

    __slots__ = ("_splices", "_written")
    _written: str
    _splices: tuple[_Splice, ...]

    @classmethod
    def splice(cls, written: str, constants: Sequence[tuple[_Place, str]]) -> BoundText:
        """Put constants into their places, with a space where they would touch what is beside them."""
        parts, splices, size, end = [], [], 0, 0
        for place, constant in constants:
            before = written[end : place.start] + _space(written[place.start - 1 : place.start])
            after = constant + _space(written[place.end : place.end + 1])
            splices.append(_Splice(size + len(before), size + len(before + after), place))
            parts += [before, after]
            size, end = size + len(before + after), place.end
        text = cls("".join([*parts, written[end:]]))
        text._written, text._splices = written, tuple(splices)
        return text

    def find_written(self, position: tuple[int, int]) -> tuple[int, int]:
        """The line and column in what was written."""
        line, column = position
        offset = written = sum(len(each) + 1 for each in self.split("\n")[: line - 1]) + column - 1
        for splice in self._splices:
            if offset >= splice.start:
                inside = offset < splice.rest
                written = splice.place.start if inside else offset - splice.rest + splice.place.end
        return position_at(self._written, written)


def bind(text: str, parameters: Parameters | None) -> str:
    """The text with a constant for each of its parameters: ? by their order, or :name by their names."""
    if parameters is None:
        return text
    if isinstance(parameters, str | bytes) or not isinstance(parameters, Sequence | Mapping):
        raise TypeError(f"Session parameters must be a list or a dictionary, got {type(parameters).__name__}.")
    tokens = list(_split_casts(split_tokens(text)))
    places = list(_find_places(text, tokens, named=isinstance(parameters, Mapping)))
    constants = list(zip(places, _list_constants(text, places, parameters), strict=True))
    if not places:
        return text
    made = BoundText.splice(text, constants)
    with translate_places(made):
        _check_tokens(made, tokens, constants)
    return made


def list_names(text: str) -> list[str]:
    """The names of the parameters that a text has."""
    return list(dict.fromkeys(place.name for place in _find_places(text, split_tokens(text), named=True)))


@contextmanager
def translate_places(text: str) -> Iterator[None]:
    """Refusals name places in the text as it was written, before constants were put into it."""
    try:
        yield
    except Refusal as refusal:
        if not isinstance(text, BoundText) or refusal.position is None:
            raise
        position = text.find_written(refusal.position)
        raise Refusal(refusal.what, refusal.why, refusal.fix, position, code=refusal.code) from None


def _split_casts(tokens: Sequence[Token]) -> Iterator[Token]:
    """A ? before :: by itself: to the tokenizer, both are one sign."""
    for token in tokens:
        if token.token_type is not TokenType.QDCOLON:
            yield token
            continue
        column, begin = token.col - (token.end - token.start), token.start
        yield Token(TokenType.PLACEHOLDER, "?", token.line, column, begin, begin)
        yield Token(TokenType.DCOLON, "::", token.line, token.col, begin + 1, token.end, token.comments)


def _find_places(text: str, tokens: Sequence[Token], *, named: bool) -> Iterator[_Place]:
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        if token.token_type is TokenType.PLACEHOLDER:
            if named:
                raise _refusal(text, token.start, "?", "has no name", "write :name there, or pass a list of values")
            yield _Place("", token.start, token.end + 1)
        elif token.token_type is TokenType.COLON and after is not None and after.start == token.end + 1:
            found = _NAME.fullmatch(text, after.start, after.end + 1)
            if found is None or not named:
                what = f":{shorten(text[after.start : after.end + 1])}"
                why = "is not the name of a parameter" if named else "is a name, and the values have none"
                raise _refusal(text, token.start, what, why, _pass("name") + " for :name")
            yield _Place(found.group(), token.start, after.end + 1)


def _pass(name: str) -> Message:
    return Message("pass ", Option("parameters", ((name, "value"),)))


def _list_constants(text: str, places: Sequence[_Place], parameters: Parameters) -> Iterator[str]:
    """A constant for each place; a Refusal where there are values too many or too few."""
    if isinstance(parameters, Mapping):
        names = {place.name for place in places}
        for name in parameters:
            if name not in names:
                why, fix = "is not in the text", f"write :{shorten(str(name))} there, or leave its value out"
                raise Refusal(f"Parameter {shorten(str(name))}", why, fix, (1, 1), code="bad_parameter")
        for place in places:
            if place.name not in parameters:
                fix = _pass(place.name)
                raise _refusal(text, place.start, f":{place.name}", "has no value", fix)
            yield _write_constant(text, place, parameters[place.name])
        return
    if len(places) != len(parameters):
        where = places[len(parameters)].start if len(parameters) < len(places) else len(text)
        why = f"needs as many values as it has ?, which is {len(places):,}, and got {len(parameters):,}"
        raise _refusal(text, where, "The question", why, "pass one value for each ?")
    for place, value in zip(places, parameters, strict=True):
        yield _write_constant(text, place, value)


def _write_constant(text: str, place: _Place, value: object) -> str:
    """The constant as SQL writes it."""
    what = f":{place.name}" if place.name else "?"
    value = value.item() if isinstance(value, np.generic) and not _counts_time(value) else value
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | float() | Decimal():
            return _write_number(text, place, value)
        case str() if len(value) <= LONGEST_TEXT:
            return "'" + value.replace("'", "''") + "'"
        case str():
            why, fix = f"is longer than {LONGEST_TEXT:,} characters", "shorten it"
            raise _refusal(text, place.start, what, why, fix)
        case datetime() if value.tzinfo is None and value.microsecond == 0:
            return f"TIMESTAMP '{value}'"
        case datetime():
            why, fix = (
                "is not a local time in whole seconds",
                "pass local time of the declared time zone: value.replace(tzinfo=None, microsecond=0)",
            )
            raise _refusal(text, place.start, what, why, fix)
        case date():
            return f"DATE '{value.isoformat()}'"
        case list() | tuple() | set():
            raise _refusal(text, place.start, what, "is a list", "write a parameter for each value: IN (?, ?)")
    raise _refusal(text, place.start, what, f"is of type {shorten(type(value).__name__)}", _VALUES)


def write_constant(value: object, name: str) -> str:
    """A value as the constant that SQL writes for it; a Refusal names it where it is none."""
    return _write_constant(f":{name}", _Place(name, 0, 0), value)


def _counts_time(value: np.generic) -> bool:
    """Whether a time of NumPy would become the number of its ticks."""
    return isinstance(value, np.datetime64 | np.timedelta64) and isinstance(value.item(), int)


def _write_number(text: str, place: _Place, value: float | Decimal) -> str:
    small = not isinstance(value, int) or value.bit_length() <= _MOST_BITS  # larger ones take long to write
    if small and Decimal(value).is_finite():
        digits = repr(value) if isinstance(value, float) else str(value)
        if len(digits) <= _MOST_DIGITS and _NUMBER.fullmatch(digits):
            return f"({digits})" if digits.startswith("-") else digits
    what = f":{place.name}" if place.name else "?"
    raise _refusal(text, place.start, what, "is beyond the range of a double", "pass a number between 1e-300 and 1e300")


def _check_tokens(made: str, tokens: Sequence[Token], constants: Sequence[tuple[_Place, str]]) -> None:
    """Refuse unless the text is made of the tokens that were written, with those of one constant for each parameter."""
    found = list(map(_content, split_tokens(made)))
    ends = {place.start: (place.end, list(map(_content, split_tokens(constant)))) for place, constant in constants}
    expected: list[tuple[TokenType, str]] = []
    skipped = 0
    for token in tokens:
        if token.start in ends:
            skipped, constant = ends[token.start]
            expected += constant
        elif token.start >= skipped:
            expected.append(_content(token))
    shapes = {tuple(kind for kind, _ in constant) for _, constant in ends.values()}
    if found != expected or not shapes <= _SHAPES:
        why, fix = "cannot stand where it does", "put it where a constant can be, with spaces around it"
        raise Refusal("A parameter", why, fix, (1, 1), code="bad_parameter")


def _content(token: Token) -> tuple[TokenType, str]:
    return token.token_type, token.text


def _space(beside: str) -> str:
    return "" if beside in {"", " ", "\n", "(", ")", ","} else " "


def _refusal(text: str, offset: int, what: str, why: str, fix: str) -> Refusal:
    return Refusal(what, why, fix, position_at(text, offset), code="bad_parameter")
