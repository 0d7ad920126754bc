"""The fields of a form: what they are called, how columns are named in them, and what a page shows of each.

Names of arguments have a prefix: a method may call one like a field of the price.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from adomnia.errors import Refusal
from adomnia.methods.contract import NumberColumn
from adomnia.methods.signatures import plain_default

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from adomnia.methods.contract import Factor, Frame, Parameter
    from adomnia.sql.reading.refusals import Position

Fields: TypeAlias = "Mapping[str, str]"  # what was typed, by the names of the fields
OWN = "own"  # chosen instead of a column: an expression that is typed beside it
_CHOSEN = "="  # before the name of a column that is chosen, so that none is read for anything else
_PLAIN_TERM = re.compile(r"[^\W\d][\w.]*")
_LEVELS = 4  # values of a factor that are named beside it
_SUGGESTED = 200  # values that a field of text suggests
_WIDGETS = {
    "column": "column",
    "factor": "column",
    "columns": "boxes",
    "factors": "boxes",
    "names": "boxes",
    "choice": "choice",
    "boolean": "choice",
    "number": "number",
    "integer": "number",
    "formula": "formula",
    "numbers": "text",
    "text": "text",
}


def field_of(parameter: Parameter) -> str:
    """The field of an argument."""
    return f"arg-{parameter.name}"


def own_of(parameter: Parameter) -> str:
    """The field of an expression that stands for a column."""
    return f"{field_of(parameter)}.own"


def box_of(parameter: Parameter, column: str) -> str:
    """The field of a column that can be ticked: each has a name of its own, because a form keeps one of a name."""
    return f"{field_of(parameter)}:{column}"


def choose_column(column: str) -> str:
    """What a field holds that a column is chosen in."""
    return _CHOSEN + column


def write_term(name: str) -> str | None:
    """The name of a column in a formula; None where no formula can name it.

    >>> write_term("age"), write_term("education-num"), write_term("`")
    ('age', '`education-num`', None)
    """
    if _PLAIN_TERM.fullmatch(name):
        return name
    return None if "`" in name else f"`{name}`"


class BadField(Refusal):
    """A refusal of what one field holds; its position, if any, is a place in that field."""

    def __init__(  # noqa: PLR0913, PLR0917 - those of a refusal, and the field
        self,
        field: str,
        what: str,
        why: str,
        fix: str,
        position: Position | None = None,
        code: str = "bad_argument",
    ) -> None:
        super().__init__(what, why, fix, position, code=code)
        self.field = field


def refuse_field(field: str, cause: Refusal, position: Position | None) -> BadField:
    """The same refusal, of a field."""
    return BadField(field, cause.what, cause.why, cause.fix, position, cause.code)


@dataclass(frozen=True)
class FieldChoice:
    """Something that can be chosen: `value` is sent, or of a box its name."""

    value: str
    label: str
    note: str = ""
    chosen: bool = False


@dataclass(frozen=True)
class FormField:
    """A field: how it is typed in, what it is called and means, and what it holds."""

    id: str
    widget: str
    label: str
    help: str
    required: bool
    value: str = ""
    usual: str = ""  # what is taken where nothing is typed
    options: tuple[FieldChoice, ...] = ()
    own_id: str = ""
    own: str = ""
    lower: str = ""
    upper: str = ""
    step: str = ""

    @property
    def is_given(self) -> bool:
        """Whether it holds anything but what is usual."""
        boxes = self.widget == "boxes" and any(option.chosen for option in self.options)
        return boxes or self.value not in {"", self.usual}


def list_fields(parameters: Iterable[Parameter], typed: Fields, frame: Frame | None) -> tuple[FormField, ...]:
    """A field for each parameter, over the columns of a frame; None: of rows that cannot be read."""
    return tuple(_build(parameter, typed, frame) for parameter in parameters)


def list_terms(frame: Frame | None) -> tuple[FieldChoice, ...]:
    """What can be put into a formula: numbers by their names, factors as C(...)."""
    return () if frame is None else tuple(_terms(frame))


def _terms(frame: Frame) -> Iterator[FieldChoice]:
    for number in frame.numbers.values():
        term = write_term(number.name)
        if term is not None:
            yield FieldChoice(term, number.name, _describe_bounds(number))
    for name, factor in frame.factors.items():
        term = write_term(factor.name)
        if term is not None and name not in frame.numbers:
            yield FieldChoice(f"C({term})", f"C({factor.name})", _describe_levels(factor))


def _build(parameter: Parameter, typed: Fields, frame: Frame | None) -> FormField:
    widget, name = _WIDGETS[parameter.kind], field_of(parameter)
    usual = _show_default(parameter)
    return FormField(
        id=name,
        widget=widget,
        label=parameter.name.replace("_", " ").capitalize(),
        help=parameter.meaning,
        required=parameter.required,
        value=typed.get(name, usual if widget == "choice" else ""),
        usual=usual,
        options=tuple(_list_options(parameter, typed, frame)),
        own_id=own_of(parameter) if widget == "column" else "",
        own=typed.get(own_of(parameter), ""),
        lower="" if parameter.lower is None else f"{parameter.lower:g}",
        upper="" if parameter.upper is None else f"{parameter.upper:g}",
        step="1" if parameter.kind == "integer" else "any",
    )


def _show_default(parameter: Parameter) -> str:
    value = plain_default(parameter)
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _list_options(parameter: Parameter, typed: Fields, frame: Frame | None) -> Iterator[FieldChoice]:
    widget = _WIDGETS[parameter.kind]
    if widget == "choice":
        yield from _list_choices(parameter, typed)
    elif widget == "column":
        yield from _list_columns(parameter, typed, frame)
    elif widget == "boxes":
        yield from _list_boxes(parameter, typed, frame)
    elif parameter.kind == "text" and frame is not None:
        levels = dict.fromkeys(str(level) for factor in frame.factors.values() for level in factor.levels)
        yield from (FieldChoice(level, level) for level in list(levels)[:_SUGGESTED])


def _list_choices(parameter: Parameter, typed: Fields) -> Iterator[FieldChoice]:
    usual = _show_default(parameter)
    chosen = typed.get(field_of(parameter), usual)
    if not usual and not parameter.required:
        yield FieldChoice("", "none", chosen=not chosen)
    for choice in parameter.choices or ("true", "false"):
        yield FieldChoice(choice, choice, chosen=choice == chosen)


def _list_columns(parameter: Parameter, typed: Fields, frame: Frame | None) -> Iterator[FieldChoice]:
    chosen, offered = typed.get(field_of(parameter), ""), _offer(parameter, frame)
    if not parameter.required or not chosen:
        yield FieldChoice("", "choose a column" if parameter.required else "none", chosen=not chosen)
    for name, note in offered.items():
        yield FieldChoice(choose_column(name), name, note, chosen == choose_column(name))
    if chosen not in {"", OWN, *map(choose_column, offered)}:
        yield FieldChoice(chosen, chosen[1:], "not in these rows", chosen=True)
    yield FieldChoice(OWN, "something computed ...", chosen=chosen == OWN)


def _list_boxes(parameter: Parameter, typed: Fields, frame: Frame | None) -> Iterator[FieldChoice]:
    prefix, offered = box_of(parameter, ""), _offer(parameter, frame)
    gone = [name for name in typed if name.startswith(prefix) and name.removeprefix(prefix) not in offered]
    for name, note in offered.items():
        box = box_of(parameter, name)
        yield FieldChoice(box, name, note, box in typed)
    for box in gone:
        yield FieldChoice(box, box.removeprefix(prefix), "not in these rows", chosen=True)


def _offer(parameter: Parameter, frame: Frame | None) -> Mapping[str, str]:
    """The columns that an argument can be, and what is declared of each."""
    if frame is None:
        return {}
    if parameter.kind == "names":
        return {each.name: _describe_column(each) for each in frame.columns.values()}
    if parameter.kind in {"column", "columns"}:
        return {number.name: _describe_bounds(number) for number in frame.numbers.values()}
    return {factor.name: _describe_levels(factor) for factor in frame.factors.values()}


def _describe_column(column: NumberColumn | Factor) -> str:
    return _describe_bounds(column) if isinstance(column, NumberColumn) else _describe_levels(column)


def _describe_bounds(number: NumberColumn) -> str:
    return f"{float(number.domain.lower):,.12g} to {float(number.domain.upper):,.12g}"


def _describe_levels(factor: Factor) -> str:
    levels = list(map(str, factor.levels))
    more = f", ... {len(levels)} values" if len(levels) > _LEVELS else ""
    return ", ".join(levels[:_LEVELS]) + more
