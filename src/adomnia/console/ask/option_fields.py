"""The options of a question in a form: a field for each row of the table, by its kind, and what is typed in it.

What a field holds is a text, as an address has it: of switches true or false, of several values one a line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adomnia.errors import Refusal
from adomnia.options import ASK, CURRENCIES
from adomnia.privacy.amounts import exact
from adomnia.typed_options import Misread, list_typed, read_value
from adomnia.wire.amounts import text_of
from adomnia.wire.asking import write_parameter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adomnia.options import QuestionOption

TRUE, FALSE = "true", "false"
_NOT_FIELDS = {*CURRENCIES, "request_id"}  # the amount has a field of its own, the id of a request is the page's
FIELDS = {row.name: row for row in list_typed(ASK) if row.name not in _NOT_FIELDS}
_CODES = {"rows": "bad_rows", "parameters": "bad_parameter", "weights": "bad_weight"}
_SEPARATORS = ", _\u00a0\u202f"  # between thousands
_GROUPED = re.compile(rf"-?[1-9][0-9]{{0,2}}(?:([{_SEPARATORS}])[0-9]{{3}})(?:\1[0-9]{{3}})*(?:\.[0-9]+)?")
_SEVERAL = {"amounts", "values"}  # kinds of which each line is one
_SHOWN = 40  # characters of a line that a refusal repeats
_LONGEST_NUMBER = 16  # digits of a whole number


@dataclass(frozen=True)
class OptionChoice:
    """One of a few that an option may be."""

    value: str
    words: str
    chosen: bool


@dataclass(frozen=True)
class OptionField:
    """A field of a form: `widget` is line, lines, choice or tick, and `turned` what a tick makes of the option."""

    name: str
    widget: str
    label: str
    help: str
    value: str
    example: str
    keyboard: str
    is_named: bool
    turned: str = ""
    choices: tuple[OptionChoice, ...] = ()


def list_option_fields(typed: Mapping[str, str]) -> tuple[OptionField, ...]:
    """The fields of all options, with what is typed in them."""
    return tuple(_build_field(row, typed.get(name, "")) for name, row in FIELDS.items())


def _build_field(row: QuestionOption, value: str) -> OptionField:
    widget = {"truth": "tick", "choice": "choice", **dict.fromkeys(_SEVERAL, "lines")}.get(row.kind, "line")
    said = row.typed.meaning or row.meaning
    chosen = value or row.default
    words = zip(row.choices, row.words or row.choices, strict=True)
    return OptionField(
        name=row.name,
        widget=widget,
        label=said.rstrip(".") if widget == "tick" else row.in_words,
        help=said,
        value=value,
        example=row.example,
        keyboard={"whole number": "numeric", "amount": "decimal", "share": "decimal"}.get(row.kind, "text"),
        is_named=bool(value),
        turned=TRUE if row.typed.stands_for is True else FALSE,
        choices=tuple(OptionChoice(each, said, each == chosen) for each, said in words),
    )


def keep_typed(name: str, value: str) -> str:
    """What is kept of what was typed for an option: nothing where that is what it is without."""
    row = FIELDS[name]
    text = value.replace("\r\n", "\n")
    if row.kind not in _SEVERAL or not text.strip():  # who types several values has just begun a line
        text = text.strip()
    if row.kind == "truth" and text:
        text = FALSE if text == FALSE else TRUE
    return "" if row.default is not None and text == show_option(row, row.default) else text


def read_typed(typed: Mapping[str, str], request: str) -> dict[str, Any]:
    """What the wire takes for the options that a request has; a Refusal that names the field where one is misread."""
    rows = (FIELDS[name] for name in typed if request in FIELDS[name].applies)
    return {row.name: _read(row, typed[row.name]) for row in rows}


def refuse_option(row: QuestionOption, why: str, wrong: Misread | None = None) -> Refusal:
    """The refusal of what a field holds, or of one line of it."""
    code = _CODES.get(row.name, "bad_price" if row.kind in {"amount", "distance"} else "bad_field")
    what = f"The field {row.in_words}"
    if wrong is not None and row.kind in _SEVERAL:
        what = f"{wrong.written[:_SHOWN]!r} in the field {row.in_words}"
    return Refusal(what, why, f"write for example {row.example}{'' if wrong is None else wrong.note}", code=code)


def _read(row: QuestionOption, text: str) -> Any:  # noqa: ANN401 - as its kind is sent
    if row.kind == "truth":
        return text == TRUE
    written: str | list[str] = text
    if row.kind in _SEVERAL:
        written = [_join(row, line) for line in text.split("\n") if line.strip()]
    elif row.kind == "whole number":
        written = ungroup(text)
        if not written.isascii() or not written.isdigit() or len(written) > _LONGEST_NUMBER:
            raise refuse_option(row, "is not a whole number")
    try:
        value: Any = read_value(row, written, str)
    except Misread as wrong:
        raise refuse_option(row, wrong.why, wrong) from None
    return {name: write_parameter(each) for name, each in value.items()} if row.kind == "values" else value


def _join(row: QuestionOption, line: str) -> str:
    """A line without spaces around its sign: the first of values, and the last of amounts, as they are read."""
    name, sign, value = line.partition("=") if row.kind == "values" else line.rpartition("=")
    return f"{name.strip()}{sign}{value.strip()}"


def show_option(row: QuestionOption, value: Any) -> str:  # noqa: ANN401 - whatever may be named
    r"""A value as the field of its option holds it; those of parameters stand in the text of what was asked.

    >>> from fractions import Fraction
    >>> show_option(FIELDS["interval"], False), show_option(FIELDS["weights"], {"pay": 3, "n": Fraction(1, 3)})
    ('false', 'pay = 3\nn = 1/3')
    """
    match row.kind:
        case "amount" | "distance":
            return text_of(exact(value, "Question", row.name))
        case "truth":
            return TRUE if value else FALSE
        case "amounts":
            return "\n".join(f"{name} = {text_of(exact(each, 'Question', row.name))}" for name, each in value.items())
    return str(value)


def ungroup(text: str) -> str:
    """A number without separators, if they stand between thousands and nowhere else.

    >>> ungroup("12,000"), ungroup("0,25"), ungroup("1,5")
    ('12000', '0,25', '1,5')
    """
    return text.translate(str.maketrans("", "", _SEPARATORS)) if _GROUPED.fullmatch(text) else text
