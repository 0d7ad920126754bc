"""Writes the question that a form means, and finds the field that a place in it belongs to.

Names and constants are quoted by those who read them. Only conditions and SELECTs are texts of the analyst's own: each
is parsed by itself first, so that nothing in it reaches beyond its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from adomnia.api.actions.method_calls import (
    SelectBuilder,
    parse_expression,
    parse_statement,
    position_at,
    write_arguments,
    write_call,
)
from adomnia.console.methods.fields import OWN, BadField, box_of, field_of, own_of, refuse_field
from adomnia.errors import Refusal
from adomnia.explaining.sql_text import shorten, write_column
from adomnia.methods.signatures import plain_default

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from adomnia.console.methods.fields import Fields
    from adomnia.methods.contract import Method, Parameter

_PREFIX = "SELECT "  # what an expression is read behind
_TYPED = frozenset({"column", "factor", "formula", "text", "choice"})  # what is typed stands in it as it is


@dataclass(frozen=True)
class WrittenField:
    """What a field became in a text: from where to where, and where the first character that was typed is."""

    field: str
    start: int
    end: int
    typed: int

    def moved(self, by: int) -> WrittenField:
        """The same further on."""
        return WrittenField(self.field, self.start + by, self.end + by, self.typed + by)


@dataclass(frozen=True)
class Written:
    """A text, and the fields that it was made of."""

    text: str
    pieces: tuple[WrittenField, ...]

    def locate(self, refusal: Refusal) -> Refusal:
        """The same refusal, of the field that its place belongs to, if it belongs to one."""
        if refusal.position is None:
            return refusal
        line, column = refusal.position
        offset = sum(len(each) + 1 for each in self.text.split("\n")[: line - 1]) + column - 1
        for piece in self.pieces:
            if piece.start <= offset < piece.end:
                inside = self.text[piece.typed : max(offset, piece.typed)]
                return refuse_field(piece.field, refusal, position_at(inside, len(inside)))
        return refusal


def write_question(method: Method, fields: Fields) -> Written:
    """The question about a method that a form means; a BadField where a field holds nothing of its kind."""
    rows = write_rows(fields)
    arguments = {each.name: _read(each, fields) for each in method.parameters}
    text = write_call(rows.text, method, arguments)
    start = text.index(rows.text)
    moved = (each.moved(start) for each in rows.pieces)
    return Written(text, (*moved, *_find_arguments(text, start + len(rows.text), method, arguments)))


def write_rows(fields: Fields) -> Written:
    """The SELECT of the rows that a method is given."""
    return _write_select(fields) if fields.get("source") == "select" else _write_table(fields)


def _write_select(fields: Fields) -> Written:
    text = fields.get("select", "").strip().rstrip(";").rstrip()
    try:
        parse_statement(text)
    except Refusal as cause:
        raise refuse_field("select", cause, cause.position) from None
    ended = f"{text}\n" if "--" in text else text  # a comment ends with its line
    return Written(ended, (WrittenField("select", 0, len(ended), 0),))


def _write_table(fields: Fields) -> Written:
    table = fields.get("table", "")
    if not table:
        raise BadField("table", "The table", "is not chosen", "choose one", code="method_rows")
    builder = SelectBuilder(table, write_column(table))
    pieces = [WrittenField("table", 0, len(builder.text), 0)]
    condition = fields.get("where", "").strip()
    if condition:
        check_condition("where", condition)
        begin = len(builder.text)
        builder = builder.where(condition)
        typed = builder.text.index(condition, begin)
        pieces.insert(0, WrittenField("where", begin, len(builder.text), typed))
    return Written(builder.text, tuple(pieces))


def check_condition(field: str, text: str) -> None:
    """Refuse a text that is not one condition, with the place in the field."""
    try:
        parse_expression(text)
    except Refusal as cause:
        line, column = cause.position or (1, 1)
        place = (line, max(1, column - len(_PREFIX)) if line == 1 else column)
        raise refuse_field(field, cause, place) from None


def _find_arguments(text: str, after: int, method: Method, arguments: dict[str, Any]) -> Iterator[WrittenField]:
    kinds = {each.name: each for each in method.parameters}
    for name, value in write_arguments(method, arguments).items():
        mark = f", {name} => "
        start = text.index(mark, after) + len(mark)
        after = start + len(value)
        before = kinds[name].kind in _TYPED and value[0] in "('"
        yield WrittenField(field_of(kinds[name]), start, after, start + before)


def _read(parameter: Parameter, fields: Fields) -> Any:  # noqa: ANN401 - by its kind
    """What Python would give for an argument; None where nothing was typed, or what is the default anyway."""
    value = _KINDS[parameter.kind](parameter, fields)
    if value is None and parameter.required:
        raise BadField(field_of(parameter), parameter.name, "must be given", parameter.meaning, code="missing_argument")
    return None if _is_default(parameter, value) else value


def _is_default(parameter: Parameter, value: Any) -> bool:  # noqa: ANN401 - by its kind
    default = plain_default(parameter)
    if isinstance(value, Decimal) and default is not None:
        return value == Decimal(str(default))
    if isinstance(value, list) and isinstance(default, list):
        return value == [Decimal(str(each)) for each in default]
    return bool(value == default)


def _read_column(parameter: Parameter, fields: Fields) -> str | None:
    chosen = fields.get(field_of(parameter), "")
    if chosen != OWN:
        return write_column(chosen[1:]) if chosen[1:] else None
    own = fields.get(own_of(parameter), "").strip()
    if own:
        check_condition(field_of(parameter), own)
    return own or None


def _read_columns(parameter: Parameter, fields: Fields) -> list[str] | None:
    prefix = box_of(parameter, "")
    return [write_column(name.removeprefix(prefix)) for name in fields if name.startswith(prefix)] or None


def _read_text(parameter: Parameter, fields: Fields) -> str | None:
    typed = fields.get(field_of(parameter), "")
    return typed if typed.strip() else None


def _read_number(parameter: Parameter, fields: Fields) -> Decimal | None:
    typed = fields.get(field_of(parameter), "").strip()
    return _parse_number(parameter, typed) if typed else None


def _read_numbers(parameter: Parameter, fields: Fields) -> list[Decimal] | None:
    typed = fields.get(field_of(parameter), "").replace(";", ",")
    parts = [part.strip() for part in typed.split(",")]
    return [_parse_number(parameter, part) for part in parts if part] or None


def _read_boolean(parameter: Parameter, fields: Fields) -> bool | None:
    return {"true": True, "false": False}.get(fields.get(field_of(parameter), ""))


def _parse_number(parameter: Parameter, typed: str) -> Decimal:
    try:
        number = Decimal(typed)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        raise BadField(field_of(parameter), shorten(typed), "is no number", "write digits and a point, such as 0.5")
    return number


_KINDS: dict[str, Callable[[Parameter, Fields], Any]] = {
    "column": _read_column,
    "columns": _read_columns,
    "factor": _read_column,
    "factors": _read_columns,
    "names": _read_columns,
    "formula": _read_text,
    "number": _read_number,
    "numbers": _read_numbers,
    "integer": _read_number,
    "choice": _read_text,
    "text": _read_text,
    "boolean": _read_boolean,
}
